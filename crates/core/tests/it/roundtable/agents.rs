//! Rounds: step by step, each run announced before it exists, everybody heard once.

use adjourn_core::RunId;
use adjourn_core::machines::{RoundStep, RoundtableTrigger};
use adjourn_core::roundtable::{
    Command, Event, FACILITATOR_LOSSES_MAX, Focus, Purpose, Refusal, Role, Start, Todo, TopicId,
};
use serde_json::json;

use super::table::{Table, conflict, create, said, synthesis};

fn step(table: &Table) -> RoundStep {
    table.table.current().unwrap().step
}

fn to_start(table: &Table) -> Vec<Purpose> {
    match table.table.todo() {
        Todo::Agents { to_start, .. } => to_start,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_round_goes_from_the_question_to_the_record_and_the_state_says_what_is_to_do() {
    let mut table = Table::standard();
    table.opens_round();
    assert_eq!((step(&table), to_start(&table)), (RoundStep::Question, vec![Purpose::Ask]));
    table.asks("users");
    let participants = ["architect", "qa"].map(|role| Purpose::Answer(Role::new(role)));
    assert_eq!((step(&table), to_start(&table)), (RoundStep::Responses, participants.to_vec()));
    table.answers("qa", "tests first", 0.8);
    assert_eq!(to_start(&table), participants[..1]);
    table.answers("architect", "layers", 0.7);
    assert_eq!((step(&table), to_start(&table)), (RoundStep::Synthesis, vec![Purpose::Synthesis]));
    table.synthesizes(synthesis(vec![]));
    assert_eq!((step(&table), table.table.todo()), (RoundStep::Artifacts, Todo::RecordRound));
    table.does(Command::RecordRound);
    assert_eq!((table.table.current(), table.table.todo()), (None, Todo::OpenRound));
    assert_eq!(table.table.rounds()[0].step, RoundStep::Recorded);
}

#[test]
fn a_run_is_announced_once_and_only_for_what_the_step_needs() {
    let mut table = Table::standard();
    table.opens_round();
    let run_id = table.starts(Purpose::Ask);
    assert_eq!(table.table.todo(), Todo::Agents { to_start: vec![], at_work: vec![run_id] });
    let announce = |purpose, run| Command::StartActivation {
        purpose,
        run_id: RunId::from_bits(run),
        start: Start::Fresh,
    };
    let refused = table.tries(&announce(Purpose::Ask, 90)).unwrap_err();
    assert_eq!(refused, Refusal::AtWork { purpose: Purpose::Ask, run_id });
    let refused = table.tries(&announce(Purpose::Synthesis, 90)).unwrap_err();
    assert_eq!(refused, Refusal::WrongStep { step: RoundStep::Question, wanted: RoundStep::Synthesis });

    let ask = serde_json::from_value(json!({ "question": "Well?" })).unwrap();
    table.does(Command::RecordFocus { run_id, ask });
    let stranger = Role::new("ops");
    let refused = table.tries(&announce(Purpose::Answer(stranger.clone()), 90)).unwrap_err();
    assert_eq!(refused, Refusal::NotAwaited(stranger));
    let again =
        Command::StartActivation { purpose: Purpose::Answer(Role::new("qa")), run_id, start: Start::Fresh };
    assert_eq!(table.tries(&again), Err(Refusal::RunUsed(run_id)));
}

#[test]
fn what_a_run_says_counts_once_however_often_it_is_reported() {
    let mut table = Table::standard();
    table.opens_round().asks("users");
    let run_id = table.starts(Purpose::Answer(Role::new("qa")));
    let first = Command::RecordAnswer { run_id, said: said("one", 0.8) };
    table.does(first.clone());
    assert_eq!(table.tries(&first), Ok(vec![]));
    assert_eq!(table.tries(&Command::RecordAnswer { run_id, said: said("two", 0.1) }), Ok(vec![]));
    assert_eq!(table.tries(&Command::ReportLost { run_id, reason: "late".to_owned() }), Ok(vec![]));
    let answers = &table.table.current().unwrap().answers;
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].said.position, "one");
}

