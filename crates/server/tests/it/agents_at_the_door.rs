//! Agents that come to the doors of their own server, from inside their turns.
//!
//! They have no sandbox, which would keep them from the socket: the doors have to hold without it.

use serde_json::{Value, json};

use crate::client::Events;
use crate::stage::{Actor, Stage, exists};

/// A line of shell that asks the server for something and appends the status and the code of the answer to `answers`.
fn ask(by: &str, method: &str, path: &str, body: &str) -> String {
    format!(
        "curl --silent --max-time 20 {by} -X {method} -H 'content-type: application/json' -d '{body}' \
         -w '\n%{{http_code}} {method} {path}\n' \"http://localhost:$PORT{path}\" | tr -d '\\n' >answer\n\
         code=$(sed -n 's/.*\"code\": *\"\\([A-Z_]*\\)\".*/\\1/p' answer)\n\
         echo \"$(grep -o '[0-9]* {method} .*' answer) $code\" >>answers\n"
    )
}

/// What an agent tries: everything that only people may do, and a look at other runs.
fn attempts(own: &str, other: &str) -> Vec<(&'static str, String, String)> {
    let reply = json!({ "interaction_id": 1, "response": "yes" }).to_string();
    let approve = json!({ "interaction_id": 1, "action": "approve" }).to_string();
    let create = Stage::request(json!({})).to_string();
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let path = |run: &str, rest: &str| format!("/v1/runs/{run}{rest}");
    vec![
        ("POST", path(own, "/reply"), reply),
        ("POST", path(other, "/reply"), approve),
        ("POST", path(own, "/cancel"), "{}".to_owned()),
        ("POST", path(own, "/rerun"), "{}".to_owned()),
        ("POST", "/v1/runs".to_owned(), create.clone()),
        ("POST", "/v1/jobs".to_owned(), create),
        ("POST", "/v1/contracts/exec_00000000000000000004000001/settle".to_owned(), "{}".to_owned()),
        ("POST", "/v1/contracts/exec_00000000000000000004000001/cancel".to_owned(), "{}".to_owned()),
        ("POST", "/v1/contracts/exec_00000000000000000004000001/reply".to_owned(), "{}".to_owned()),
        ("POST", "/v1/roundtables".to_owned(), "{}".to_owned()),
        (
            "POST",
            "/v1/roundtables/rt_00000000000000000004000001/artifacts/REQ-001".to_owned(),
            json!({ "action": "withdraw", "reason": "mine" }).to_string(),
        ),
        ("POST", "/mcp".to_owned(), mcp),
        ("GET", path(other, ""), String::new()),
        ("GET", path(other, "/events"), String::new()),
        ("GET", "/v1/runs".to_owned(), String::new()),
        ("GET", "/v1/inbox".to_owned(), String::new()),
        ("GET", "/v1/events".to_owned(), String::new()),
        ("GET", "/metrics".to_owned(), String::new()),
    ]
}

async fn answers(run: &Actor<'_>) -> Vec<String> {
    exists(&run.work().join("done")).await;
    std::fs::read_to_string(run.work().join("answers")).unwrap().lines().map(str::to_owned).collect()
}

/// The warnings of a run, waited for: they are written down after the agent was answered.
async fn warnings(stage: &Stage, run: &Actor<'_>, count: usize) -> Vec<Value> {
    let mut events = Events::open(stage.call(hyper::Method::GET, &run.path("/events"))).await;
    let mut seen = Vec::new();
    while seen.len() < count {
        let found = events.until(|frame| frame["type"] == "diagnostic.warning").await;
        seen.push(found.last().unwrap().data["data"].clone());
    }
    seen
}

