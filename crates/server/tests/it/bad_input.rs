//! Clients that are broken, careless or mean: each gets a clear answer, costs little, and keeps nobody else waiting.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;

use hyper::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::stage::{Stage, within};

/// What the server answers to these bytes, to the end of the connection.
async fn raw(stage: &Stage, request: &[u8]) -> String {
    let mut client = within(TcpStream::connect(stage.address)).await.unwrap();
    // A server that has heard enough may close before everything was said.
    let _ = within(client.write_all(request)).await;
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    loop {
        match within(client.read(&mut part)).await {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&answer).into_owned(),
            Ok(length) => answer.extend_from_slice(&part[..length]),
        }
    }
}

/// A request with this first line, these header lines and this body, after which the connection is closed.
async fn request(stage: &Stage, line: &str, headers: &str, body: &[u8]) -> String {
    let head = format!("{line}\r\nHost: {}\r\nConnection: close\r\n{headers}\r\n", stage.address);
    raw(stage, &[head.as_bytes(), body].concat()).await
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// The server is as well as before.
async fn still_serves(stage: &Stage) {
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_no_json_is_told_where() {
    let stage = Stage::new().await;
    let post = |body: &[u8]| stage.call(Method::POST, "/v1/runs").body(body.to_vec()).send();
    let deep = ["[".repeat(10_000), "]".repeat(10_000)].concat();
    let deep_in = format!("{{\"input\": {}}}", "{\"a\":".repeat(10_000));
    for (body, expected) in [
        (&b""[..], "EOF while parsing"),
        (b"\xff\xfe{}", "line 1 column 1"),
        (b"{\"prompt\": \"\xc3\x28\"}", "invalid unicode code point"),
        (b"{\"prompt\": \"\\ud800\"}", "hex escape"),
        (b"{\"prompt\": \"a\nb\"}", "control character"),
        (b"{} {}", "trailing characters"),
        (b"{\"input\": 1e999}", "number out of range"),
        (deep.as_bytes(), "nested deeper than the 64 levels"),
        (deep_in.as_bytes(), "expected value"),
    ] {
        let problem = post(body).await.is_problem(400, "BAD_JSON");
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{problem}");
    }
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_is_there_twice_is_refused() {
    let stage = Stage::new().await;
    for body in [
        r#"{"skill": "survey", "prompt": "x", "prompt": "y"}"#,
        r#"{"skill": "survey", "input": {"deep": [{"a": 1, "a": 2}]}}"#,
    ] {
        let problem = stage.call(Method::POST, "/v1/runs").body(body).send().await;
        let problem = problem.is_problem(400, "BAD_JSON");
        assert!(problem["detail"].as_str().unwrap().contains("is there twice"), "{problem}");
    }
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_another_kind_is_not_guessed_at() {
    let stage = Stage::new().await;
    let send = |path: &'static str, kind: &'static str| {
        stage.call(Method::POST, path).header("content-type", kind).body("{}").send()
    };
    let reply = "/v1/runs/run_01h455vb4pex5vsknk084sn02q/reply";
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "\u{1f600}"] {
        send("/v1/runs", kind).await.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
        send(reply, kind).await.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    send(reply, "multipart/form-data; boundary=x").await.is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    send("/v1/runs", "Application/JSON; charset=utf-8").await.is_problem(422, "INVALID");
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_too_long_is_refused_before_it_is_read() {
    let stage = Stage::new().await;
    // It says so beforehand, and sends nothing of it.
    let answer = request(&stage, "POST /v1/runs HTTP/1.1", "Content-Length: 99999999999\r\n", b"").await;
    assert!(status(&answer) == "413" && answer.contains("BODY_TOO_LARGE"), "{answer}");
    // It does not say so, and does not end.
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20)).repeat(6);
    let answer =
        request(&stage, "POST /v1/runs HTTP/1.1", "Transfer-Encoding: chunked\r\n", chunk.as_bytes()).await;
    // Its answer may be lost on a connection that the client still writes to.
    assert!(["413", ""].contains(&status(&answer)), "{answer}");
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out_of_a_workspace() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    fs::write(stage.data().join("secret"), "secret").unwrap();
    fs::write(run.work().join("mine"), "mine").unwrap();
    fs::create_dir(run.work().join("folder")).unwrap();
    symlink(stage.data().join("secret"), run.work().join("absolute")).unwrap();
    symlink("../../../secret", run.work().join("relative")).unwrap();
    symlink("../../..", run.work().join("up")).unwrap();
    symlink("/proc/self/root", run.work().join("root")).unwrap();
    for path in [
        "../../../secret",
        "%2e%2e%2f%2e%2e%2f%2e%2e%2fsecret",
        "..%2f..%2f..%2fsecret",
        "%2e%2e/%2e%2e/%2e%2e/secret",
        "folder/../../../../secret",
        "..\\..\\secret",
        "%252e%252e%252fsecret",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "mine%00",
        "mine%00.txt",
        "absolute",
        "relative",
        "up/secret",
        "root/etc/passwd",
        "folder",
        "folder/",
        "mine/",
        "mine/x",
        ".",
        "%2e",
    ] {
        let line = format!("GET {} HTTP/1.1", run.path(&format!("/files/{path}")));
        let answer = request(&stage, &line, "", b"").await;
        assert!(status(&answer) == "404" && answer.contains("UNKNOWN_FILE"), "{path}: {answer}");
    }
    let not_text = request(&stage, &format!("GET {} HTTP/1.1", run.path("/files/%ff")), "", b"").await;
    assert!(status(&not_text) == "400" && not_text.contains("BAD_REQUEST"), "{not_text}");
    assert_eq!(stage.get(&run.path("/files/mine")).await.body, "mine");
    for name in ["..%2Fsurvey", "%2e%2e", "survey%00", "%2Fetc"] {
        stage.get(&format!("/v1/skills/{name}")).await.is_problem(404, "UNKNOWN_SKILL");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_is_too_long_is_refused() {
    let stage = Stage::new().await;
    let long = "x".repeat(200_000);
    let uri = request(&stage, &format!("GET /{long} HTTP/1.1"), "", b"").await;
    assert!(["414", "431"].contains(&status(&uri)), "{uri}");
    let header = request(&stage, "GET /v1/runs HTTP/1.1", &format!("X: {long}\r\n"), b"").await;
    assert_eq!(status(&header), "431", "{header}");
    let mut many = String::new();
    for number in 0..200 {
        write!(many, "X-{number}: y\r\n").unwrap();
    }
    let many = request(&stage, "GET /v1/runs HTTP/1.1", &many, b"").await;
    assert_eq!(status(&many), "431", "{many}");
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_refused() {
    let stage = Stage::new().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nHo st: x\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"POST /v1/runs HTTP/1.1\r\nContent-Length: nine\r\n\r\n{}",
        b"POST /v1/runs HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n\r\n\r\nhello?\r\n\r\n",
    ] {
        let answer = raw(&stage, garbage).await;
        assert!(["400", ""].contains(&status(&answer)), "{garbage:?}: {answer}");
    }
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_whose_chunks_are_broken_is_answered() {
    let stage = Stage::new().await;
    for body in ["zz\r\n{}\r\n0\r\n\r\n", "2\r\n{}3\r\n", "ffffffffffffffffff\r\n{}"] {
        let chunked = "Transfer-Encoding: chunked\r\n";
        let answer = request(&stage, "POST /v1/runs HTTP/1.1", chunked, body.as_bytes()).await;
        assert!(status(&answer) == "400" && answer.contains("BAD_REQUEST"), "{body:?}: {answer}");
    }
    still_serves(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_clients_and_hasty_ones_are_served() {
    let stage = Stage::new().await;
    let old =
        raw(&stage, format!("GET /healthz HTTP/1.0\r\nHost: {}\r\n\r\n", stage.address).as_bytes()).await;
    assert!(old.starts_with("HTTP/1.0 200") && old.ends_with("{\"status\":\"ok\"}"), "{old}");
    let nameless = raw(&stage, b"GET /healthz HTTP/1.0\r\n\r\n").await;
    assert!(status(&nameless) == "403" && nameless.contains("FOREIGN_HOST"), "{nameless}");

    // Three requests before the first answer: the answers come in order.
    let line =
        |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", stage.address);
    let all = [line("/healthz", ""), line("/v2", ""), line("/readyz", "Connection: close\r\n")].concat();
    let answers = raw(&stage, all.as_bytes()).await;
    let order = ["\"ok\"", "UNKNOWN_ROUTE", "\"ready\""].map(|part| answers.find(part));
    assert!(order.is_sorted() && order.iter().all(Option::is_some), "{answers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_finish_keep_nobody_else_waiting() {
    let stage = Stage::new().await;
    let mut dribbling = Vec::new();
    for part in ["GET /healthz HTT", "POST /v1/runs HTTP/1.1\r\nHost: x\r\nX-A: b\r\n"] {
        for _ in 0..100 {
            let mut client = within(TcpStream::connect(stage.address)).await.unwrap();
            client.write_all(part.as_bytes()).await.unwrap();
            dribbling.push(client);
        }
    }
    still_serves(&stage).await;
}
