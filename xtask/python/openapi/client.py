"""Uses a server through the client that `openapi-python-client` made from the server's own description.

Called by `cargo xtask openapi` with the folder of the generated package and the address of the server.
"""

import importlib
import pkgutil
import sys
import time

FOLDER, SERVER = sys.argv[1:]
sys.path.insert(0, FOLDER)

# How long a run may take to get somewhere. Only a failure takes this long.
PATIENCE_SEC = 60


def import_everything(package):
    """Imports each generated module, so that one with a mistake in it is found even if nothing below uses it."""
    modules = [module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for name in modules:
        importlib.import_module(name)
    return len(modules)


modules = import_everything(importlib.import_module("adjourn_client"))

from adjourn_client import Client
from adjourn_client.api.inbox import inbox
from adjourn_client.api.runs import create_run, list_runs, reply_to_run, run_interactions, run_result, show_run
from adjourn_client.models import Answer, InteractionStatus, NewRun, RunStatus


def until(run_id, statuses):
    deadline = time.monotonic() + PATIENCE_SEC
    while (run := show_run.sync(run_id, client=client)).status not in statuses:
        assert time.monotonic() < deadline, f"{run} did not become {statuses}"
        time.sleep(0.05)
    return run


client = Client(base_url=SERVER)
with client:
    assert list_runs.sync(client=client).items == []

    # The recording asks once, and succeeds when it was answered.
    started = create_run.sync(client=client, body=NewRun(skill="release-notes", engine="replay"))
    run = until(started.run_id, [RunStatus.WAITING_USER])
    assert run.skill == "release-notes" and run.engine == "replay", run
    (waiting,) = inbox.sync(client=client).items
    assert waiting.run_id == run.run_id, waiting
    answer = Answer(interaction_id=run.pending.interaction_id, response="Go ahead.")
    assert reply_to_run.sync(run.run_id, client=client, body=answer).run_id == run.run_id
    run = until(run.run_id, [RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELED])
    assert run.status == RunStatus.SUCCEEDED, run
    assert run_result.sync(run.run_id, client=client).result == run.result
    (question,) = run_interactions.sync(run.run_id, client=client).items
    assert question.status == InteractionStatus.ANSWERED, question
    (listed,) = list_runs.sync(client=client).items
    assert (listed.run_id, listed.status) == (run.run_id, RunStatus.SUCCEEDED), listed

    # A refusal is a value of its own type, with the code that the document lists.
    again = reply_to_run.sync_detailed(run.run_id, client=client, body=answer)
    assert (again.status_code, again.parsed.code) == (409, "NOT_OPEN"), again

print(f"the generated client: {modules} modules imported; a run started, answered, read and listed")
