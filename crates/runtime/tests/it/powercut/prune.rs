//! Removing a run that has ended: its rows, and then its folder.

use adjourn_core::RunStatus;
use adjourn_powercut::{CrashPoint, Depth};
use adjourn_runtime::workspace::Workspaces;
use adjourn_store::{SqliteStore, Store};
use adjourn_testkit::model::ModelServer;

use super::story::{after, create, finish, is_sound, is_whole, model, record, run_in, stage};

fn check(point: &CrashPoint<'_>, model: &ModelServer) {
    let context = point.to_string();
    let stage = after(point, model);
    stage.open();
    match run_in(&stage) {
        None => assert_eq!(stage.run_folders(), [""; 0], "{context}"),
        Some(run_id) => {
            assert!(!point.knows("pruned"), "{context}: the run is back");
            assert_eq!(stage.actor(run_id).status(), RunStatus::Succeeded, "{context}");
            is_whole(&stage, run_id, &context);
        }
    }
    stage.close();
    is_sound(&stage, &context);
}

#[test]
fn a_power_cut_while_a_run_is_removed_leaves_it_whole_or_not_at_all() {
    let model = model();
    let stage = stage(&model);
    let recording = record(&stage);
    stage.open();
    let run_id = create(&stage).unwrap();
    finish(&stage.actor(run_id), "undisturbed");
    stage.close();
    let from = recording.tape().len();

    let store = SqliteStore::open(&stage.data()).unwrap();
    store.remove(run_id.into()).unwrap();
    recording.mark("pruned");
    Workspaces::new(&stage.data()).remove(run_id).unwrap();
    recording.mark("removed");
    drop(store);
    let tried = recording.tape().try_each(from, Depth::wanted(), |point| check(point, &model));
    println!("prune: {tried} states tried");
    assert!(tried > 0);
}
