//! A hostile agent that tries to approve its own work, from inside of a turn: by every door, file and signal there is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::stage::{Stage, exists};

/// Tries everything and writes what came of each to `outcomes.json`. Nothing is damaged where it works.
const ATTACK: &str = r#"
import json, os, socket, sys
work, data, folder, port, adjourn, other_work, other_agent = sys.argv[1:8]
body = json.dumps({"interaction_id": 1, "response": "yes"})
other = os.path.basename(os.path.dirname(other_work))
outcomes = {}
def attempt(name, what):
    try:
        outcomes[name] = what() or "worked"
    except OSError as error:
        outcomes[name] = "failed"
def reply(connection):
    # In one piece: the server may say no and close before it has read all of it.
    head = f"POST /v1/runs/{other}/reply HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\n"
    connection.settimeout(20)
    connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    return connection.recv(4096).split()[1].decode()
def by_socket():
    connection = socket.socket(socket.AF_UNIX)
    os.chdir(data)
    connection.connect("adjourn.sock")
    return reply(connection)
def opened(path):
    open(path, "r+b").close()
def agents_environments():
    # Of an agent that is not this one.
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read()
        except OSError:
            continue
        if other_agent.encode() in environment:
            return "worked"
    raise OSError("none can be seen")
attempt("answer by the socket", by_socket)
attempt("answer by the port", lambda: reply(socket.create_connection(("127.0.0.1", int(port)))))
attempt("write the database", lambda: opened(data + "/adjourn.db"))
attempt("write the own workspace.json", lambda: opened(os.path.dirname(work) + "/workspace.json"))
attempt("write the configuration", lambda: opened(folder + "/adjourn.toml"))
attempt("write another run's workspace", lambda: open(other_work + "/planted", "w").close())
attempt("signal Adjourn", lambda: os.kill(int(adjourn), 0))
attempt("signal the supervisor", lambda: os.kill(os.getsid(0), 0) if os.getsid(0) > 1 else os.kill(1, 15) or "failed")
attempt("see the environment of another agent", agents_environments)
os.chdir(work)
with open("outcomes.part", "w") as file: json.dump(outcomes, file)
os.rename("outcomes.part", "outcomes.json")
"#;

/// An agent that speaks just enough of the Agent Client Protocol to attack during its turn.
const ACP_AGENT: &str = r#"
import json, subprocess, sys
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), {}
    if method == "initialize":
        answer = {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}}
    elif method == "session/new":
        answer = {"sessionId": "one"}
        work = message["params"]["cwd"]
    elif method == "session/prompt":
        import os, time
        while not os.path.exists(work + "/attack.sh"): time.sleep(0.01)
        subprocess.run(["sh", work + "/attack.sh"], cwd=work)
        answer = {"stopReason": "end_turn"}
    if "id" in message and method:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
"#;

/// What came of the attack of an agent of this engine.
async fn attacked(engine: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let (attack, acp) = (folder.path().join("attack.py"), folder.path().join("acp.py"));
    std::fs::write(&attack, ATTACK).unwrap();
    std::fs::write(&acp, ACP_AGENT).unwrap();
    let acp_engine = |name: &str, sandbox: &str| {
        format!(
            "[engines.{name}]\nkind = \"acp\"\ncommand = [\"python3\", \"{}\"]\nsandbox = \"{sandbox}\"\n",
            acp.display()
        )
    };
    let settings = acp_engine("acp", "on") + &acp_engine("unwalled-acp", "off");
    let stage = Stage::with(&settings).await;
    std::fs::write(stage.folder().join("adjourn.toml"), "").unwrap();
    // A person is asked by one run, and its agent is at work in another one.
    let asking = stage.start(json!({})).await;
    asking.asks(1).await;
    let at_work = stage.start(json!({})).await;
    at_work.at_turn(1).await;
    let run = stage.start(json!({ "engine": engine })).await;
    let script = format!(
        "python3 {} \"$PWD\" {} {} {} {} {} {}\n",
        attack.display(),
        stage.data().display(),
        stage.folder().display(),
        stage.address.port(),
        std::process::id(),
        asking.work().display(),
        at_work.id
    );
    if engine.contains("acp") {
        exists(&run.work()).await;
        std::fs::write(run.work().join("attack.sh"), &script).unwrap();
    } else {
        run.turn(1, &script).await;
    }
    exists(&run.work().join("outcomes.json")).await;
    let outcomes: Value =
        serde_json::from_str(&std::fs::read_to_string(run.work().join("outcomes.json")).unwrap()).unwrap();
    assert_eq!(asking.show().await["status"], "waiting_user", "nothing was answered");
    let sandbox = run.show().await["sandbox"].as_str().unwrap().to_owned();
    assert_eq!(sandbox == "off", engine.starts_with("unwalled"), "{sandbox}");
    at_work.finishes(1).await;
    serde_json::from_value(outcomes).unwrap()
}

fn outcomes(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, outcome)| ((*name).to_owned(), (*outcome).to_owned())).collect()
}

/// Behind the wall everything fails, and the port, which is open to all programs, answers no.
fn behind_the_wall() -> BTreeMap<String, String> {
    outcomes(&[
        ("answer by the socket", "failed"),
        ("answer by the port", "403"),
        ("write the database", "failed"),
        ("write the own workspace.json", "failed"),
        ("write the configuration", "failed"),
        ("write another run's workspace", "failed"),
        ("signal Adjourn", "failed"),
        ("signal the supervisor", "failed"),
        ("see the environment of another agent", "failed"),
    ])
}

/// Without a wall the doors still say no; files and signals are the user's own.
fn without_a_wall() -> BTreeMap<String, String> {
    outcomes(&[
        ("answer by the socket", "403"),
        ("answer by the port", "403"),
        ("write the database", "worked"),
        ("write the own workspace.json", "worked"),
        ("write the configuration", "worked"),
        ("write another run's workspace", "worked"),
        ("signal Adjourn", "worked"),
        ("signal the supervisor", "worked"),
        ("see the environment of another agent", "worked"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_a_hostile_agent_on_exec_achieves_nothing() {
    assert_eq!(attacked("scripted").await, behind_the_wall());
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_a_hostile_agent_on_acp_achieves_nothing() {
    assert_eq!(attacked("acp").await, behind_the_wall());
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_a_hostile_agent_without_a_sandbox_answers_nothing_on_exec() {
    assert_eq!(attacked("unwalled").await, without_a_wall());
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_a_hostile_agent_without_a_sandbox_answers_nothing_on_acp() {
    assert_eq!(attacked("unwalled-acp").await, without_a_wall());
}
