//! What comes after a round: the first rule that matches wins, and the facilitator only proposes.

use std::collections::BTreeMap;

use adjourn_core::By;
use adjourn_core::machines::RoundtableTrigger;
use adjourn_core::roundtable::{
    Command, ConflictId, EscalationWish, Limits, NextAction, Rule, Standing, Synthesis, Trigger,
};
use serde_json::{Value, json};

use super::table::{Table, conflict, create, synthesis};

/// Covers everything on the agenda.
fn everything() -> Vec<Value> {
    vec![
        create("requirement", "users", &["personas", "goals"]),
        create("requirement", "payment", &["methods"]),
    ]
}

fn wish() -> Command {
    Command::Escalate(EscalationWish { by: By::USER, note: None })
}

#[test]
fn with_all_topics_closed_and_enough_rounds_the_roundtable_concludes() {
    let mut table = Table::standard();
    table.round(everything());
    assert_eq!(table.next(), (NextAction::Conclude, Rule::TopicsClosed));
    assert_eq!(table.close_reason(), Some(RoundtableTrigger::Conclude));
}

#[test]
fn below_min_rounds_it_goes_on_even_with_every_topic_closed() {
    let mut table = Table::with(|spec| spec.limits.min_rounds = 3);
    table.round(everything());
    assert_eq!(table.next(), (NextAction::Continue, Rule::MinRounds));
    table.round(vec![]);
    assert_eq!(table.next(), (NextAction::Continue, Rule::MinRounds));
    table.round(vec![]);
    assert_eq!(table.next(), (NextAction::Conclude, Rule::TopicsClosed));
}

#[test]
fn at_max_rounds_it_ends_even_with_conflicts_open_and_says_what_is_unsettled() {
    let mut table = Table::with(|spec| spec.limits.max_rounds = 2);
    let question = json!({ "action": "open_question", "text": "Who pays?", "asked_by": "qa" });
    table.round(vec![conflict("payment"), question]).round(vec![]);
    assert_eq!(table.next(), (NextAction::Conclude, Rule::MaxRounds));
    let closing = table.table.closing().unwrap();
    assert_eq!(closing.reason, RoundtableTrigger::ExhaustRounds);
    assert_eq!(
        serde_json::to_value(&closing.unsettled).unwrap(),
        json!({ "topics": ["users", "payment"], "conflicts": ["CONF-001"], "questions": ["OQ-001"] })
    );
}

#[test]
fn with_conflicts_or_topics_open_it_goes_on() {
    let mut table = Table::standard();
    table.round(vec![]);
    assert_eq!(table.next(), (NextAction::Continue, Rule::OpenTopics));
    table.round(vec![conflict("payment")]);
    assert_eq!(table.next(), (NextAction::Continue, Rule::OpenConflicts));
}

#[test]
fn low_confidence_on_a_critical_topic_needs_a_person() {
    let mut table = Table::standard();
    table.opens_round().asks("users").answers("architect", "a", 0.9).answers("qa", "b", 0.49);
    table.synthesizes(synthesis(vec![]));
    table.does(Command::RecordRound);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::LowConfidence), "the lowest counts");
}

#[test]
fn confidence_at_the_threshold_or_on_other_topics_needs_nobody() {
    let mut table = Table::standard();
    table.round_on("users", 0.5, vec![]);
    assert_eq!(table.next().0, NextAction::Continue);
    table.round_on("payment", 0.1, vec![]);
    assert_eq!(table.next().0, NextAction::Continue);
}

#[test]
fn a_conflict_that_stays_open_for_more_rounds_than_allowed_needs_a_person() {
    let mut table = Table::standard();
    table.round(vec![conflict("payment")]).round(vec![]).round(vec![]);
    assert_eq!(table.next(), (NextAction::Continue, Rule::OpenConflicts), "open for three rounds");
    table.round(vec![]);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::ConflictRounds));
}

#[test]
fn a_trigger_below_min_rounds_is_noted_and_fires_at_min_rounds_if_it_still_holds() {
    let mut table = Table::with(|spec| spec.limits.min_rounds = 3);
    table.round_on("users", 0.2, vec![]);
    let decided = table.table.rounds()[0].decided.clone().unwrap();
    assert_eq!((decided.next, decided.rule), (NextAction::Continue, Rule::MinRounds));
    assert_eq!(decided.triggers.len(), 1);
    table.round_on("payment", 0.9, vec![]).round_on("payment", 0.9, vec![]);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::LowConfidence));

    let mut table = Table::with(|spec| spec.limits.min_rounds = 3);
    table.round_on("users", 0.2, vec![]).round_on("users", 0.9, vec![]).round_on("payment", 0.9, vec![]);
    assert_eq!(table.next().0, NextAction::Continue, "they are sure by now");
}

