//! What goes wrong in the original, and does not here.

use hyper::Method;
use serde_json::json;

use super::{request, send};
use crate::client::Call;
use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_canceled_while_it_waits_says_so_in_its_events() {
    let stage = Stage::with("[slots]\ntotal = 1").await;
    let waiting = send(&stage, json!({})).await;
    waiting.run.asks(1).await;
    let running = send(&stage, json!({})).await;
    running.run.at_turn(1).await;
    let queued = send(&stage, json!({})).await;
    for job in [&waiting, &queued] {
        job.cancel().await;
        assert_eq!(job.story().await.last().unwrap(), "canceled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_canceled_during_a_repair_stays_canceled() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    job.run.says(1, &json!({ "__SKILL_DONE__": true, "answer": 5 })).await;
    // The agent is asked again, and is at work when the cancel comes.
    job.run.at_turn(2).await;
    assert_eq!(job.get("").await["current_attempt"], 1);
    job.cancel().await;
    job.run.becomes("canceled").await;
    let shown = job.get("").await;
    assert_eq!((&shown["status"], &shown["pending_payload"]), (&json!("canceled"), &json!(null)));
    assert_eq!(job.story().await.iter().filter(|word| *word == "canceled").count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_auto_decision_is_told_and_so_is_what_it_caused() {
    let stage = Stage::new().await;
    let options = json!({ "interactive_auto_reply": true, "interactive_reply_timeout_sec": 60 });
    let job = send(&stage, json!({ "runtime_options": options })).await;
    job.run.asks(1).await;
    stage.advance(61);
    job.run.finishes(2).await;
    job.run.becomes("succeeded").await;
    let story = job.story().await;
    let decided = story.iter().position(|word| word == "interaction.auto_decide.timeout").unwrap();
    assert_eq!(story[decided + 1], "queued");
    assert_eq!(job.get("").await["auto_decision_count"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_job_survives_a_restart_with_its_deadline() {
    let stage = Stage::new().await;
    let options = json!({ "interactive_auto_reply": true, "interactive_reply_timeout_sec": 60 });
    let id = {
        let job = send(&stage, json!({ "runtime_options": options })).await;
        job.run.asks(1).await;
        job.id
    };
    let stage = stage.restarted().await;
    let job = super::Job { stage: &stage, run: stage.actor(&id), id: id.clone() };
    job.run.events(None).await.until(|frame| frame["data"]["trigger"] == "restart.preserve_waiting").await;
    let shown = job.get("").await;
    assert_eq!(
        (&shown["status"], &shown["recovery_state"], &shown["recovery_reason"]),
        (&json!("waiting_user"), &json!("recovered_waiting"), &json!("restart.preserve_waiting"))
    );
    assert!(shown["recovered_at"].is_string());
    stage.advance(61);
    job.run.finishes(2).await;
    job.run.becomes("succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_takes_nothing_and_reading_starts_nothing() {
    let stage = Stage::with("[slots]\ntotal = 1\nqueue_max = 1").await;
    let running = send(&stage, json!({})).await;
    running.run.at_turn(1).await;
    let queued = send(&stage, json!({})).await;
    for _ in 0..3 {
        stage.post("/v1/jobs", &request(json!({}))).await.is_problem(429, "QUEUE_FULL");
    }
    for rest in ["", "/interaction/pending", "/events/history"] {
        for _ in 0..3 {
            queued.get(rest).await;
        }
    }
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"].as_array().unwrap().len(), 2);
    assert_eq!(std::fs::read_dir(stage.data().join("runs")).unwrap().count(), 2);
    assert_eq!(queued.get("").await["current_attempt"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_question_is_in_the_event_that_asks_it() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    job.run.asks(1).await;
    let history = job.get("/events/history").await;
    let asked = history["events"].as_array().unwrap().iter().find(|it| it["type"] == "user.input.required");
    assert_eq!(asked.unwrap()["data"]["prompt"], "Which database?");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_failure_has_a_code() {
    let stage = Stage::new().await;
    let failed = send(&stage, json!({})).await;
    failed.run.turn(1, "exit 3").await;
    let invalid = send(&stage, json!({ "runtime_options": { "execution_mode": "auto" } })).await;
    for turn in 1..=4 {
        invalid.run.says(turn, &json!({ "__SKILL_DONE__": true, "answer": 5 })).await;
    }
    for (job, code) in [(&failed, "ENGINE_EXIT_NONZERO"), (&invalid, "OUTPUT_SCHEMA_INVALID")] {
        job.run.becomes("failed").await;
        let result = job.get("/result").await["result"].clone();
        assert_eq!((&result["status"], &result["error"]["code"]), (&json!("failed"), &json!(code)));
        assert_eq!(job.get("").await["error"], result["error"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_valid_answer_that_lacks_the_marker_is_taken_as_it_is() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    job.run.says(1, &json!({ "answer": "done" })).await;
    job.run.becomes("succeeded").await;
    let result = job.get("/result").await["result"].clone();
    assert_eq!(
        (&result["status"], &result["success_source"]),
        (&json!("success"), &json!("soft_completion"))
    );
    assert_eq!(result["validation_warnings"], json!(["INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER"]));
    assert!(!job.run.work().join("prompt.2").exists(), "the agent was asked again");
    assert_eq!(job.story().await.last().unwrap(), "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_is_a_file_of_the_workspace_and_never_another() {
    let stage = Stage::new().await;
    stage.write(
        "skills/report/SKILL.md",
        "---\nname: report\ndescription: Writes a report.\n---\nWrite a report.\n",
    );
    stage.write(
        "skills/report/assets/output.schema.json",
        r#"{"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "x-type": "artifact"}}}"#,
    );
    stage.write("secret.txt", "secret");
    let secret = stage.data().parent().unwrap().join("secret.txt");
    let done = |file: &str| {
        format!(
            "echo hello >report.md; cat <<'END'\n{}\nEND\n",
            json!({ "__SKILL_DONE__": true, "file": file })
        )
    };
    let job = send(&stage, json!({ "skill_id": "report" })).await;
    job.run.turn(1, &done(secret.to_str().unwrap())).await;
    job.run.turn(2, &done("../workspace.json")).await;
    job.run.turn(3, &done("report.md")).await;
    job.run.becomes("succeeded").await;
    let result = job.get("/result").await["result"].clone();
    assert_eq!((&result["artifacts"], &result["repair_level"]), (&json!(["report.md"]), &json!("agent")));
    assert!(secret.exists(), "a file of the host was moved");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_another_origin_cannot_send_a_job() {
    let stage = Stage::new().await;
    let foreign =
        |path: &str| Call::new(stage.address, Method::POST, path).header("origin", "http://evil.example");
    foreign("/v1/jobs").json(&request(json!({}))).send().await.is_problem(403, "FOREIGN_ORIGIN");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
}
