//! The person: checkpoints, escalations, and the end at any time.

use adjourn_core::machines::{ConflictStatus, RoundtableTrigger};
use adjourn_core::roundtable::{
    Command, EscalationWish, Matter, NextAction, Pace, Refusal, Reply, Settler, Synthesis, Todo, Word,
};
use adjourn_core::{By, InteractionId, InteractionStatus, ReplyKey, Source};
use serde_json::json;

use super::table::{Table, conflict, create, synthesis};

fn interactive() -> Table {
    Table::with(|spec| spec.pace = Pace::Checkpoints)
}

/// A table that is stuck over a conflict.
fn stuck() -> Table {
    let mut table = Table::with(|spec| spec.limits.max_rounds_per_conflict = 1);
    table.round(vec![conflict("payment")]).round(vec![]);
    assert!(table.waits());
    table
}

fn wish() -> Command {
    Command::Escalate(EscalationWish { by: By::USER, note: Some("the price".to_owned()) })
}

#[test]
fn an_interactive_table_waits_after_each_round() {
    let mut table = interactive();
    table.round(vec![]);
    let pending = table.table.pending().unwrap();
    assert_eq!(pending.matter.source(), Source::Checkpoint);
    assert_eq!(table.table.todo(), Todo::Wait(InteractionId(1)));
    assert_eq!(table.tries(&Command::OpenRound), Err(Refusal::Waits(InteractionId(1))));
    table.person(json!("continue"));
    assert_eq!(table.table.todo(), Todo::OpenRound);
}

#[test]
fn a_remark_at_a_checkpoint_goes_into_the_next_round() {
    for said in [json!("think of children"), json!({ "decision": "continue", "text": "think of children" })] {
        let mut table = interactive();
        table.round(vec![]);
        table.person(said);
        let resolution = table.table.interactions()[0].resolution.clone().unwrap();
        assert_eq!(
            (resolution.word, resolution.text.as_deref()),
            (Word::Continue, Some("think of children"))
        );
        assert_eq!(table.table.todo(), Todo::OpenRound);
    }
}

#[test]
fn a_person_may_conclude_or_break_off_at_a_checkpoint() {
    let ends = [("conclude", RoundtableTrigger::Conclude), ("Break it off", RoundtableTrigger::CloseByUser)];
    for (said, reason) in ends {
        let mut table = interactive();
        table.round(vec![]);
        table.person(json!(said));
        assert_eq!(table.close_reason(), Some(reason));
        assert_eq!(table.table.closing().unwrap().unsettled.topics.len(), 2);
    }
}

#[test]
fn a_table_that_concludes_by_itself_asks_nobody() {
    let mut table = interactive();
    table.round(vec![
        create("requirement", "users", &["personas", "goals"]),
        create("requirement", "payment", &["methods"]),
    ]);
    assert_eq!(table.table.interactions(), []);
}

#[test]
fn an_escalation_shows_all_positions_their_reasons_and_the_recommendation() {
    let table = stuck();
    let escalation = &table.table.escalations()[0];
    assert_eq!(escalation.positions.len(), 2);
    assert_eq!(escalation.recommendation.as_deref(), Some("Take cards only."));
    let pending = table.table.pending().unwrap();
    assert_eq!(pending.matter, Matter::Escalation(1));
    insta::assert_snapshot!(pending.question.prompt, @r"
    After round 2 the table needs a person.
    The conflict CONF-001 (cards or cash) has been open for 2 rounds.

    Positions:
    - architect: cards Because: cash cannot be refunded
    - qa: cash

    The facilitator recommends: Take cards only.
    ");
    let offered: Vec<_> = pending.question.fields[0].options.iter().map(|choice| &choice.value).collect();
    assert_eq!(offered, ["accept", "own_decision", "discuss"]);
}

#[test]
fn an_accepted_recommendation_resolves_the_conflict() {
    let mut table = stuck();
    table.person(json!("accept"));
    let conflict = &table.table.conflicts()[0];
    assert_eq!(conflict.status, ConflictStatus::Resolved);
    let resolution = conflict.resolution.clone().unwrap();
    assert_eq!((resolution.text.as_str(), resolution.by), ("Take cards only.", Settler::User));
    assert_eq!(table.table.todo(), Todo::OpenRound);
}

#[test]
fn a_decision_of_ones_own_resolves_the_conflict() {
    for said in
        [json!("both, on weekdays"), json!({ "decision": "own_decision", "text": "both, on weekdays" })]
    {
        let mut table = stuck();
        table.person(said);
        assert_eq!(table.table.conflicts()[0].resolution.clone().unwrap().text, "both, on weekdays");
    }
    let mut table = stuck();
    let silent = Command::Reply(table.reply(json!("own_decision")));
    let refused = table.tries(&silent).unwrap_err();
    assert_eq!(refused.to_string(), "/text: is missing: it should say what is decided");
    assert!(table.waits(), "a wrong answer leaves the question open");
}

#[test]
fn going_on_leaves_the_conflict_open() {
    let mut table = stuck();
    table.person(json!({ "decision": "discuss", "text": "what about vouchers?" }));
    assert_eq!(table.table.conflicts()[0].status, ConflictStatus::Open);
    assert_eq!(table.table.todo(), Todo::OpenRound);
}

#[test]
fn what_nobody_recommends_cannot_be_accepted() {
    let mut table = Table::standard();
    table.opens_round().asks("users").everybody_answers(0.1);
    table.synthesizes(Synthesis { recommendation: None, ..synthesis(vec![]) });
    table.does(Command::RecordRound);
    let accept = Command::Reply(table.reply(json!({ "decision": "accept" })));
    let refused = table.tries(&accept).unwrap_err().to_string();
    assert!(refused.starts_with("/decision: is not one of the options:"), "{refused}");
}

#[test]
fn a_decision_on_a_doubtful_topic_holds_until_it_is_discussed_again() {
    let mut table = Table::with(|spec| spec.limits.escalation_cooldown_rounds = 0);
    table.round_on("users", 0.1, vec![]);
    table.person(json!("accept"));
    table.round_on("payment", 0.9, vec![]);
    assert_eq!(table.next().0, NextAction::Continue, "the person has spoken");
    table.round_on("users", 0.1, vec![]);
    assert_eq!(table.next().0, NextAction::Escalate);
}

#[test]
fn after_the_last_round_an_answer_ends_the_roundtable() {
    let mut table = Table::with(|spec| spec.limits.max_rounds = 1);
    table.opens_round();
    table.does(wish());
    table.asks("users").everybody_answers(0.9).synthesizes(synthesis(vec![]));
    table.does(Command::RecordRound);
    assert!(table.waits());
    table.person(json!("discuss"));
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::ExhaustRounds));
}

