"""Fails where a route never succeeded since `fixtures.py`: then its answers were not tried, only its refusals.

    reached.py URL FOLDER
"""

import json
import pathlib
import re
import sys

import requests

COUNTER = re.compile(r'adjourn_http_requests_total\{method="(.+)",route="(.+)",status="2xx"\} (\d+)')


def succeeded(url):
    """How often each route succeeded, as the server counts."""
    text = requests.get(f"{url}/metrics", timeout=30).text
    return {f"{method} {route}": int(count) for method, route, count in COUNTER.findall(text)}


def main(url, folder):
    before = json.loads((folder / "before.json").read_text())
    after = succeeded(url)
    paths = requests.get(f"{url}/openapi.json", timeout=30).json()["paths"]
    routes = {f"{method.upper()} {path}" for path, item in paths.items() for method in item}
    # Streams are not tried here, and no engine of these runs makes calls that there could be contracts of. The server names a part that takes the rest of an address by `*`.
    reached = {route.replace("{*", "{") for route in after if after[route] > before.get(route, 0)}
    tried = {route for route in routes if not route.endswith("/events") and "/v1/contracts/" not in route}
    missed = sorted(tried - reached)
    if missed:
        sys.exit("these routes never succeeded: " + ", ".join(missed))
    print(f"each of {len(reached)} routes succeeded at least once")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
