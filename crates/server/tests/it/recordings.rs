//! Recordings over HTTP: one is played where it was asked for, and never in place of an agent that is not there.

use std::fs;

use hyper::Method;
use serde_json::{Value, json};

use crate::stage::Stage;

const RECORDING: &str = r#"{"adjourn_recording":1}
{"turn":1,"asked":{"run":"run_01m7fgsgg2ejpsxahmnh5zssf3","attempt":1,"handle":null,"prompt_sha256":"00"}}
{"turn":1,"at_ms":1,"seen":{"fact":{"handle":"recorded"}}}
{"turn":1,"at_ms":2,"ended":{"completed":{"text":"{\"__SKILL_DONE__\": true, \"answer\": \"recorded\"}"}}}
"#;

/// A server on a machine without an agent, whose skill carries a recording.
async fn without_agents() -> Stage {
    let stage = Stage::new().await;
    stage.write("skills/survey/assets/recording.jsonl", RECORDING);
    fs::remove_file(stage.folder().join("agent")).unwrap();
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_agent_a_request_is_refused_and_no_recording_answers_it() {
    let stage = without_agents().await;
    for more in [json!({}), json!({ "input": { "text": "mine" } }), json!({ "execution_mode": "auto" })] {
        let mut request = json!({ "skill": "survey" });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let problem = stage.post("/v1/runs", &request).await.is_problem(422, "ENGINE_NOT_FOUND");
        let said = problem["errors"][0]["message"].as_str().unwrap();
        assert_eq!(problem["errors"][0]["path"], "/engine");
        assert!(said.contains("claude") && said.contains("`engine: replay`"), "{said}");
    }
    let job = stage.post("/v1/jobs", &json!({ "skill_id": "survey" })).await;
    assert_eq!(job.is_problem(400, "BAD_REQUEST")["errors"][0]["path"], "/engine");
    let call = json!({ "name": "start_run", "arguments": { "skill": "survey" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let asked = stage.call(Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
    let told = asked.header("content-type", "application/json").json(&call).send().await.is(200);
    assert_eq!(told["result"]["structuredContent"]["code"], "ENGINE_NOT_FOUND", "{told}");
    let opened = stage.post("/v1/roundtables", &json!({ "subject": "a shop" })).await;
    opened.is_problem(422, "ENGINE_NOT_FOUND");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
    assert_eq!(stage.get("/v1/roundtables").await.is(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roundtable_whose_workflow_names_every_engine_needs_no_other() {
    let stage = without_agents().await;
    let yaml = |facilitator: &str| {
        format!(
            "name: small\nfacilitator: {{{facilitator}}}\nparticipants: [{{role: qa, engine: scripted}}]\nagenda:\n\
             - {{topic_id: a, title: A, done_when: {{criteria: [It is said]}}}}\n"
        )
    };
    let open = async |yaml: String, more: Value| {
        let mut request = json!({ "subject": "a shop", "workflow": { "yaml": yaml } });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.post("/v1/roundtables", &request).await
    };
    open(yaml("engine: scripted"), json!({})).await.is(201);
    open(yaml(""), json!({ "engines": { "facilitator": "scripted" } })).await.is(201);
    let problem = open(yaml(""), json!({})).await.is_problem(422, "ENGINE_NOT_FOUND");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 1, "said once: {problem}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_that_was_asked_for_is_played_and_the_run_says_so() {
    let stage = without_agents().await;
    let request = json!({ "skill": "survey", "engine": "replay", "execution_mode": "auto" });
    let run = stage.post("/v1/runs", &request).await.is(201);
    let actor = stage.actor(run["run_id"].as_str().unwrap());
    actor.becomes("succeeded").await;
    let run = actor.show().await;
    assert_eq!(run["result"], json!({ "answer": "recorded" }));
    let codes: Vec<_> =
        run["warnings"].as_array().unwrap().iter().map(|warning: &Value| warning["code"].clone()).collect();
    assert_eq!(codes, ["RECORDING_PLAYED"]);
}
