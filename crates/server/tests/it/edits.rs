//! Approvals that are answered with other arguments, over HTTP.

use std::fs;

use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::{Actor, Stage};

const SECRET: &str = "c0reOfTheSecret";

/// The tool server of the tests. Cargo builds examples with the tests, and puts them here.
fn tool_server() -> String {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/server_mcp_server").display().to_string()
}

/// A stage whose engine thinks for itself, and whose tools write what they did into `world`.
async fn stage(model: &ModelServer, world: &std::path::Path) -> Stage {
    let settings = format!(
        "[engines.thinks]\nkind = \"reasoning\"\napi = \"openai\"\nbase_url = \"{}/v1\"\nmodel = \"scripted\"\n\
         [tools.world]\ncommand = {}\nirreversible = [\"count\"]\napprove = [\"count\"]\n",
        model.url(),
        json!([tool_server(), world])
    );
    let stage = Stage::with(&settings).await;
    let runner = json!({ "id": "survey", "execution_modes": ["interactive", "auto"], "tools": ["world"] });
    stage.write("skills/survey/assets/runner.json", &runner.to_string());
    stage
}

fn model() -> ModelServer {
    let done = Reply::text(json!({ "__SKILL_DONE__": true, "answer": "done" }).to_string());
    ModelServer::start(Script::new([Reply::call("count", json!({ "text": "ann" })), done])).unwrap()
}

fn edit(arguments: &Value) -> Value {
    json!({ "interaction_id": 1, "action": "edit", "response": arguments })
}

async fn shown(stage: &Stage, run: &Actor<'_>) -> String {
    let mut shown = String::new();
    for path in ["", "/interactions", "/contracts", "/trace", "/graph", "/result", "/events"] {
        let answer =
            stage.call(hyper::Method::GET, &run.path(path)).header("accept", "application/json").send().await;
        assert_eq!(answer.status, 200, "{path}");
        shown += &String::from_utf8_lossy(&answer.body);
    }
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_15_a_secret_in_an_edit_is_in_no_answer_no_stream_and_no_database() {
    let (model, world) = (model(), tempfile::tempdir().unwrap());
    let stage = stage(&model, world.path()).await;
    let run = stage.start(json!({ "engine": "thinks", "input": { "api_key": SECRET } })).await;
    run.becomes("waiting_user").await;
    let accepted = run.reply(edit(&json!({ "text": format!("send {SECRET}") }))).await;
    assert_eq!(accepted.status, 202);
    let mut told = String::from_utf8_lossy(&accepted.body).into_owned();
    let mut events = run.events(None).await;
    let mut frames = Vec::new();
    events
        .until(|frame| {
            frames.push(frame.clone());
            frame["data"]["to"] == "succeeded"
        })
        .await;
    told += &json!(frames).to_string();
    told += &shown(&stage, &run).await;
    assert!(told.contains("send ⟦masked⟧"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
    assert_eq!(fs::read_to_string(world.path().join("effects")).unwrap(), format!("send {SECRET}\n"));

    for file in fs::read_dir(stage.data()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.is_file() {
            let bytes = fs::read(&file).unwrap();
            let is_there = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
            assert!(!is_there, "{}", file.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_04_an_edit_that_the_tool_does_not_take_is_422_and_the_question_stays_open() {
    let (model, world) = (model(), tempfile::tempdir().unwrap());
    let stage = stage(&model, world.path()).await;
    let run = stage.start(json!({ "engine": "thinks" })).await;
    run.becomes("waiting_user").await;
    let refused = run.reply(edit(&json!({ "text": 7 }))).await.is_problem(422, "INVALID");
    assert_eq!(refused["errors"][0]["path"], "/response/text");
    assert_eq!(run.show().await["open_interactions"], json!([1]));
    run.reply(edit(&json!({ "text": "bob" }))).await.is(202);
    run.becomes("succeeded").await;
    assert_eq!(fs::read_to_string(world.path().join("effects")).unwrap(), "bob\n");
}
