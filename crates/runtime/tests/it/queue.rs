//! Who gets a slot and who does not even get into the queue, through real runs.

use adjourn_core::{Refusal, RunId, RunStatus};
use adjourn_kernel::Denied;
use adjourn_runtime::ServiceError;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::stage::{Actor, Stage, Turn, refusal, request};

/// The runs in the order in which their first turns began.
fn order(stage: &Stage) -> Vec<RunId> {
    let mut order = Vec::new();
    for (run, to) in stage.history() {
        if to == "running" && !order.contains(&run) {
            order.push(run);
        }
    }
    order
}

/// Lets all these runs finish in their turns with these numbers, whenever they come.
fn finish_all(runs: &[(Actor<'_>, u32)]) {
    std::thread::scope(|scope| {
        for (run, turn) in runs {
            let work = run.work();
            scope.spawn(move || Turn::at(work, *turn).finishes("done"));
        }
    });
    for (run, _) in runs {
        run.ends();
    }
}

fn is_full<T>(result: &Result<T, ServiceError>) -> bool {
    matches!(result, Err(ServiceError::Denied(Denied::QueueFull { queue_max: 2, .. })))
}

#[test]
fn a_full_queue_takes_no_more_and_nothing_is_left_of_what_it_refused() {
    let stage = Stage::with("[slots]\ntotal = 1\nqueue_max = 2");
    let first = stage.start(json!({}));
    first.turn(1);
    let _waiting = [stage.start(json!({})), stage.start(json!({}))];
    for _ in 0..3 {
        assert!(is_full(&stage.request(json!({}))));
    }
    assert_eq!(stage.run_folders().len(), 3);
    first.turn(1).finishes("done");
    first.ends();
    stage.start(json!({}));
}

#[test]
fn of_many_at_once_a_full_queue_takes_only_as_many_as_fit() {
    let stage = Stage::with("[slots]\ntotal = 1\nqueue_max = 2");
    let service = stage.service();
    let results = stage.wait(join_all((0..16).map(|_| service.create(request(json!({})), None, None))));
    drop(service);
    let taken = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!((taken, results.iter().filter(|result| is_full(result)).count()), (3, 13));
    assert_eq!(stage.run_folders().len(), 3);
}

#[test]
fn a_run_that_was_created_before_is_found_although_the_queue_is_full() {
    let stage = Stage::with("[slots]\ntotal = 1\nqueue_max = 0");
    let run = stage.request_with(json!({}), Some("key")).unwrap();
    run.turn(1);
    assert_eq!(stage.request_with(json!({}), Some("key")).unwrap().id, run.id);
    assert!(matches!(
        refusal(stage.request_with(json!({ "labels": { "a": "b" } }), Some("key"))),
        Refusal::KeyReused { .. }
    ));
}

#[test]
fn a_request_that_is_sent_again_creates_one_run() {
    let stage = Stage::new();
    let service = stage.service();
    let key = || Some("key".to_owned());
    let created = stage.wait(join_all((0..8).map(|_| service.create(request(json!({})), key(), None))));
    drop(service);
    let first = created[0].as_ref().unwrap().run.id();
    assert!(created.iter().all(|created| created.as_ref().unwrap().run.id() == first));
    stage.restart();
    assert_eq!(stage.request_with(json!({}), Some("key")).unwrap().id, first);
    let other = stage.request_with(json!({ "execution_mode": "auto" }), Some("key"));
    assert!(matches!(refusal(other), Refusal::KeyReused { .. }));
    assert_eq!(stage.run_folders(), [first.to_string()]);
}

#[test]
fn the_highest_priority_goes_first_and_then_the_skills_in_turn() {
    let stage = Stage::with_slots(1);
    let bare = || json!({ "skill": null, "prompt": "Choose." });
    let urgent = json!({ "options": { "priority": 5 } });
    let first = stage.start(json!({}));
    first.turn(1);
    let [a, b, c, d, e] =
        [json!({}), json!({}), bare(), bare(), urgent].map(|request: Value| stage.start(request));
    assert_eq!(stage.run_folders().len(), 6);
    finish_all(&[first, a, b, c, d, e].map(|run| (run, 1)));
    // The skill of the first one was served last when the others came.
    assert_eq!(order(&stage), [first, e, a, c, b, d].map(|run| run.id));
}

#[test]
fn an_engine_has_no_more_turns_at_once_than_it_may() {
    let settings = "[slots]\ntotal = 4\nengine = { scripted = 1 }\n[engines.other]\nkind = \"exec\"\n\
                    preset = \"command\"\ncommand = [\"./agent\"]";
    let stage = Stage::with(settings);
    let first = stage.start(json!({}));
    first.turn(1);
    let second = stage.start(json!({}));
    let other = stage.start(json!({ "engine": "other" }));
    other.turn(1).finishes("done");
    other.ends();
    assert_eq!(second.status(), RunStatus::Queued);
    first.turn(1).finishes("done");
    second.turn(1).finishes("done");
    second.ends();
}

#[test]
fn a_restart_keeps_the_order_of_the_queue() {
    let stage = Stage::with_slots(1);
    let first = stage.start(json!({}));
    first.turn(1);
    let queued = [(); 8].map(|()| stage.start(json!({})));
    stage.restart();
    let all: Vec<_> = [(first, 2)].into_iter().chain(queued.map(|run| (run, 1))).collect();
    finish_all(&all);
    assert_eq!(order(&stage)[1..], queued.map(|run| run.id));
}