#[test]
fn a_run_that_nobody_announced_or_that_is_at_work_on_something_else_is_not_heard() {
    let mut table = Table::standard();
    table.opens_round().asks("users");
    let nobody = RunId::from_bits(77);
    let answer = Command::RecordAnswer { run_id: nobody, said: said("hello", 1.0) };
    assert_eq!(table.tries(&answer), Err(Refusal::NotAtWork(nobody)));
    let run_id = table.starts(Purpose::Answer(Role::new("qa")));
    let wrong = Command::RecordSynthesis { run_id, synthesis: synthesis(vec![]) };
    assert_eq!(table.tries(&wrong), Err(Refusal::NotAtWork(run_id)));
    table.does(Command::ReportLost { run_id, reason: "gone".to_owned() });
    let late = Command::RecordAnswer { run_id, said: said("wait", 1.0) };
    assert_eq!(table.tries(&late), Err(Refusal::NotAtWork(run_id)));
}

#[test]
fn a_participant_who_is_lost_is_missing_and_the_round_goes_on() {
    let mut table = Table::standard();
    table.opens_round().asks("users");
    table.is_missing("architect");
    assert_eq!(step(&table), RoundStep::Responses);
    table.answers("qa", "alone", 0.9).synthesizes(synthesis(vec![]));
    table.does(Command::RecordRound);
    assert_eq!(table.table.rounds()[0].missing[0].role, Role::new("architect"));
    assert_eq!(table.close_reason(), None);
}

#[test]
fn with_all_participants_missing_the_roundtable_ends_in_an_error() {
    let mut table = Table::standard();
    table.opens_round().asks("users");
    table.is_missing("architect");
    let events = table.is_missing("qa");
    assert!(matches!(events.last(), Some(Event::Closed(_))));
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::Fail));
    assert_eq!(table.table.closing().unwrap().problem.as_deref(), Some("all participants are missing"));
}

#[test]
fn a_facilitator_that_is_lost_three_times_in_a_step_ends_the_roundtable() {
    let mut table = Table::standard();
    table.opens_round();
    for loss in 1..=FACILITATOR_LOSSES_MAX {
        assert_eq!(table.close_reason(), None, "after {} losses", loss - 1);
        let run_id = table.starts(Purpose::Ask);
        table.does(Command::ReportLost { run_id, reason: "nonsense".to_owned() });
    }
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::Fail));
    let problem = table.table.closing().unwrap().problem.clone();
    assert_eq!(problem.as_deref(), Some("the facilitator was lost 3 times in one step, at last: nonsense"));
}

#[test]
fn losses_of_the_facilitator_are_counted_for_each_step() {
    let mut table = Table::standard();
    table.opens_round();
    for _ in 1..FACILITATOR_LOSSES_MAX {
        let run_id = table.starts(Purpose::Ask);
        table.does(Command::ReportLost { run_id, reason: "nonsense".to_owned() });
    }
    table.asks("users").everybody_answers(0.9);
    for _ in 1..FACILITATOR_LOSSES_MAX {
        let run_id = table.starts(Purpose::Synthesis);
        table.does(Command::ReportLost { run_id, reason: "nonsense".to_owned() });
    }
    table.synthesizes(synthesis(vec![]));
    table.does(Command::RecordRound);
    assert_eq!(table.close_reason(), None);
}