async fn is_kept_out(by: impl Fn(&Stage) -> String) {
    let stage = Stage::new().await;
    let other = stage.start(json!({})).await;
    other.asks(1).await;
    let run = stage.start(json!({ "engine": "unwalled" })).await;
    let attempts = attempts(&run.id, &other.id);
    let mut script = format!("PORT={}\n", stage.address.port());
    for (method, path, body) in &attempts {
        script += &ask(&by(&stage), method, path, body);
    }
    script += "touch done\nuntil [ -e leave ]; do sleep 0.01; done\n";
    run.turn(1, &script).await;

    let expected: Vec<_> =
        attempts.iter().map(|(method, path, _)| format!("403 {method} {path} AGENT_REFUSED")).collect();
    assert_eq!(answers(&run).await, expected);
    // Nothing happened of what it asked for.
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"].as_array().unwrap().len(), 2);
    assert_eq!(other.show().await["status"], "waiting_user");
    assert_eq!(run.show().await["status"], "running");
    // All of it is in its journal.
    let told = warnings(&stage, &run, attempts.len()).await;
    for ((method, path, _), warning) in attempts.iter().zip(&told) {
        assert_eq!(warning["code"], "AGENT_REFUSED");
        let message = format!("the agent asked its own server for `{method} {path}`, which was refused");
        assert_eq!(warning["message"], message);
    }
    // A person is let in by the same doors.
    other.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    std::fs::write(run.work().join("leave"), "").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_an_agent_gets_nothing_but_its_own_run_by_the_socket_and_each_attempt_is_recorded() {
    is_kept_out(|stage| format!("--unix-socket {}", stage.data().join("adjourn.sock").display())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_an_agent_gets_nothing_but_its_own_run_by_the_port_and_each_attempt_is_recorded() {
    is_kept_out(|_| String::new()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_an_agent_that_leaves_its_session_and_is_orphaned_is_still_an_agent() {
    let stage = Stage::new().await;
    let run = stage.start(json!({ "engine": "unwalled" })).await;
    let socket = format!("--unix-socket {}", stage.data().join("adjourn.sock").display());
    let cancel = ask(&socket, "POST", &run.path("/cancel"), "{}");
    // The shell that starts it ends at once, and so does its session.
    let script = format!(
        "PORT=1\ncat >escape <<'END'\nPORT=1\n{cancel}touch done\nEND\n\
         sh -c 'setsid sh ./escape & exit 0'\nuntil [ -e leave ]; do sleep 0.01; done\n"
    );
    run.turn(1, &script).await;
    assert_eq!(answers(&run).await, [format!("403 POST {} AGENT_REFUSED", run.path("/cancel"))]);
    assert_eq!(run.show().await["status"], "running");
    std::fs::write(run.work().join("leave"), "").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_read_its_own_run() {
    let stage = Stage::new().await;
    let run = stage.start(json!({ "engine": "unwalled" })).await;
    let socket = format!("--unix-socket {}", stage.data().join("adjourn.sock").display());
    let mut script = format!("PORT={}\n", stage.address.port());
    let paths = ["", "/interactions", "/contracts", "/trace", "/files"].map(|rest| run.path(rest));
    for path in &paths {
        script += &ask(&socket, "GET", path, "");
        script += &ask("", "GET", path, "");
    }
    script += "touch done\nuntil [ -e leave ]; do sleep 0.01; done\n";
    run.turn(1, &script).await;
    let expected: Vec<_> =
        paths.iter().flat_map(|path| [path; 2]).map(|path| format!("200 GET {path} ")).collect();
    assert_eq!(answers(&run).await, expected);
    std::fs::write(run.work().join("leave"), "").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_25_a_request_whose_sender_has_closed_its_connection_does_nothing() {
    let stage = Stage::new().await;
    let run = stage.start(json!({ "engine": "unwalled" })).await;
    let request = format!(
        "POST {} HTTP/1.1\\r\\nHost: localhost:{}\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n\\r\\n{{}}",
        run.path("/cancel"),
        stage.address.port()
    );
    // Each socket is closed as soon as the request is sent, when the kernel calls it root's.
    let script = format!(
        "cat >escape <<'END'\nfor one in $(seq 20); do\n\
         exec 3<>/dev/tcp/127.0.0.1/{} && printf '{request}' >&3; exec 3>&-\ndone\nEND\n\
         bash ./escape\ntouch done\nuntil [ -e leave ]; do sleep 0.01; done\n",
        stage.address.port()
    );
    run.turn(1, &script).await;
    exists(&run.work().join("done")).await;
    // What was sent before is served before, or not at all.
    for _ in 0..20 {
        assert_eq!(run.show().await["status"], "running");
    }
    std::fs::write(run.work().join("leave"), "").unwrap();
    run.becomes("waiting_user").await;
}
