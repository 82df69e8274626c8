//! Requests with files.

use std::fs;
use std::path::PathBuf;

use hyper::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::client::{Answer, Call};
use crate::stage::{Stage, within};

const TYPE: &str = "multipart/form-data; boundary=limit";

/// A form with these parts.
fn form(parts: &[(&str, &str)]) -> String {
    let part = |(name, content): &(&str, &str)| {
        format!(
            "--limit\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"x\"\r\n\r\n{content}\r\n"
        )
    };
    parts.iter().map(part).collect::<String>() + "--limit--\r\n"
}

fn request() -> String {
    Stage::request(json!({})).to_string()
}

fn post(stage: &Stage, body: impl Into<hyper::body::Bytes>) -> Call {
    stage.call(Method::POST, "/v1/runs").header("content-type", TYPE).body(body)
}

async fn send(stage: &Stage, parts: &[(&str, &str)]) -> Answer {
    post(stage, form(parts)).send().await
}

/// What is on its way in.
fn incoming(stage: &Stage) -> Vec<PathBuf> {
    let entries = fs::read_dir(stage.data().join("incoming")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_with_the_request_and_are_there_for_the_agent() {
    let stage = Stage::new().await;
    let big = "line\r\n".repeat(100_000);
    let run = send(&stage, &[("notes.txt", &big), ("request", &request()), ("empty", "")]).await.is(201);
    let uploads = stage.data().join("runs").join(run["run_id"].as_str().unwrap()).join("work/uploads");
    assert_eq!(fs::read_to_string(uploads.join("notes.txt")).unwrap(), big);
    assert_eq!(fs::read_to_string(uploads.join("empty")).unwrap(), "");
    assert_eq!(incoming(&stage), [""; 0].map(PathBuf::from));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_key_means_the_same_files_wherever_they_were_kept() {
    let stage = Stage::new().await;
    let keyed = |content| {
        let body = form(&[("request", &request()), ("a", content)]);
        post(&stage, body).header("idempotency-key", "k").send()
    };
    let first = keyed("1").await.is(201);
    assert_eq!(keyed("1").await.is(201)["run_id"], first["run_id"]);
    keyed("2").await.is_problem(409, "KEY_REUSED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_that_is_wrong_creates_nothing_and_leaves_nothing() {
    let stage = Stage::new().await;
    send(&stage, &[("a", "1")]).await.is_problem(400, "BAD_FORM");
    send(&stage, &[("request", &request()), ("request", "{}")]).await.is_problem(400, "BAD_FORM");
    send(&stage, &[("a", "1"), ("request", "{")]).await.is_problem(400, "BAD_JSON");
    post(&stage, form(&[("a", "1")]).replace("--limit--", "--lim")).send().await.is_problem(400, "BAD_FORM");
    let many: Vec<_> = (0..101).map(|number| number.to_string()).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), "")).collect();
    send(&stage, &many).await.is_problem(413, "BODY_TOO_LARGE");
    for name in ["../x", "/etc/x", ".x", "a/b", "a\\b", ""] {
        let problem = send(&stage, &[("request", &request()), (name, "1")]).await.is_problem(422, "INVALID");
        assert!(problem["errors"][0]["path"].as_str().unwrap().starts_with("/files/"), "{problem}");
    }
    let twice = send(&stage, &[("request", &request()), ("a", "1"), ("a", "2")]).await;
    assert_eq!(twice.is_problem(422, "INVALID")["errors"][0]["path"], "/files/a");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
    assert_eq!(incoming(&stage), [""; 0].map(PathBuf::from));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_in_the_middle_leaves_nothing() {
    let stage = Stage::new().await;
    let mut client = within(TcpStream::connect(stage.address)).await.unwrap();
    let body = form(&[("a", &"x".repeat(100_000))]);
    let head = format!(
        "POST /v1/runs HTTP/1.1\r\nHost: {}\r\nContent-Type: {TYPE}\r\nContent-Length: {}\r\n\r\n",
        stage.address,
        body.len()
    );
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&body.as_bytes()[..50_000]).await.unwrap();
    until(|| !incoming(&stage).is_empty()).await;
    drop(client);
    until(|| incoming(&stage).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_left_on_its_way_in_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("incoming/some");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("0"), "half").unwrap();
    adjourn_runtime::workspace::Workspaces::new(folder.path()).sweep(|_| true).unwrap();
    assert!(!left.exists());
}

/// Waits for what the file system does not announce.
async fn until(condition: impl Fn() -> bool) {
    within(async {
        while !condition() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    })
    .await;
}
