//! Requests that are wrong, and routes that only show something.

use hyper::Method;
use serde_json::json;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_body_is_a_problem_and_creates_nothing() {
    let stage = Stage::new().await;
    let post = || stage.call(Method::POST, "/v1/runs");
    let problem = post().body("{\n  \"skill\": oops}").send().await.is_problem(400, "BAD_JSON");
    assert!(problem["detail"].as_str().unwrap().contains("line 2 column 12"), "{problem}");
    post().send().await.is_problem(400, "BAD_JSON");
    post().body(vec![b' '; 5 * 1024 * 1024]).send().await.is_problem(413, "BODY_TOO_LARGE");
    post()
        .header("content-type", "text/plain")
        .body("{}")
        .send()
        .await
        .is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
    post()
        .header("idempotency-key", "")
        .json(&Stage::request(json!({})))
        .send()
        .await
        .is_problem(400, "BAD_REQUEST");

    let problem =
        stage.post("/v1/runs", &json!({ "skil": "survey", "labels": 3 })).await.is_problem(422, "INVALID");
    let paths: Vec<_> =
        problem["errors"].as_array().unwrap().iter().map(|error| error["path"].clone()).collect();
    assert_eq!(paths, ["/skil", "/labels"]);
    let unknown = stage.post("/v1/runs", &json!({ "skill": "surwey" })).await;
    assert_eq!(unknown.is_problem(422, "SKILL_UNUSABLE")["errors"][0]["path"], "/skill");
    assert_eq!(stage.get("/v1/runs").await.is(200), json!({ "items": [], "next_cursor": null }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_none_says_what_is_missing() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    let reply = |body| run.reply(body);
    for (body, path) in [
        (json!([]), ""),
        (json!({ "response": "SQLite" }), "/interaction_id"),
        (json!({ "interaction_id": "one" }), "/interaction_id"),
        (json!({ "interaction_id": 1, "action": "maybe" }), "/action"),
        (json!({ "interaction_id": 1, "answer": "SQLite" }), "/answer"),
    ] {
        let problem = reply(body).await.is_problem(422, "INVALID");
        assert_eq!(problem["errors"][0]["path"], path, "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_a_problem_too() {
    let stage = Stage::new().await;
    stage.get("/v2").await.is_problem(404, "UNKNOWN_ROUTE");
    let method = stage.call(Method::DELETE, "/v1/runs").send().await;
    method.is_problem(405, "METHOD_NOT_ALLOWED");
    assert_eq!(method.headers["allow"], "POST,GET,HEAD");
    let problem = stage.get("/v1/runs/7").await.is_problem(404, "UNKNOWN_RUN");
    assert!(problem["detail"].as_str().unwrap().contains("`7` is not a run id"), "{problem}");
    for rest in ["", "/events", "/files", "/files/a", "/result", "/interactions", "/contracts"] {
        let path = format!("/v1/runs/run_01h455vb4pex5vsknk084sn02q{rest}");
        stage.get(&path).await.is_problem(404, "UNKNOWN_RUN");
    }
    for bad in ["?stauts=queued", "?status=sleeping", "?limit=0", "?limit=many", "?cursor=x", "?label=x"] {
        stage.get(&format!("/v1/runs{bad}")).await.is_problem(400, "BAD_REQUEST");
    }
    stage.get("/v1/inbox?cursor=1.2").await.is_problem(400, "BAD_REQUEST");
    stage.get("/v1/statecharts/nothing").await.is_problem(404, "UNKNOWN_MACHINE");
    let last = stage.call(Method::GET, "/v1/events").header("last-event-id", "x").send().await;
    last.is_problem(400, "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_to_work_with_is_shown() {
    let stage = Stage::new().await;
    assert_eq!(stage.get("/readyz").await.is(200)["status"], "ready");
    let skill = &stage.get("/v1/skills").await.is(200)["items"][0];
    assert_eq!((&skill["name"], &skill["description"]), (&json!("survey"), &json!("Asks people.")));
    let engines = stage.get("/v1/engines").await.is(200);
    let scripted = json!({
        "name": "scripted", "kind": "exec", "installed": true, "sandbox": "namespaces, Landlock, seccomp"
    });
    assert!(engines["items"].as_array().unwrap().contains(&scripted), "{engines}");
    assert_eq!(stage.get("/v1/statecharts").await.is(200)["items"][0]["name"], "run");
    assert_eq!(stage.get("/v1/statecharts/run").await.is(200)["name"], "run");
    let drawing = stage.get("/v1/statecharts/run?format=svg").await;
    assert_eq!(drawing.headers["content-type"], "image/svg+xml");
}
