//! The table of that API, row by row.

use hyper::Method;
use serde_json::{Value, json};

use super::chat::Chat;
use super::{request, send};
use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_sent_asks_is_answered_and_has_a_result() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    stage.get(&job.path("/result")).await.is_problem(409, "NOT_FINISHED");
    job.run.asks(1).await;
    let shown = job.get("").await;
    assert_eq!(shown["status"], "waiting_user");
    assert_eq!((&shown["pending_interaction_id"], &shown["interaction_count"]), (&json!(1), &json!(1)));
    let pending = job.get("/interaction/pending").await;
    assert_eq!(pending["pending"], shown["pending_payload"]);
    assert_eq!(
        (&pending["status"], &pending["pending_owner"]),
        (&json!("waiting_user"), &json!("waiting_user"))
    );
    let question = &pending["pending"];
    assert_eq!(
        (&question["interaction_id"], &question["kind"], &question["prompt"], &question["source_attempt"]),
        (&json!(1), &json!("open_text"), &json!("Which database?"), &json!(1))
    );
    for (key, empty) in [("options", json!([])), ("required_fields", json!([]))] {
        assert_eq!(question[key], empty, "{key}");
    }
    let answer = json!({ "mode": "interaction", "interaction_id": 1, "response": "SQLite" });
    let accepted = job.reply(answer).await.is(200);
    assert_eq!((&accepted["accepted"], &accepted["mode"]), (&json!(true), &json!("interaction")));
    job.run.finishes(2).await;
    job.run.becomes("succeeded").await;
    let expected = json!({
        "request_id": job.id,
        "result": {
            "status": "success", "data": { "answer": "done" }, "success_source": "done_marker", "artifacts": [],
            "repair_level": "none", "validation_warnings": [], "error": null,
        },
    });
    assert_eq!(job.get("/result").await, expected);
    assert_eq!(
        job.get("/interaction/pending").await,
        json!({ "request_id": job.id, "status": "succeeded", "pending": null, "pending_owner": null })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_shows_what_was_asked_for_and_what_became_of_it() {
    let stage = Stage::new().await;
    let options = json!({
        "execution_mode": "interactive", "interactive_auto_reply": true, "interactive_reply_timeout_sec": 60,
        "hard_timeout_seconds": 90,
    });
    let job = send(&stage, json!({ "runtime_options": options })).await;
    job.run.at_turn(1).await;
    let mut shown = job.get("").await;
    for key in ["created_at", "updated_at"] {
        assert!(shown[key].take().as_str().unwrap().ends_with('Z'), "{key}");
    }
    let expected = json!({
        "request_id": job.id, "status": "running", "skill_id": "survey", "engine": "scripted", "created_at": null,
        "updated_at": null, "warnings": [], "error": null, "pending_interaction_id": null, "pending_payload": null,
        "interaction_count": 0, "auto_decision_count": 0, "current_attempt": 1,
        "requested_execution_mode": "interactive", "effective_execution_mode": "interactive",
        "conversation_mode": "session", "interactive_auto_reply": true, "interactive_reply_timeout_sec": 60,
        "recovery_state": "none", "recovered_at": null, "recovery_reason": null,
    });
    assert_eq!(shown, expected);
    let run = job.run.show().await;
    assert_eq!(
        (&run["interactive_require_user_reply"], &run["session_timeout_sec"]),
        (&json!(false), &json!(60))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_take_questions_gets_a_run_that_does_not_ask() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({ "client_metadata": { "conversation_mode": "non_session" } })).await;
    let shown = job.get("").await;
    assert_eq!(
        (&shown["requested_execution_mode"], &shown["effective_execution_mode"], &shown["conversation_mode"]),
        (&json!("interactive"), &json!("auto"), &json!("non_session"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_done_as_asked_is_refused_and_says_where() {
    let stage = Stage::new().await;
    for (more, path) in [
        (json!({ "runtime_options": { "verbose": true } }), "/runtime_options/verbose"),
        (json!({ "runtime_options": { "env": { "A": "b" } } }), "/runtime_options/env"),
        (json!({ "runtime_options": { "no_cache": "yes" } }), "/runtime_options/no_cache"),
        (json!({ "runtime_options": { "execution_mode": "slow" } }), "/runtime_options/execution_mode"),
        (
            json!({ "runtime_options": { "interactive_reply_timeout_sec": 0 } }),
            "/runtime_options/interactive_reply_timeout_sec",
        ),
        (
            json!({ "runtime_options": { "interactive_auto_reply": "no" } }),
            "/runtime_options/interactive_auto_reply",
        ),
        (json!({ "runtime_options": [] }), "/runtime_options"),
        (json!({ "model": "gpt-5" }), "/model"),
        (json!({ "engine": "nobody" }), "/engine"),
        (json!({ "engine": 5 }), "/engine"),
        (json!({ "upload": 1 }), "/upload"),
        (json!({ "client_metadata": { "conversation_mode": "?" } }), "/client_metadata/conversation_mode"),
    ] {
        let problem = stage.post("/v1/jobs", &request(more)).await.is_problem(400, "BAD_REQUEST");
        assert_eq!(problem["errors"][0]["path"], path, "{problem}");
    }
    stage.post("/v1/jobs", &json!({ "engine": "scripted" })).await.is_problem(422, "INVALID");
    stage.post("/v1/jobs", &json!([])).await.is_problem(422, "INVALID");
    stage.call(Method::POST, "/v1/jobs").body("{").send().await.is_problem(400, "BAD_JSON");
    for unknown in ["surwey", "../skills/survey", "/"] {
        let sent = stage.post("/v1/jobs", &request(json!({ "skill_id": unknown }))).await;
        sent.is_problem(404, "UNKNOWN_SKILL");
    }
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"], json!([]));
    assert_eq!(std::fs::read_dir(stage.data().join("runs")).map_or(0, Iterator::count), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_counts_once_and_another_one_does_not() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    let reply = |id: u32, text: &str, key: Value| {
        job.reply(
            json!({ "mode": "interaction", "interaction_id": id, "response": text, "idempotency_key": key }),
        )
    };
    job.run.at_turn(1).await;
    reply(1, "SQLite", Value::Null).await.is_problem(409, "NOT_OPEN");
    job.run.asks(1).await;
    reply(2, "SQLite", Value::Null).await.is_problem(409, "NOT_OPEN");
    reply(1, " ", Value::Null).await.is_problem(422, "INVALID");
    reply(1, "SQLite", json!("")).await.is_problem(422, "INVALID");
    job.reply(json!({ "mode": "auth", "interaction_id": 1 })).await.is_problem(422, "INVALID");
    reply(1, "SQLite", json!("k")).await.is(200);
    reply(1, "SQLite", json!("k")).await.is(200);
    reply(1, "Postgres", json!("k")).await.is_problem(409, "KEY_REUSED");
    reply(1, "Postgres", Value::Null).await.is_problem(409, "NOT_OPEN");
    job.run.finishes(2).await;
    job.run.becomes("succeeded").await;
    assert_eq!(job.get("").await["current_attempt"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_says_whether_there_was_something_to_cancel() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    job.run.asks(1).await;
    let first = job.cancel().await;
    assert_eq!(
        (&first["accepted"], &first["status"], &first["run_id"]),
        (&json!(true), &json!("canceled"), &json!(job.id))
    );
    let second = job.cancel().await;
    assert_eq!((&second["accepted"], &second["status"]), (&json!(false), &json!("canceled")));
    assert_eq!(job.get("/result").await["result"]["status"], "canceled");
    let none = "/v1/jobs/run_01h455vb4pex5vsknk084sn02q";
    stage.post(&format!("{none}/cancel"), &json!({})).await.is_problem(404, "UNKNOWN_RUN");
    for rest in ["", "/result", "/events", "/events/history", "/interaction/pending"] {
        stage.get(&format!("{none}{rest}")).await.is_problem(404, "UNKNOWN_RUN");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_events_follow_a_snapshot_and_begin_behind_the_cursor() {
    let stage = Stage::new().await;
    let job = send(&stage, json!({})).await;
    job.run.asks(1).await;
    let mut chat = Chat::open(&stage, &job.path("/events?cursor=1")).await;
    let snapshot = chat.next().await.unwrap();
    let expected = json!({ "status": "waiting_user", "cursor": 1, "pending_interaction_id": 1 });
    assert_eq!((snapshot.name.as_str(), snapshot.data), ("snapshot", expected));
    let mut seen = chat.until("waiting_user").await;
    // It stays open while the job waits.
    job.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(200);
    job.run.finishes(2).await;
    seen.extend(chat.until("succeeded").await);
    assert_eq!(chat.next().await, None);
    assert!(seen.iter().all(|event| event.name == "chat_event"));
    let all = job.get("/events/history").await;
    let ceiling = all["cursor_ceiling"].as_u64().unwrap();
    assert_eq!(
        seen.iter().map(|event| event.id.unwrap()).collect::<Vec<_>>(),
        (2..=ceiling).collect::<Vec<_>>()
    );
    assert_eq!(seen.iter().map(|event| &event.data).collect::<Vec<_>>(), {
        all["events"].as_array().unwrap()[1..].iter().collect::<Vec<_>>()
    });
    assert_eq!((&all["count"], &all["cursor_floor"]), (&json!(ceiling), &json!(1)));
    let some = job.get("/events/history?from_seq=2&to_seq=3").await;
    assert_eq!(some["events"], json!(all["events"].as_array().unwrap()[1..3]));

    // Whoever asks at the end is told so; a browser that saw it is told not to come back.
    let mut over = Chat::open(&stage, &job.path(&format!("/events?cursor={ceiling}"))).await;
    assert_eq!(over.next().await.unwrap().data["status"], "succeeded");
    assert_eq!(over.next().await, None);
    let back = stage.call(Method::GET, &job.path("/events")).header("last-event-id", &ceiling.to_string());
    assert_eq!(back.send().await.status, 204);
    stage.get(&job.path("/events?after=3")).await.is_problem(400, "BAD_REQUEST");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_can_be_pinged_and_its_skills_have_ids() {
    let stage = Stage::new().await;
    assert_eq!(stage.get("/v1/skills").await.is(200)["items"][0]["id"], "survey");
    assert_eq!(stage.get("/v1/skills/survey").await.is(200)["id"], "survey");
    let pinged = stage.get("/v1/system/ping").await;
    assert_eq!((pinged.status.as_u16(), pinged.body.len()), (204, 0));
}
