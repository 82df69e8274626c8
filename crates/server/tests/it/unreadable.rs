//! Journals that are damaged in one place: the run whose place it is fails, and nobody else notices.

use std::path::Path;

use hyper::Method;
use rusqlite::Connection;
use serde_json::json;

use crate::client::{Events, in_short};
use crate::stage::{Actor, Stage};

/// Changes a closed journal behind its back.
fn damage(data: &Path, statement: &str) {
    let changed = Connection::open(data.join("adjourn.db")).unwrap().execute_batch(statement);
    changed.unwrap();
}

/// The key of a run's stream, as the database has it.
fn stream(run: &str) -> String {
    let id: adjourn_core::RunId = run.parse().unwrap();
    format!("x'00{:032x}'", id.bits())
}

/// A run that waits for an answer.
async fn waiting(stage: &Stage) -> String {
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    run.id
}

async fn finishes_after_an_answer(run: &Actor<'_>) {
    run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    run.finishes(2).await;
    run.becomes("succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_27_a_stream_that_cannot_be_read_fails_alone() {
    let stage = Stage::with("[slots]\ntotal = 1").await;
    let sound = waiting(&stage).await;
    let garbled = waiting(&stage).await;
    let headless = waiting(&stage).await;
    let gapped = waiting(&stage).await;
    let over = waiting(&stage).await;
    finishes_after_an_answer(&stage.actor(&over)).await;
    // Both are before the sound run in the queue for the only slot.
    for run in [&garbled, &headless] {
        stage.actor(run).reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
        stage.actor(run).at_turn(2).await;
        stage.actor(run).asks(2).await;
    }
    let stage = stage
        .restarted_after(|data| {
            let last = |run: &str| format!("(SELECT max(seq) FROM entries WHERE stream = {})", stream(run));
            let first = |run: &str| format!("(SELECT min(seq) FROM entries WHERE stream = {})", stream(run));
            let [garbled, headless, gapped, over] = [&garbled, &headless, &gapped, &over];
            let update = |run: &str, what: &str, seq: &str| {
                format!("UPDATE entries SET {what} WHERE stream = {} AND seq = {seq}", stream(run))
            };
            for statement in [
                update(garbled, "payload = x'7b22'", &last(garbled)),
                update(headless, "payload = x'00ff', events = 0", &first(headless)),
                format!(
                    "DELETE FROM entries WHERE stream = {} AND seq > {} AND seq < {}",
                    stream(gapped),
                    first(gapped),
                    last(gapped)
                ),
                update(over, "payload = x'5b'", &last(over)),
            ] {
                damage(data, &statement);
            }
        })
        .await;
    // The feed of everything goes over the damage to what is behind it.
    let call = stage.call(Method::GET, "/v1/events").header("last-event-id", "0");
    let mut feed = Events::open(call).await;
    for run in [&garbled, &headless, &gapped] {
        let run = stage.actor(run);
        run.becomes("failed").await;
        let shown = run.show().await;
        assert_eq!(shown["error"]["code"], "JOURNAL_UNREADABLE", "{shown}");
        assert_eq!(shown["open_interactions"], json!([]));
        let events = in_short(&run.events(None).await.rest().await);
        let [.., warning, end] = events.as_slice() else { panic!("{events:?}") };
        assert_eq!(
            (warning.as_str(), end.as_str()),
            ("diagnostic.warning", "waiting_user → failed: restart.reconcile_failed")
        );
        run.reply(json!({ "interaction_id": 1, "response": "late" })).await.is(409);
        stage.get(&run.path("/trace")).await.is(200);
        stage.get(&run.path("/result")).await.is(200);
    }
    // What could be read of it is still there.
    let history = in_short(&stage.actor(&garbled).events(None).await.rest().await);
    assert!(history.contains(&"user.input.required".to_owned()), "{history:?}");
    // A run that had ended shows as it ended.
    assert_eq!(stage.actor(&over).show().await["status"], "succeeded");
    // Others go on, and new ones begin.
    let inbox = stage.get("/v1/inbox").await.is(200);
    assert_eq!(inbox["items"].as_array().unwrap().len(), 1, "{inbox}");
    finishes_after_an_answer(&stage.actor(&sound)).await;
    let new = stage.start(json!({})).await;
    new.asks(1).await;
    finishes_after_an_answer(&new).await;
    let id = new.id.clone();
    feed.until(|frame| frame["run_id"] == id.as_str() && frame["data"]["to"] == "succeeded").await;
    assert!(feed.comments.iter().any(|comment| comment.contains("cannot be read")), "{:?}", feed.comments);
    stage.get("/readyz").await.is(200);
    // It stays so: nothing is ended a second time.
    let seq = stage.actor(&garbled).show().await["seq"].clone();
    let stage = stage.restarted().await;
    stage.get("/v1/inbox").await.is(200);
    assert_eq!(stage.actor(&garbled).show().await["seq"], seq);
}
