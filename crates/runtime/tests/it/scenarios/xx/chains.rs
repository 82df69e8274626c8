//! XX-21: runs that continue each other, while old runs are removed.

use adjourn_core::{ErrorCode, Run, RunId, RunStatus, Timestamp};
use adjourn_runtime::workspace::Workspaces;
use adjourn_runtime::{KeepReason, Pruned, ServiceError};
use adjourn_store::{SqliteStore, Store};
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::world::{says_done, told};

fn count(text: &str) -> Reply {
    Reply::call("count", json!({ "text": text }))
}

fn ask() -> Reply {
    Reply::call("ask_user", json!({ "prompt": "Go on?" }))
}

/// Tries to remove a run, as `prune` does: while nothing works on the data directory.
fn prune(stage: &Stage, run: RunId) {
    stage.close();
    let store = SqliteStore::open(&stage.data()).unwrap();
    let _ = store.remove(run.into()).unwrap();
    drop(store);
    stage.open();
}

fn results(model: &ModelServer, reply: usize) -> Vec<Value> {
    told(model, reply).into_iter().map(|told| told["result"].clone()).collect()
}

#[test]
fn xx_21_a_run_that_is_continued_keeps_its_keys_and_its_conversation_while_old_runs_are_removed() {
    let replies =
        [count("a"), says_done("one"), ask(), count("a"), count("b"), says_done("two"), says_done("three")];
    let model = ModelServer::start(Script::new(replies)).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]");
    let first = stage.start(json!({}));
    assert_eq!(first.ends().status(), RunStatus::Succeeded);
    let second = stage.start(json!({ "continues": first.id.to_string() }));
    second.waits();

    prune(&stage, first.id);
    second.reply("yes").unwrap();
    assert_eq!(second.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects(), ["a", "b"], "the call of the first run is not made again, the new one is");
    let (one, two) = (json!({ "count": 1 }), json!({ "count": 2 }));
    assert_eq!(results(&model, 5), [one.clone(), json!("yes"), one, two], "each call has its own result");
    assert!(model.requests().last().unwrap().body.to_string().contains("one"), "all of it is told");
}

#[test]
fn xx_21_a_chain_with_a_gap_is_not_taken_up() {
    let replies = [count("a"), says_done("one"), ask(), count("a"), says_done("two")];
    let model = ModelServer::start(Script::new(replies)).unwrap();
    let stage = Stage::reasoning(&model, "irreversible = [\"count\"]");
    let first = stage.start(json!({}));
    assert_eq!(first.ends().status(), RunStatus::Succeeded);
    let second = stage.start(json!({ "continues": first.id.to_string() }));
    second.waits();

    // What a prune left that did not look for successors.
    stage.close();
    let database = rusqlite::Connection::open(stage.data().join("adjourn.db")).unwrap();
    let (key, stream) = (first.id.bits().to_be_bytes(), [&[0], &first.id.bits().to_be_bytes()[..]].concat());
    database.execute("DELETE FROM entries WHERE stream = ?1", [stream]).unwrap();
    database.execute("DELETE FROM runs WHERE id = ?1", [key]).unwrap();
    database.close().unwrap();
    stage.open();

    second.reply("yes").unwrap();
    let ended = second.ends();
    assert_eq!(ended.error().map(|error| error.code), Some(ErrorCode::SessionResumeFailed));
    let message = &ended.error().unwrap().message;
    assert!(
        message.contains(&format!("{}, which {} continues, was removed", first.id, second.id)),
        "{message}"
    );
    assert_eq!(stage.effects(), ["a"]);
    let refused = stage.request(json!({ "continues": second.id.to_string() })).map(drop);
    assert!(matches!(refused, Err(ServiceError::NotContinuable { run, .. }) if run == second.id));
}

#[test]
fn runs_of_an_active_roundtable_are_kept() {
    let stage = Stage::of_players("");
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let runs: Vec<_> = table.runs().iter().map(Run::id).collect();
    let prune = || {
        stage.close();
        let store = SqliteStore::open(&stage.data()).unwrap();
        let pruned = adjourn_runtime::prune(
            &store,
            &Workspaces::new(&stage.data()),
            Timestamp::from_millis(i64::MAX),
            Timestamp::from_millis(0),
        );
        drop(store);
        stage.open();
        pruned.unwrap()
    };
    let Pruned { removed, kept, .. } = prune();
    assert_eq!(removed, []);
    assert!(kept.iter().all(|kept| kept.reason == KeepReason::RoundtableActive), "{kept:?}");
    assert!(kept.iter().all(|kept| kept.needed_by == Some(table.id.into())), "{kept:?}");
    assert_eq!(kept.len(), runs.len());
    table.close().unwrap();
    let mut removed = prune().removed;
    removed.sort();
    assert_eq!(removed, runs);
}
