//! Runs over HTTP: from their creation to their end.

use hyper::Method;
use serde_json::json;

use crate::client::in_short;
use crate::stage::Stage;

const ANSWER: &str = "SQLite";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_created_asks_is_answered_and_has_a_result() {
    let stage = Stage::new().await;
    let run = stage.start(json!({ "labels": { "team": "blue" } })).await;
    run.at_turn(1).await;
    stage.get(&run.path("/result")).await.is_problem(409, "NOT_FINISHED");
    run.asks(1).await;
    let inbox = stage.get("/v1/inbox").await.is(200);
    assert_eq!(inbox["items"][0]["run_id"], run.id.as_str());
    assert_eq!(inbox["items"][0]["prompt"], "Which database?");
    let view = run.reply(json!({ "interaction_id": 1, "response": ANSWER })).await.is(202);
    assert_eq!(view["run_id"], run.id.as_str());
    run.turn(2, "mkdir out; echo hello >out/a.txt; echo '{\"__SKILL_DONE__\": true, \"answer\": \"done\"}'")
        .await;
    run.becomes("succeeded").await;
    let result = stage.get(&run.path("/result")).await.is(200);
    assert_eq!((&result["status"], &result["result"]), (&json!("succeeded"), &json!({ "answer": "done" })));
    let asked = stage.get(&run.path("/interactions")).await.is(200);
    assert_eq!(asked["items"][0]["response"], ANSWER);
    assert_eq!(stage.get("/v1/inbox").await.is(200), json!({ "items": [], "next_cursor": null }));

    let listed = stage.get("/v1/runs?label=team=blue&status=succeeded&skill=survey").await.is(200);
    assert_eq!(listed["items"][0]["run_id"], run.id.as_str());
    assert_eq!(stage.get("/v1/runs?label=team=red").await.is(200)["items"], json!([]));

    let files = stage.get(&run.path("/files")).await.is(200);
    assert!(
        files["items"].as_array().unwrap().contains(&json!({ "path": "out/a.txt", "bytes": 6 })),
        "{files}"
    );
    let file = stage.get(&run.path("/files/out/a.txt")).await;
    assert_eq!(
        (&file.body[..], &file.headers["x-content-type-options"]),
        (&b"hello\n"[..], &"nosniff".parse().unwrap())
    );
    for outside in
        ["/files/../request.json", "/files/%2e%2e/request.json", "/files//etc/passwd", "/files/none"]
    {
        stage.get(&run.path(outside)).await.is_problem(404, "UNKNOWN_FILE");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_hold_every_run_once() {
    let stage = Stage::with("[slots]\ntotal = 1").await;
    let mut created = Vec::new();
    for _ in 0..5 {
        created.push(stage.start(json!({})).await.id);
    }
    let (mut listed, mut path) = (Vec::new(), "/v1/runs?limit=2".to_owned());
    loop {
        let page = stage.get(&path).await.is(200);
        listed.extend(
            page["items"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()),
        );
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/runs?limit=2&cursor={cursor}");
    }
    created.reverse();
    assert_eq!(listed, created);
    let slots = stage.get("/v1/slots").await.is(200);
    let scripted = json!({ "total": null, "held": 1, "free": null, "queued": 4 });
    let expected = json!({
        "total": 1, "held": 1, "free": 0, "queued": 4, "queue_max": 10_000, "engine": { "scripted": scripted },
    });
    assert_eq!(slots, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_sent_again_creates_one_run() {
    let stage = Stage::new().await;
    let send = |body: serde_json::Value| {
        stage.call(Method::POST, "/v1/runs").header("idempotency-key", "k").json(&body).send()
    };
    let request = Stage::request(json!({}));
    let (first, second) = tokio::join!(send(request.clone()), send(request));
    assert_eq!(first.is(201)["run_id"], second.is(201)["run_id"]);
    assert_eq!(first.headers["location"], second.headers["location"]);
    send(Stage::request(json!({ "labels": { "a": "b" } }))).await.is_problem(409, "KEY_REUSED");
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_says_when_to_come_back_and_nothing_is_left() {
    let stage = Stage::with("[slots]\ntotal = 1\nqueue_max = 0").await;
    let run = stage.start(json!({})).await;
    run.at_turn(1).await;
    let full = stage.post("/v1/runs", &Stage::request(json!({}))).await;
    full.is_problem(429, "QUEUE_FULL");
    assert!(full.headers.contains_key("retry-after"));
    assert_eq!(std::fs::read_dir(stage.data().join("runs")).unwrap().count(), 1);
    assert_eq!(stage.get("/v1/runs").await.is(200)["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_01_of_two_replies_that_race_one_is_accepted_and_one_turn_is_resumed() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let reply = |text: &str| run.reply(json!({ "interaction_id": 1, "response": text }));
    let (one, other) = tokio::join!(reply("SQLite"), reply("Postgres"));
    let mut statuses = [one.status.as_u16(), other.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409]);
    let lost = if one.status == 409 { one } else { other };
    lost.is_problem(409, "NOT_OPEN");
    run.finishes(2).await;
    run.becomes("succeeded").await;
    let events = run.events(None).await.rest().await;
    let resumed = in_short(&events).iter().filter(|it| it.starts_with("queued → running")).count();
    assert_eq!((resumed, run.show().await["attempt_number"].as_u64()), (2, Some(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_02_a_reply_without_a_question_means_the_one_that_its_key_answered() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    run.reply(json!({ "response": ANSWER })).await.is_problem(422, "INVALID");
    let reply = |text: &str, key: &str| {
        let call = stage.call(Method::POST, &run.path("/reply")).header("idempotency-key", key);
        call.json(&json!({ "response": text })).send()
    };
    reply(ANSWER, "one").await.is(202);
    run.asks(2).await;
    let again = reply(ANSWER, "one").await.is(202);
    assert_eq!(again["open_interactions"], json!([2]), "the second question is still open");
    reply("Postgres", "one").await.is_problem(409, "KEY_REUSED");
    reply("3.50", "two").await.is(202);
    let questions = stage.get(&run.path("/interactions")).await.is(200)["items"].clone();
    let keys: Vec<_> = questions.as_array().unwrap().iter().map(|it| it["idempotency_key"].clone()).collect();
    assert_eq!(keys, [json!("one"), json!("two")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_02_a_reply_that_is_sent_again_gets_the_first_answer() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let reply = |text: &str| {
        let body = json!({ "interaction_id": 1, "response": text });
        stage.call(Method::POST, &run.path("/reply")).header("idempotency-key", "k").json(&body).send()
    };
    let (one, other) = tokio::join!(reply(ANSWER), reply(ANSWER));
    assert_eq!(
        (one.is(202)["run_id"].as_str(), other.is(202)["run_id"].as_str()),
        (Some(&*run.id), Some(&*run.id))
    );
    reply("Postgres").await.is_problem(409, "KEY_REUSED");
    run.finishes(2).await;
    run.becomes("succeeded").await;
    reply(ANSWER).await.is(202);
    assert_eq!(run.show().await["attempt_number"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_03_a_reply_to_what_is_not_open_changes_nothing() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let before = run.show().await;
    run.reply(json!({ "interaction_id": 7, "response": ANSWER })).await.is_problem(409, "NOT_OPEN");
    assert_eq!(run.show().await, before);
    run.cancel().await.is(202);
    let before = run.show().await;
    run.reply(json!({ "interaction_id": 1, "response": ANSWER })).await.is_problem(409, "NOT_OPEN");
    assert_eq!(run.show().await, before);

    let lax = json!({ "options": { "interactive_require_user_reply": false, "session_timeout_sec": 60 } });
    let expired = stage.start(lax).await;
    expired.asks(1).await;
    stage.advance(61);
    expired.reply(json!({ "interaction_id": 9, "response": ANSWER })).await.is_problem(409, "NOT_OPEN");
    expired.at_turn(2).await;
    let before = expired.show().await;
    expired.reply(json!({ "interaction_id": 1, "response": ANSWER })).await.is_problem(409, "NOT_OPEN");
    assert_eq!(expired.show().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_04_a_reply_that_does_not_fit_says_where_and_the_question_stays_open() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    let schema = json!({
        "type": "object", "required": ["size"], "properties": { "size": { "type": "integer", "minimum": 1 } },
    });
    let hints = json!({ "kind": "form", "schema": schema });
    run.says(1, &json!({ "__SKILL_DONE__": false, "message": "How big?", "ui_hints": hints })).await;
    run.becomes("waiting_user").await;
    let pending = run.show().await["pending"].clone();
    assert_eq!(pending["kind"], "form", "{pending}");
    let reply = |response| run.reply(json!({ "interaction_id": 1, "response": response }));
    let problem = reply(json!({ "size": 0 })).await.is_problem(422, "INVALID");
    assert_eq!(problem["errors"][0]["path"], "/size", "{problem}");
    assert_eq!(run.show().await["pending"], pending);
    reply(json!({ "size": 3 })).await.is(202);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_10_a_run_is_canceled_whatever_it_does_and_twice() {
    let stage = Stage::with("[slots]\ntotal = 1").await;
    let waiting = stage.start(json!({})).await;
    waiting.asks(1).await;
    let running = stage.start(json!({})).await;
    running.turn(1, "touch begun; exec sleep 1000.125").await;
    crate::stage::exists(&running.work().join("begun")).await;
    let queued = stage.start(json!({})).await;
    for run in [&waiting, &queued] {
        assert_eq!(run.cancel().await.is(202)["status"], "canceled");
        assert_eq!(run.cancel().await.is(200)["status"], "canceled");
    }
    running.cancel().await.is(202);
    running.becomes("canceled").await;
    running.cancel().await.is(200);
    let is_the_agent = |process: &std::fs::DirEntry| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|line| line == b"sleep\x001000.125\0")
    };
    assert!(
        !std::fs::read_dir("/proc").unwrap().flatten().any(|process| is_the_agent(&process)),
        "its process is gone before it is canceled"
    );

    let done = stage.start(json!({})).await;
    done.finishes(1).await;
    done.becomes("succeeded").await;
    let before = done.show().await;
    done.cancel().await.is_problem(409, "NOT_ALLOWED_NOW");
    assert_eq!(done.show().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_18_a_reply_counts_at_once_and_a_day_of_waiting_does_not() {
    let stage = Stage::new().await;
    let run = stage.start(json!({ "options": { "hard_timeout_sec": 60 } })).await;
    let mut events = run.events(None).await;
    run.says(1, &json!({ "__SKILL_DONE__": false, "message": "Which database?" })).await;
    events.until(|frame| frame["type"] == "user.input.required").await;
    run.reply(json!({ "interaction_id": 1, "response": ANSWER })).await.is(202);
    run.asks(2).await;
    stage.advance(24 * 60 * 60);
    run.reply(json!({ "interaction_id": 2, "response": ANSWER })).await.is(202);
    run.finishes(3).await;
    run.becomes("succeeded").await;

    let nobody = "run_01h455vb4pex5vsknk084sn02q";
    let answer = json!({ "interaction_id": 1, "response": ANSWER });
    stage.post(&format!("/v1/runs/{nobody}/reply"), &answer).await.is_problem(404, "UNKNOWN_RUN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_has_a_name_outside_of_the_workspace_is_not_served() {
    let stage = Stage::new().await;
    stage.write("secret", "s3cr3t");
    // A sandbox would not let it link the file.
    let run = stage.start(json!({ "execution_mode": "auto", "engine": "unwalled" })).await;
    let secret = stage.folder().join("secret");
    let script =
        format!("ln '{}' taken\necho '{{\"__SKILL_DONE__\": true, \"answer\": \"done\"}}'", secret.display());
    run.turn(1, &script).await;
    run.becomes("succeeded").await;
    let problem = stage.get(&run.path("/files/taken")).await.is_problem(404, "UNKNOWN_FILE");
    assert!(problem["detail"].as_str().unwrap().contains("hard links"), "{problem}");
    let files = stage.get(&run.path("/files")).await.is(200);
    let taken = files["items"].as_array().unwrap().iter().find(|file| file["path"] == "taken").unwrap();
    assert!(taken["problem"].as_str().unwrap().contains("hard links"), "{files}");
}
