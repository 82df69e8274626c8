//! Processes that have no business at the gateway, and what they achieve: real ones, each below a supervisor of its own run.

use std::sync::Arc;

use adjourn_core::{Profile, RunId};
use adjourn_engine::agent_processes::RefusedAttempt;
use adjourn_engine::{AcpEngine, Engine, ExecEngine, Gateway, Preset, Toolbox, Turn};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Scripted;
use super::toolbox::done;
use crate::acp::{config as acp_config, say, script};
use crate::agent::{Stage, supervisor, until};
use crate::turns::{Going, config, turn};

/// Says how it gets to the gateway; when told to, calls the tool `echo` with the address and token in the file `access`, and
/// writes down what was answered.
const AGENT: &str = r#"
echo "$ADJOURN_MCP_URL $ADJOURN_MCP_TOKEN" >own
until [ -e go ]; do sleep 0.01; done
read url token <access
curl --silent --max-time 20 --output answer --write-out '%{http_code}\n' \
    --header "authorization: Bearer $token" --header 'content-type: application/json' \
    --header 'accept: application/json, text/event-stream' \
    --data '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}' "$url" >status.part
mv status.part status
until [ -e leave ]; do sleep 0.01; done
"#;

/// Opens as many connections as it can, and sends the beginning of a head on each.
const DRIBBLER: &str = r#"
import os, socket, time
from urllib.parse import urlparse
at = urlparse(os.environ["ADJOURN_MCP_URL"])
held = []
for _ in range(300):
    one = socket.create_connection((at.hostname, at.port))
    try:
        one.sendall(b"POST /mcp HTTP/1.1\r\n")
    except OSError:
        pass
    held.append(one)
open("dribbles.part", "w").write("yes\n")
os.rename("dribbles.part", "dribbles")
while not os.path.exists("leave"):
    time.sleep(0.01)
"#;

fn echo() -> Arc<Scripted> {
    Scripted::new([("echo", done(json!("hi")))])
}

/// A turn of a real process.
struct AtWork {
    stage: Stage,
    tools: Arc<Scripted>,
    going: Going,
}

impl AtWork {
    fn start(gateway: &Gateway, run: u128, interpreter: &str, agent: &str) -> Self {
        let (stage, tools) = (Stage::new(), echo());
        let config = config(&stage, Preset::Command, interpreter, agent);
        let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), gateway.clone()));
        let offered: Arc<dyn Toolbox> = tools.clone();
        let turn = Turn { run_id: RunId::from_bits(run), tools: offered, ..turn(&stage, "go") };
        let going = Going::start(engine, turn).while_nobody_looks();
        Self { stage, tools, going }
    }

    /// The address and the token that it was given.
    async fn access(&self) -> String {
        self.stage.lines_in("own", 1).await[0].clone()
    }

    /// Has it call its tool with this access; the status that it was answered with.
    async fn calls_with(&self, access: &str) -> String {
        std::fs::write(self.stage.path().join("access"), format!("{access}\n")).unwrap();
        std::fs::write(self.stage.path().join("go"), "").unwrap();
        self.stage.lines_in("status", 1).await[0].clone()
    }

    async fn leave(self) {
        std::fs::write(self.stage.path().join("leave"), "").unwrap();
        self.going.finish().await;
    }
}