#[test]
fn a_wish_to_be_asked_takes_the_place_of_a_checkpoint_at_once() {
    let mut table = interactive();
    table.does(wish());
    assert!(!table.waits(), "before the first round there is nothing to decide");
    table.round(vec![]);
    table.person(json!("discuss"));
    table.round(vec![]);
    table.does(wish());
    assert_eq!(table.table.interactions()[1].status, InteractionStatus::Withdrawn);
    assert_eq!(table.table.pending().unwrap().matter, Matter::Escalation(2));
    assert_eq!(table.tries(&wish()), Ok(vec![]), "who is asked need not ask");
    table.person(json!("own words"));
    assert_eq!(table.table.todo(), Todo::OpenRound);
}

#[test]
fn a_closed_roundtable_drops_the_round_that_was_not_recorded() {
    let mut table = Table::standard();
    table.round(vec![]).opens_round().asks("users");
    let run_id =
        table.starts(adjourn_core::roundtable::Purpose::Answer(adjourn_core::roundtable::Role::new("qa")));
    assert_eq!(table.table.abandoned(), []);
    table.does(Command::Close(By::USER));
    assert_eq!(table.table.abandoned(), [run_id], "it has to be canceled");
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::CloseByUser));
    assert_eq!((table.table.current(), table.table.rounds().len()), (None, 1));
    assert_eq!(table.table.todo(), Todo::Nothing);
    assert_eq!(table.tries(&Command::Close(By::USER)), Ok(vec![]), "closed twice is closed once");
}

#[test]
fn what_was_proposed_in_a_round_that_is_dropped_never_happened() {
    let mut table = Table::standard();
    table.opens_round().asks("users").everybody_answers(0.9);
    table.synthesizes(synthesis(vec![create("requirement", "users", &["personas"])]));
    table.does(Command::Close(By::USER));
    assert_eq!(table.table.artifacts(), []);
}

#[test]
fn a_closed_roundtable_takes_nothing_and_keeps_no_question_open() {
    let mut table = stuck();
    table.does(Command::Fail { problem: "the disk is full".to_owned() });
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::Fail));
    assert_eq!(table.table.pending(), None);
    let refused = table.tries(&Command::OpenRound).unwrap_err();
    assert_eq!(refused.to_string(), "the roundtable is closed (error): nothing changes it any more");
    let refused = table.tries(&Command::Close(By::USER)).unwrap_err();
    assert_eq!(refused.to_string(), "a roundtable that is closed takes no `user_closed`: it is final");
    assert!(matches!(table.tries(&wish()), Err(Refusal::Closed(_))));
    let late = Reply { interaction_id: InteractionId(1), ..table.reply(json!("accept")) };
    let refused = table.tries(&Command::Reply(late)).unwrap_err();
    assert_eq!(refused.to_string(), "question 1 is withdrawn: it has no open question");
}

#[test]
fn the_same_reply_with_the_same_key_is_one_reply() {
    let mut table = interactive();
    table.round(vec![]);
    let key = |digest: &str| Some(ReplyKey { key: "k".to_owned(), digest: digest.to_owned() });
    let reply = Reply { key: key("1"), ..table.reply(json!("continue")) };
    table.does(Command::Reply(reply.clone()));
    table.round(vec![]);
    assert_eq!(table.tries(&Command::Reply(reply.clone())), Ok(vec![]));
    let other = Reply { key: key("2"), ..reply };
    assert_eq!(table.tries(&Command::Reply(other)), Err(Refusal::KeyReused { key: "k".to_owned() }));
}