#[test]
fn a_focus_on_what_is_not_there_or_settled_gives_way_to_what_comes_first() {
    let mut table = Table::standard();
    table.opens_round().asks_about(json!({ "kind": "conflict", "id": "CONF-009" }));
    let asked = table.table.current().unwrap().asked.clone().unwrap();
    assert_eq!(asked.focus, Focus::Topic(TopicId::new("users")));
    assert_eq!(
        asked.notes,
        ["there is no conflict `CONF-009`; the round is about the topic `users` instead"]
    );
    let both = create("requirement", "users", &["personas", "goals"]);
    table.everybody_answers(0.9).synthesizes(synthesis(vec![both, conflict("payment")]));
    table.does(Command::RecordRound);
    table.opens_round().asks("users");
    let asked = table.table.current().unwrap().asked.clone().unwrap();
    assert_eq!(asked.focus, Focus::Topic(TopicId::new("payment")));
    assert_eq!(asked.notes, ["the topic `users` is settled; the round is about the topic `payment` instead"]);
}

#[test]
fn a_round_on_a_conflict_belongs_to_the_topic_of_the_conflict() {
    let mut table = Table::standard();
    table.round(vec![conflict("payment")]);
    table.opens_round().asks_about(json!({ "kind": "conflict", "id": "CONF-001" }));
    let asked = table.table.current().unwrap().asked.clone().unwrap();
    assert_eq!(asked.topic_id, TopicId::new("payment"));
    assert!(asked.notes.is_empty());
}

#[test]
fn a_directive_for_somebody_who_is_not_asked_is_noted() {
    let mut table = Table::standard();
    table.opens_round();
    let run_id = table.starts(Purpose::Ask);
    let directives = json!({ "qa": "think of refunds", "wizard": "do magic" });
    let ask = json!({ "question": "Well?", "directives": directives });
    let ask = serde_json::from_value(ask).unwrap();
    table.does(Command::RecordFocus { run_id, ask });
    let asked = table.table.current().unwrap().asked.clone().unwrap();
    assert_eq!(asked.directives.len(), 1);
    assert_eq!(asked.notes, ["`wizard` is not asked in this round"]);
}

#[test]
fn blank_words_are_refused_and_the_run_stays_at_work() {
    let mut table = Table::standard();
    table.opens_round();
    let run_id = table.starts(Purpose::Ask);
    let blank = serde_json::from_value(json!({ "question": " " })).unwrap();
    let refused = table.tries(&Command::RecordFocus { run_id, ask: blank }).unwrap_err();
    assert_eq!(refused.to_string(), "/question: is blank, it should be some text");
    assert_eq!(table.table.todo(), Todo::Agents { to_start: vec![], at_work: vec![run_id] });
}

#[test]
fn a_round_is_opened_only_when_none_goes_on() {
    let mut table = Table::standard();
    assert_eq!(table.tries(&Command::RecordRound), Err(Refusal::NoRound));
    table.opens_round();
    assert_eq!(table.tries(&Command::OpenRound), Err(Refusal::RoundGoesOn(1)));
    let refused = table.tries(&Command::RecordRound).unwrap_err();
    assert_eq!(refused, Refusal::WrongStep { step: RoundStep::Question, wanted: RoundStep::Artifacts });
}

#[test]
fn the_facilitator_takes_up_its_last_conversation_and_a_fall_back_is_in_the_stream() {
    let mut table = Table::standard();
    assert_eq!(table.table.conversation(&Role::facilitator()), None);
    table.round(vec![]);
    let last = table.table.conversation(&Role::facilitator()).unwrap();
    assert_eq!(last.seen_round, 0, "the synthesis of round 1 was made before round 1 was recorded");
    table.opens_round();
    let run_id = table.fresh_run();
    let start = Start::Fallback { lost: last.run_id, reason: "no such conversation".to_owned() };
    table.does(Command::StartActivation { purpose: Purpose::Ask, run_id, start });
    let frame = table.frames().pop().unwrap();
    assert_eq!(frame.kind.name(), "agent.resume_fallback");
    assert_eq!(
        frame.data,
        json!({
            "round": 2, "role": "facilitator", "run_id": last.run_id, "reason": "no such conversation",
        })
    );
}
