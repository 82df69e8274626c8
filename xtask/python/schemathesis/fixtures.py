"""Prepares runs and roundtables in every state on a server, and writes their ids as dictionaries for Schemathesis.

    fixtures.py URL SKILLS FOLDER
"""

import json
import pathlib
import sys
import time

import requests

from reached import succeeded as successes

# How long a replayed run may take to get where it is going. It takes milliseconds.
PATIENCE_SEC = 30

# Runs that wait for an answer, and runs to cancel: a few are used up by every phase.
EACH = 40

# The same for roundtables, each of which has seven runs before it asks.
EACH_TABLE = 20


def main(url, skills, folder):
    def create(body):
        answer = requests.post(f"{url}/v1/runs", json=body, timeout=PATIENCE_SEC)
        answer.raise_for_status()
        return answer.json()["run_id"]

    def open_table(body):
        subject = {"subject": "a booking page", "engine": "replay"}
        answer = requests.post(f"{url}/v1/roundtables", json=subject | body, timeout=PATIENCE_SEC)
        answer.raise_for_status()
        return answer.json()["roundtable_id"]

    example = json.loads((skills / "triage/assets/example.input.json").read_text())
    succeeded = create({"skill": "triage", "engine": "replay", "input": example})
    failed = create({"prompt": "fail", "engine": "broken"})
    # Its question takes any text.
    asking = {"skill": "release-notes", "engine": "replay", "execution_mode": "interactive"}
    waiting = [create(asking) for _ in range(EACH)]
    expendable = [create(asking) for _ in range(EACH)]

    concluded = open_table({})
    asking_tables = [open_table({"interactive": True}) for _ in range(EACH_TABLE)]
    expendable_tables = [open_table({"interactive": True}) for _ in range(EACH_TABLE)]

    wanted = {succeeded: "succeeded", failed: "failed"}
    wanted |= dict.fromkeys(waiting + expendable, "waiting_user")
    until = time.monotonic() + PATIENCE_SEC
    for run, status in wanted.items():
        while (now := requests.get(f"{url}/v1/runs/{run}", timeout=PATIENCE_SEC).json())["status"] != status:
            if time.monotonic() > until:
                sys.exit(f"{run} should be {status}, and is {now['status']}: {now['error']}")
            time.sleep(0.01)
    until = time.monotonic() + PATIENCE_SEC
    for table in [concluded, *asking_tables, *expendable_tables]:
        path = f"{url}/v1/roundtables/{table}"
        while (now := requests.get(path, timeout=PATIENCE_SEC).json())["status"] == "active" and not now["pending"]:
            if time.monotonic() > until:
                sys.exit(f"{table} neither ends nor asks: {now['rounds']}")
            time.sleep(0.01)

    dictionaries = {
        "runs": [succeeded, failed, waiting[0]],
        "failed": [failed],
        "waiting": waiting,
        "expendable": expendable,
        "tables": [concluded, asking_tables[0]],
        "concluded": [concluded],
        "asking_tables": asking_tables,
        "expendable_tables": expendable_tables,
    }
    for name, ids in dictionaries.items():
        (folder / f"{name}.dict").write_text("".join(f'"{one}"\n' for one in ids))
    (folder / "before.json").write_text(json.dumps(successes(url)))


if __name__ == "__main__":
    main(sys.argv[1], *map(pathlib.Path, sys.argv[2:]))
