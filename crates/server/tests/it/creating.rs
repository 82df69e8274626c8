//! What has to be right before a run comes to be, and what has not.

use std::fs;

use hyper::Method;
use serde_json::{Value, json};

use crate::client::Answer;
use crate::stage::Stage;

async fn keyed(stage: &Stage, body: &Value) -> Answer {
    stage.call(Method::POST, "/v1/runs").header("idempotency-key", "k").json(body).send().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_sent_again_is_known_also_when_its_skill_is_gone() {
    let stage = Stage::new().await;
    let body = Stage::request(json!({ "labels": { "a": "1" } }));
    let first = keyed(&stage, &body).await.is(201);
    fs::remove_dir_all(stage.folder().join("skills/survey")).unwrap();
    assert_eq!(keyed(&stage, &body).await.is(201)["run_id"], first["run_id"]);
    keyed(&stage, &Stage::request(json!({}))).await.is_problem(409, "KEY_REUSED");
    stage.post("/v1/runs", &body).await.is_problem(422, "SKILL_UNUSABLE");
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_network_a_skill_is_named_and_folders_are_not() {
    let stage = Stage::new().await;
    let survey = stage.folder().join("skills/survey").display().to_string();
    for path in [survey.as_str(), "./survey", "../skills/survey", "skills/survey"] {
        let problem = stage.post("/v1/runs", &Stage::request(json!({ "skill": path }))).await;
        assert_eq!(problem.is_problem(422, "INVALID")["errors"][0]["path"], "/skill", "{path}");
    }
    // A folder of where the server works, which has no slash in its name.
    assert!(std::path::Path::new("src").is_dir());
    for name in ["src", "..", ""] {
        let answer = stage.post("/v1/runs", &Stage::request(json!({ "skill": name }))).await;
        answer.is_problem(422, "SKILL_UNUSABLE");
    }
    for key in ["workspace", "record", "files"] {
        let problem = stage.post("/v1/runs", &Stage::request(json!({ key: "/tmp" }))).await;
        assert_eq!(problem.is_problem(422, "INVALID")["errors"][0]["path"], format!("/{key}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_cannot_be_continued_is_told_from_one_that_is_not_there() {
    let stage = Stage::new().await;
    let post = async |continues: &str| {
        stage.post("/v1/runs", &Stage::request(json!({ "continues": continues }))).await
    };
    let nobody = post("run_01h455vb4pex5vsknk084sn02q").await.is_problem(422, "INVALID");
    assert_eq!(nobody["errors"][0]["path"], "/continues");
    let run = stage.start(json!({})).await;
    post(&run.id).await.is_problem(409, "NOT_CONTINUABLE");
    run.finishes(1).await;
    run.becomes("succeeded").await;
    fs::remove_dir_all(run.work()).unwrap();
    post(&run.id).await.is_problem(409, "NOT_CONTINUABLE");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_that_cannot_be_copied_is_the_fault_of_the_skill() {
    let stage = Stage::new().await;
    std::os::unix::fs::symlink("/etc", stage.folder().join("skills/survey/etc")).unwrap();
    let problem = stage.post("/v1/runs", &Stage::request(json!({}))).await.is_problem(422, "SKILL_UNUSABLE");
    assert!(problem["detail"].as_str().unwrap().contains("`etc` is a link"), "{problem}");
}