#[test]
fn a_person_who_asks_is_asked_even_below_min_rounds() {
    let mut table = Table::with(|spec| spec.limits.min_rounds = 3);
    table.opens_round();
    table.does(wish());
    assert!(!table.waits(), "the round goes on");
    assert_eq!(table.tries(&wish()), Ok(vec![]), "asked twice is asked once");
    table.asks("users").everybody_answers(0.9).synthesizes(synthesis(vec![]));
    table.does(Command::RecordRound);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::UserAsked));
    assert!(table.waits());
}

#[test]
fn the_same_trigger_does_not_fire_again_at_once() {
    let mut table = Table::standard();
    table.round_on("users", 0.2, vec![]);
    table.person(json!("discuss"));
    table.round_on("users", 0.2, vec![]);
    let decided = table.table.rounds()[1].decided.clone().unwrap();
    assert_eq!((decided.next, decided.triggers.len()), (NextAction::Continue, 1), "it cools down");
    table.round_on("users", 0.2, vec![]);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::LowConfidence));
}

#[test]
fn another_trigger_fires_while_one_cools_down() {
    let mut table = Table::with(|spec| {
        spec.limits.max_rounds_per_conflict = 1;
        spec.limits.escalation_cooldown_rounds = 5;
    });
    table.round_on("users", 0.2, vec![conflict("payment")]);
    table.person(json!("discuss"));
    table.round_on("users", 0.2, vec![]);
    assert_eq!(table.next(), (NextAction::Escalate, Rule::ConflictRounds));
    let escalation = table.table.escalations().last().unwrap();
    assert_eq!(escalation.triggers, [Trigger::ConflictRounds(ConflictId(1))]);
}

#[test]
fn what_the_facilitator_proposed_is_recorded_beside_what_was_decided() {
    let mut table = Table::standard();
    table.opens_round().asks("users").everybody_answers(0.9);
    table.synthesizes(Synthesis { next: Some(NextAction::Conclude), ..synthesis(vec![]) });
    table.does(Command::RecordRound);
    let decided = table.table.rounds()[0].decided.clone().unwrap();
    assert_eq!((decided.proposed, decided.next), (Some(NextAction::Conclude), NextAction::Continue));
}

/// The rules written down a second time: for every standing, by looking for the row of the table.
#[test]
fn the_first_rule_that_matches_wins_in_every_standing() {
    let bools = [false, true];
    let trigger_lists = [
        vec![],
        vec![Trigger::ConflictRounds(ConflictId(1))],
        vec![Trigger::LowConfidence(adjourn_core::roundtable::TopicId::new("users"))],
    ];
    let mut counts: BTreeMap<(NextAction, Rule), usize> = BTreeMap::new();
    for (min_rounds, max_rounds) in [(1, 1), (1, 3), (2, 3), (3, 3)] {
        for rounds in 1..=3 {
            for (user_asked, topics_closed, conflicts_open) in
                bools.iter().flat_map(|a| bools.iter().flat_map(move |b| bools.map(|c| (*a, *b, c))))
            {
                for triggers in &trigger_lists {
                    let limits = Limits { min_rounds, max_rounds, ..Limits::default() };
                    let standing = Standing {
                        rounds,
                        limits,
                        user_asked,
                        topics_closed,
                        conflicts_open,
                        triggers: triggers.clone(),
                    };
                    let expected = match () {
                        () if user_asked => NextAction::Escalate,
                        () if rounds < min_rounds => NextAction::Continue,
                        () if topics_closed || rounds >= max_rounds => NextAction::Conclude,
                        () if !triggers.is_empty() => NextAction::Escalate,
                        () => NextAction::Continue,
                    };
                    let (next, rule) = standing.next();
                    assert_eq!(next, expected, "{standing:?}");
                    *counts.entry((next, rule)).or_default() += 1;
                }
            }
        }
    }
    let counts: Vec<_> = counts.iter().map(|((next, rule), n)| format!("{next} {rule} {n}")).collect();
    insta::assert_snapshot!(counts.join("\n"), @r"
    continue min_rounds 36
    continue open_conflicts 3
    continue open_topics 3
    conclude topics_closed 54
    conclude max_rounds 36
    escalate user_asked 144
    escalate conflict_rounds 6
    escalate low_confidence 6
    ");
}
