"""Drives Adjourn with the client of the official MCP SDK: every tool, every way in, every kind of handshake.

Called by `cargo xtask mcp` with the path of the binary and of the repository.
"""

import asyncio
import collections
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import uuid

from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

ADJOURN, REPOSITORY = sys.argv[1], pathlib.Path(sys.argv[2])

# How long something may take that has to happen. Only a failure takes this long.
PATIENCE_SEC = 60

# What a server says once clients can come, before its address.
LISTENING = "listening on "

UNKNOWN_RUN = "run_01h455vb4pex5vsknk084sn02q"


class Session:
    """A client, and the tools that it has called."""

    def __init__(self, client):
        self.client = client
        self.called = set()

    async def raw(self, tool, **arguments):
        self.called.add(tool)
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool, **arguments):
        """What a tool answers. The SDK checks it against the schema that the tool promises."""
        result = await self.raw(tool, **arguments)
        assert not result.is_error, f"{tool}: {result.content}"
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    async def refused(self, code, tool, **arguments):
        result = await self.raw(tool, **arguments)
        assert result.is_error, f"{tool}: {result.structured_content}"
        assert result.content[0].text.startswith(f"{code}: "), result.content
        assert result.structured_content["code"] == code

    async def until(self, run, status):
        """Follows a run to a status, and returns it with all that happened on the way."""
        changes, deadline = [], time.monotonic() + PATIENCE_SEC
        while run["status"] != status:
            assert time.monotonic() < deadline, f"{run} did not become {status}"
            news = await self.call("wait_for_change", run_id=run["run_id"], cursor=run["cursor"], timeout_sec=5)
            changes += news["changes"]
            run = news["run"] | {"cursor": news["cursor"]}
        return run, changes


async def drive(client):
    session = Session(client)
    tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.description and tool.output_schema and tool.annotations, tool
    skills = await session.call("list_skills")
    assert "release-notes" in [skill["name"] for skill in skills["skills"]]

    start = {"skill": "release-notes", "engine": "replay", "idempotency_key": str(uuid.uuid4())}
    run = await session.call("start_run", **start)
    again = await session.call("start_run", **start)
    assert again["run_id"] == run["run_id"]
    await session.refused("KEY_REUSED", "start_run", **start, labels={"a": "b"})
    run_id = run["run_id"]
    run, changes = await session.until(run, "waiting_user")
    assert any(change["type"] == "user.input.required" for change in changes), changes
    inbox = (await session.call("list_inbox"))["questions"]
    question = next(question for question in inbox if question["run_id"] == run_id)
    assert question in (await session.call("read_run", run_id=run_id))["questions"]
    await session.call("reply_to_run", run_id=run_id, interaction_id=question["interaction_id"], response="2.4.0")
    run, changes = await session.until(run, "succeeded")
    assert run["result"], run
    assert any("2.4.0" in change["text"] for change in changes), changes

    news = await session.call("wait_for_change", timeout_sec=0)
    other = await session.call("start_run", skill="release-notes", engine="replay")
    other, _ = await session.until(other, "waiting_user")
    await session.call("cancel_run", run_id=other["run_id"])
    await session.until(other, "canceled")
    all_news = await session.call("wait_for_change", cursor=news["cursor"])
    assert other["run_id"] in [change["run_id"] for change in all_news["changes"]]

    await discuss(session)

    await session.refused("UNKNOWN_RUN", "read_run", run_id=UNKNOWN_RUN)
    await session.refused("NOT_OPEN", "reply_to_run", run_id=run_id, interaction_id=1, response="2.5.0")
    await session.refused("NOT_ALLOWED_NOW", "cancel_run", run_id=run_id)
    await session.refused("INVALID", "read_run", run=run_id)

    templates = (await client.list_resource_templates()).resource_templates
    assert [template.uri_template for template in templates] == ["adjourn://runs/{run_id}/transcript"]
    uri = f"adjourn://runs/{run_id}/transcript"
    assert uri in [str(resource.uri) for resource in (await client.list_resources()).resources]
    transcript = (await client.read_resource(uri)).contents[0].text
    assert transcript.startswith(f"# {run_id}") and "Answer to question 1:** 2.4.0" in transcript, transcript
    try:
        await client.read_resource(f"adjourn://runs/{UNKNOWN_RUN}/transcript")
        raise AssertionError("there is no such run")
    except MCPError as error:
        assert UNKNOWN_RUN in str(error), error
    assert session.called == {tool.name for tool in tools}, session.called


async def discuss(session):
    """Has a recorded roundtable held to its end, and reads what came out of it."""
    start = {"subject": "a booking page", "engine": "replay", "idempotency_key": str(uuid.uuid4())}
    roundtable = await session.call("start_roundtable", **start)
    roundtable_id, deadline = roundtable["roundtable_id"], time.monotonic() + PATIENCE_SEC
    assert (await session.call("start_roundtable", **start))["roundtable_id"] == roundtable_id
    while roundtable["status"] != "closed":
        assert time.monotonic() < deadline, f"{roundtable} was not closed"
        if roundtable["question"]:
            await session.call("reply_roundtable", roundtable_id=roundtable_id, response="continue")
        await session.call("wait_for_change", timeout_sec=1)
        roundtable = await session.call("get_roundtable", roundtable_id=roundtable_id)
    assert roundtable["artifacts"], roundtable
    document = (await session.call("export_roundtable", roundtable_id=roundtable_id))["document"]
    assert roundtable["artifacts"][0]["artifact_id"] in document, document
    await session.refused(
        "NOT_OPEN", "reply_roundtable", roundtable_id=roundtable_id, interaction_id=99, response="continue"
    )


@contextlib.contextmanager
def served(folder):
    """A server on a port of its own, and its address."""
    command = [ADJOURN, "--data", "data", "serve", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(server.stderr.readline, "")
        address = next(line.removeprefix(LISTENING).strip() for line in lines if line.startswith(LISTENING))
        # A pipe that nobody reads from fills up.
        threading.Thread(target=collections.deque, args=(lines, 0), daemon=True).start()
        yield address
    finally:
        server.terminate()
        server.wait(PATIENCE_SEC)


def stdio(folder):
    return StdioServerParameters(command=ADJOURN, args=["--data", "data", "mcp"], cwd=folder)


async def one(name, server, mode):
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE_SEC), Client(server, mode=mode) as client:
        # The newest version has no handshake any more.
        assert (client.protocol_version >= "2026-07-28") == (mode == "auto"), client.protocol_version
        await drive(client)
    print(f"{name}, {mode}: every tool in {time.monotonic() - began:.1f} s", flush=True)


async def main():
    for mode in ["legacy", "auto"]:
        with tempfile.TemporaryDirectory(prefix="adjourn-mcp-") as folder:
            skills = json.dumps([str(REPOSITORY / "skills")])
            pathlib.Path(folder, "adjourn.toml").write_text(f"skills = {skills}\n")
            await one("stdio, alone", stdio(folder), mode)
            with served(folder) as address:
                await one("streamable HTTP", f"{address}/mcp", mode)
                await one("stdio, beside a server", stdio(folder), mode)


asyncio.run(main())
