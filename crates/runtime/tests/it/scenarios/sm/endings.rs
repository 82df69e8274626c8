//! How a roundtable ends.

use adjourn_core::RunStatus;
use adjourn_core::roundtable::{Refusal, TopicId};
use serde_json::json;

use crate::stage::table::{all_of_it, artifact, refusal, synthesis};
use crate::stage::{Stage, until};

#[test]
fn sm_01_a_roundtable_concludes_when_all_topics_are_closed_and_enough_rounds_were_held() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &all_of_it());
    let table = stage.table(json!({ "limits": { "min_rounds": 2 } }));
    assert_eq!(table.close_reason(), "concluded");
    let closed = table.closes();
    assert_eq!(closed.recorded_rounds(), 2);
    assert_eq!(closed.unsettled(), Default::default());
    let stream = table.stream();
    assert_eq!(
        (stream[0].as_str(), stream.last().unwrap().as_str()),
        ("roundtable.opened", "roundtable.closed")
    );
    let service = stage.service();
    assert!(service.export_roundtable_markdown(table.id).unwrap().contains("REQ-003"));
    assert_eq!(service.export_roundtable_json(table.id).unwrap()["roundtable"]["close_reason"], "concluded");
}

#[test]
fn sm_02_a_roundtable_ends_after_its_last_round_and_says_what_stays_open() {
    let stage = Stage::of_players("");
    let conflict = json!({
        "action": "open_conflict", "title": "how much",
        "positions": [{ "held_by": ["architect"], "position": "all" }, { "held_by": ["qa"], "position": "less" }],
    });
    stage.plays("close-1", &synthesis(&[artifact("names", "names", &[]), conflict]));
    let table = stage.table(json!({ "limits": { "max_rounds": 2, "max_rounds_per_conflict": 9 } }));
    assert_eq!(table.close_reason(), "max_rounds");
    let unsettled = table.closes().closing().unwrap().unsettled.clone();
    assert_eq!(unsettled.topics, [TopicId::new("scope")]);
    assert_eq!(json!(unsettled.conflicts), json!(["CONF-001"]));
}

#[test]
fn sm_03_a_person_closes_a_roundtable_and_its_running_agents_end_with_it() {
    let stage = Stage::of_players("");
    stage.holds_back("answer");
    let table = stage.table(json!({}));
    for part in ["architect-1", "qa-1"] {
        stage.told(part, 1);
    }
    let runs = ["architect", "qa"].map(|role| table.run_of(1, role));
    assert!(!stage.processes().is_empty());
    table.close().unwrap();
    assert_eq!(table.close_reason(), "user_closed");
    for run in runs {
        assert_eq!(stage.actor(run).ends().status(), RunStatus::Canceled);
    }
    until("the processes are gone", || stage.processes().is_empty().then_some(()));
    assert_eq!(table.state().recorded_rounds(), 0, "the round is dropped");
    let seq = table.state().seq();
    assert_eq!(table.close().unwrap().seq(), seq, "closing it again changes nothing");
    assert!(matches!(
        refusal(table.reply_keyed(Some(1), json!("continue"), None)),
        Refusal::UnknownInteraction { .. }
    ));
}

#[test]
fn sm_04_a_facilitator_that_fails_after_its_retries_ends_it_and_a_lost_participant_does_not() {
    let stage = Stage::of_players("");
    stage.plays_out("qa-1", "exit 3\n");
    stage.plays_out("open-2", "exit 4\n");
    let table = stage.table(json!({}));
    let first = table.records(1);
    assert_eq!((first.answers.len(), first.missing.len()), (1, 1));
    assert!(first.missing[0].reason.starts_with("ENGINE_EXIT_NONZERO"), "{:?}", first.missing);
    assert!(table.stream().contains(&"participant.missing".to_owned()));
    assert_eq!(table.close_reason(), "error");
    let closed = table.closes();
    let problem = closed.closing().unwrap().problem.clone().unwrap();
    assert!(problem.starts_with("the facilitator was lost 3 times in one step"), "{problem}");
    assert!(stage.was_told("open-2", 3) && !stage.was_told("open-2", 4));
    assert_eq!(closed.recorded_rounds(), 1, "what was recorded stays");
}

#[test]
fn a_facilitator_that_talks_nonsense_is_repaired_and_then_lost() {
    let stage = Stage::of_players("");
    stage.plays_out("open-1", "echo 'I would rather not.'\n");
    let table = stage.table(json!({}));
    assert_eq!(table.close_reason(), "error");
    let runs = table.runs();
    assert_eq!(runs.len(), 3, "each loss is a run");
    for run in runs {
        assert_eq!(run.status(), RunStatus::Failed);
        // The first answer and three repairs.
        assert_eq!(stage.asked().iter().filter(|(asked, _)| *asked == run.id()).count(), 4);
    }
}

#[test]
fn a_roundtable_without_any_answer_ends_with_an_error() {
    let stage = Stage::of_players("");
    stage.plays_out("answer", "exit 1\n");
    let table = stage.table(json!({}));
    assert_eq!(table.close_reason(), "error");
    assert_eq!(table.closes().closing().unwrap().problem.as_deref(), Some("all participants are missing"));
}

#[test]
fn a_participant_whose_run_a_person_cancels_is_missing() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &all_of_it());
    stage.plays_out("qa-1", "sleep 600\n");
    let table = stage.table(json!({}));
    stage.told("qa-1", 1);
    stage.actor(table.run_of(1, "qa")).cancel().unwrap();
    let first = table.records(1);
    assert_eq!(json!(first.missing), json!([{ "role": "qa", "reason": "its run was canceled" }]));
    assert_eq!(table.close_reason(), "concluded");
}
