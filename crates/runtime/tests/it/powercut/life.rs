//! The life of a run: created, answered, approved, its call made, finished.

use std::collections::BTreeMap;

use adjourn_core::RunStatus;
use adjourn_powercut::{CrashPoint, Depth, Tape};
use adjourn_testkit::model::ModelServer;

use super::story::{after, approve, create, finish, is_sound, is_whole, model, record, run_in, stage};

/// What is acknowledged in the life of a run, and the path of which that is the end.
const PATHS: [(&str, &str); 5] = [
    ("created", "create"),
    ("asked", "first turn"),
    ("replied", "reply"),
    ("approved", "approve"),
    ("finished", "call and finish"),
];

/// The tape, and the step at which the run begins.
fn recorded(model: &ModelServer) -> (Tape, usize) {
    let stage = stage(model);
    let recording = record(&stage);
    stage.open();
    let from = recording.tape().len();
    let run = stage.actor(create(&stage).unwrap());
    recording.mark("created");
    run.waits();
    recording.mark("asked");
    run.reply("alpha").unwrap();
    recording.mark("replied");
    run.until("the approval", |run| (run.interactions().len() == 2).then_some(()));
    approve(&run).unwrap();
    recording.mark("approved");
    assert_eq!(run.ends().status(), RunStatus::Succeeded);
    assert_eq!(stage.effects().len(), 1);
    recording.mark("finished");
    // The end of the process copies the log into the database, and removes it.
    stage.close();
    (recording.tape(), from)
}

fn check(point: &CrashPoint<'_>, model: &ModelServer) {
    let context = point.to_string();
    let stage = after(point, model);
    stage.open();
    let Some(run_id) = run_in(&stage) else {
        assert!(!point.knows("created"), "{context}: the run is gone");
        assert_eq!(stage.run_folders(), [""; 0], "{context}");
        return;
    };
    let run = stage.actor(run_id);
    if point.knows("finished") {
        assert_eq!(run.status(), RunStatus::Succeeded, "{context}");
    }
    is_whole(&stage, run_id, &context);
    let (ended, asked) = finish(&run, &context);
    assert_eq!((ended.status(), ended.error()), (RunStatus::Succeeded, None), "{context}");
    let lost = |mark, question| point.knows(mark) && asked.contains_key(question);
    assert!(!lost("replied", "agent"), "{context}: the reply is lost");
    assert!(!lost("approved", "approval"), "{context}: the approval is lost");
    // Made once, or a person was asked whether it was, or the agent was told that it is not made: the secret in it is not
    // in the journal, and was lost with the turn before the call was recorded.
    let made = stage.effects().len();
    let is_in_doubt = asked.contains_key("recovery");
    let is_refused = ended.contracts().count() == 0 && !point.knows("approved");
    assert!(
        made <= 1 && (made == 1 || is_in_doubt || is_refused),
        "{context}: made {made} times, asked {asked:?}"
    );
    drop(ended);
    stage.close();
    is_sound(&stage, &context);
}

#[test]
fn xx_09_a_power_cut_at_any_sync_of_a_run_keeps_what_was_acknowledged_and_repeats_no_call() {
    let model = model();
    let (tape, from) = recorded(&model);
    let mut tried: BTreeMap<&str, u32> = BTreeMap::new();
    tape.try_each(from, Depth::wanted(), |point| {
        let path = PATHS.iter().find(|(mark, _)| !point.knows(mark));
        check(point, &model);
        *tried.entry(path.map_or("end of the process", |(_, path)| path)).or_default() += 1;
    });
    println!("{} steps, {} of them syncs; states tried: {tried:?}", tape.len(), tape.syncs());
    assert!(PATHS.iter().all(|(_, path)| tried.contains_key(path)), "{tried:?}");
}