fn attempt(run: u128, what: &str) -> RefusedAttempt {
    RefusedAttempt { run_id: RunId::from_bits(run), what: what.to_owned() }
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_30_an_agent_with_the_token_of_another_run_is_refused_and_both_runs_are_told() {
    let gateway = Gateway::new();
    let mut attempts = gateway.agents().refused_attempts().unwrap();
    let victim = AtWork::start(&gateway, 1, "sh", AGENT);
    let thief = AtWork::start(&gateway, 2, "sh", AGENT);
    let stolen = victim.access().await;
    assert_eq!(thief.calls_with(&stolen).await, "403");
    assert_eq!((victim.tools.begun(), thief.tools.begun()), (vec![], vec![]));
    let (one, two) = (RunId::from_bits(1), RunId::from_bits(2));
    let told = [attempts.recv().await.unwrap(), attempts.recv().await.unwrap()];
    assert_eq!(
        told,
        [
            attempt(2, &format!("used the gateway with the token of {one}, which was refused")),
            attempt(1, &format!("lost its token for the gateway to the agent of {two}, which was refused")),
        ]
    );
    // Its own token is good for it.
    assert_eq!(victim.calls_with(&stolen).await, "200");
    assert_eq!((victim.tools.begun().len(), thief.tools.begun().len()), (1, 0));
    victim.leave().await;
    thief.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_30_the_token_of_an_acp_agent_that_stays_is_no_good_to_another_run() {
    let gateway = Gateway::new();
    let (stage, tools) = (Stage::new(), echo());
    let config = acp_config(&stage, &script(&stage, vec![vec![say("?")]]));
    let acp: Arc<dyn Engine> = Arc::new(AcpEngine::new(config, supervisor(), gateway.clone()));
    let first = Turn { profile: Profile::StickyProcess, tools: tools.clone(), ..turn(&stage, "go") };
    let run_id = first.run_id;
    Going::start(acp.clone(), first).until_it_ends().await;
    let told = std::fs::read_to_string(stage.path().join("sessions/told")).unwrap();
    let server: Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    let bearer = server["headers"][0]["value"].as_str().unwrap();
    let access = format!("{} {}", server["url"].as_str().unwrap(), bearer.strip_prefix("Bearer ").unwrap());

    let thief = AtWork::start(&gateway, 77, "sh", AGENT);
    thief.access().await;
    assert_eq!(thief.calls_with(&access).await, "403");
    assert_eq!((tools.begun(), thief.tools.begun()), (vec![], vec![]));
    thief.leave().await;
    acp.end(run_id).await;
}

/// Calls its tool while others hold connections; returns when it was answered.
async fn calls_all_the_same(gateway: &Gateway) {
    let agent = AtWork::start(gateway, 1, "sh", AGENT);
    let access = agent.access().await;
    assert_eq!(agent.calls_with(&access).await, "200");
    assert_eq!(agent.tools.begun().len(), 1);
    agent.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dribbling_connections_of_somebody_without_a_token_keep_no_agent_out() {
    let gateway = Gateway::new();
    let agent = AtWork::start(&gateway, 2, "sh", AGENT);
    let access = agent.access().await;
    let address =
        access.split_once(' ').unwrap().0.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let mut held = Vec::new();
    for _ in 0..300 {
        let mut connection = TcpStream::connect(&address).await.unwrap();
        // It may be closed already: this process is no agent.
        let _ = connection.write_all(b"POST /mcp HTTP/1.1\r\n").await;
        held.push(connection);
    }
    assert_eq!(agent.calls_with(&access).await, "200");
    agent.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dribbling_connections_of_one_agent_keep_no_other_out() {
    let gateway = Gateway::new();
    let dribbler = AtWork::start(&gateway, 2, "python3", DRIBBLER);
    let held = dribbler.stage.path().join("dribbles");
    until(|| held.exists().then_some(())).await;
    calls_all_the_same(&gateway).await;
    dribbler.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_does_not_get_in_with_the_right_token() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become another user");
        return;
    }
    let gateway = Gateway::new();
    // A process below the agent's own supervisor, so that nothing but its user is wrong with it.
    let agent = AGENT.replace("curl --silent", "setpriv --reuid=65534 --clear-groups curl --silent");
    let agent = agent.replace("--output answer", "--output /dev/null");
    let agent = AtWork::start(&gateway, 1, "sh", &agent);
    let access = agent.access().await;
    assert_eq!(agent.calls_with(&access).await, "403");
    assert!(agent.tools.begun().is_empty());
    agent.leave().await;
}
