//! XX-21: runs that continue each other, while old runs are removed.

use adjourn_core::{RunId, RunStatus};
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
    let _ = store.remove(run).unwrap();
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
