//! Other users of the machine, as real processes of another user.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use adjourn_server::OtherUsers;
use adjourn_server::tokens::{Role, Tokens, make};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::stage::{Stage, exists, within};

/// A user that every system has, and that owns nothing.
const NOBODY: &str = "65534";

fn can_become_another_user() -> bool {
    let can = rustix::process::geteuid().is_root();
    if !can {
        eprintln!("skipped: only root can become another user");
    }
    can
}

/// The status and the body of what another user is answered.
///
/// The process is orphaned before it asks: whatever the server's own process started, and a test is in it, is no stranger.
async fn as_nobody(stage: &Stage, method: &str, path: &str, body: &Value, options: &str) -> (u16, Value) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("body"), body.to_string()).unwrap();
    let script = format!(
        "cd '{}'\n(\nuntil [ -e go ]; do sleep 0.01; done\n\
         cat body | setpriv --reuid={NOBODY} --clear-groups curl --silent --max-time 20 -X {method} {} \
         -H 'content-type: application/json' {options} -w '\\n%{{http_code}}' 'http://{}{path}' >out.part\n\
         mv out.part out\n) &\n",
        folder.path().display(),
        if method == "GET" { "" } else { "-d @-" },
        stage.address
    );
    let mut starts = Command::new("sh");
    starts.args(["-c", &script]).stdout(Stdio::null());
    assert!(within(starts.status()).await.unwrap().success());
    fs::write(folder.path().join("go"), "").unwrap();
    let out = folder.path().join("out");
    exists(&out).await;
    let text = fs::read_to_string(out).unwrap();
    let (body, status) = text.rsplit_once('\n').unwrap();
    (status.parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
}

async fn are_refused(ip: IpAddr) {
    let stage = Stage::at(ip, OtherUsers::Refused).await;
    for (method, path, body) in [
        ("POST", "/v1/runs", Stage::request(json!({}))),
        ("POST", "/v1/jobs", Stage::request(json!({}))),
        ("POST", "/mcp", json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })),
        ("GET", "/v1/runs", Value::Null),
        ("GET", "/v1/events", Value::Null),
        ("GET", "/metrics", Value::Null),
    ] {
        let (status, problem) = as_nobody(&stage, method, path, &body, "").await;
        assert_eq!((status, &problem["code"]), (403, &json!("OTHER_USER")), "{method} {path}: {problem}");
    }
    // The owner comes in as always, and nothing was created.
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_this_machine_is_refused_on_every_surface_of_the_port() {
    if can_become_another_user() {
        are_refused(Ipv4Addr::LOCALHOST.into()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_this_machine_is_refused_by_ipv6_too() {
    if can_become_another_user() {
        are_refused(Ipv6Addr::LOCALHOST.into()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_open_lets_other_users_in_and_no_agents() {
    if !can_become_another_user() {
        return;
    }
    let stage = Stage::at(Ipv4Addr::LOCALHOST.into(), OtherUsers::LetIn).await;
    let run = stage.start(json!({})).await;
    // As another user, so that nothing but its parents tells what it is.
    let script = format!(
        "setpriv --reuid={NOBODY} --clear-groups curl --silent --max-time 20 -X POST \
         http://{}{} >answer.part\nmv answer.part answer\nuntil [ -e leave ]; do sleep 0.01; done\n",
        stage.address,
        run.path("/cancel")
    );
    run.turn(1, &script).await;
    exists(&run.work().join("answer")).await;
    let answer = std::fs::read_to_string(run.work().join("answer")).unwrap();
    assert!(answer.contains("AGENT_REFUSED"), "{answer}");
    assert_eq!(run.show().await["status"], "running");
    std::fs::write(run.work().join("leave"), "").unwrap();
    run.becomes("waiting_user").await;
    assert_eq!(as_nobody(&stage, "GET", "/v1/runs", &Value::Null, "").await.0, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_comes_in_with_a_token_and_the_answer_says_so() {
    if !can_become_another_user() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let secret = make(&file, "rob", Role::Admin).unwrap().secret;
    let stage = Stage::behind("", Some(Tokens::open(&file).unwrap())).await;
    let bearer = format!("-H 'authorization: Bearer {secret}'");
    let (status, _) = as_nobody(&stage, "GET", "/v1/runs", &Value::Null, &bearer).await;
    assert_eq!(status, 200);
    let (status, problem) = as_nobody(&stage, "GET", "/v1/runs", &Value::Null, "").await;
    assert_eq!((status, &problem["code"]), (401, &json!("TOKEN_MISSING")));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_is_refused_by_the_socket_even_where_its_modes_let_them_in() {
    if !can_become_another_user() {
        return;
    }
    let stage = Stage::new().await;
    let socket = stage.data().join("adjourn.sock");
    for (path, mode) in [(stage.folder(), 0o755), (&stage.data(), 0o755), (&socket, 0o666)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let by_socket = format!("--unix-socket {}", socket.display());
    let (status, problem) = as_nobody(&stage, "GET", "/v1/runs", &Value::Null, &by_socket).await;
    assert_eq!((status, &problem["code"]), (403, &json!("OTHER_USER")), "{problem}");
}
