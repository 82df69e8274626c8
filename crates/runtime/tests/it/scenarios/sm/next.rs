//! What comes after a round, and when a person is asked.

use adjourn_core::roundtable::{FrameType, NextAction, Refusal, Rule};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::table::{Table, all_of_it, refusal};

fn conflict() -> Value {
    json!({
        "summary": "They do not agree.", "recommendation": "Build all of it.",
        "proposals": [{
            "action": "open_conflict", "title": "how much of it", "topic_id": "names",
            "positions": [
                { "held_by": ["architect"], "position": "all", "rationale": "it is cheap" },
                { "held_by": ["qa"], "position": "half", "rationale": "it has to be tested" },
            ],
        }],
    })
}

#[test]
fn sm_14_before_the_least_number_of_rounds_it_goes_on_even_if_every_topic_is_closed() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &all_of_it());
    let table = stage.table(json!({ "limits": { "min_rounds": 2 } }));
    assert_eq!(table.next_after(1), (NextAction::Continue, Rule::MinRounds));
}

#[test]
fn sm_15_it_concludes_when_all_topics_are_closed() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &all_of_it());
    let table = stage.table(json!({}));
    assert_eq!(table.next_after(1), (NextAction::Conclude, Rule::TopicsClosed));
    assert_eq!(table.close_reason(), "concluded");
}

#[test]
fn sm_16_it_concludes_at_the_last_round_even_with_conflicts_open() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &conflict());
    let table = stage.table(json!({ "limits": { "max_rounds": 1 } }));
    assert_eq!(table.next_after(1), (NextAction::Conclude, Rule::MaxRounds));
    assert_eq!(table.close_reason(), "max_rounds");
}

#[test]
fn sm_17_low_confidence_on_a_critical_topic_asks_a_person() {
    let stage = Stage::of_players("");
    stage.plays("qa-1", &json!({ "position": "perhaps", "confidence": 0.2, "rationale": "nobody knows" }));
    stage.plays("close-1", &json!({ "summary": "unsure", "recommendation": "Ask the users." }));
    let table = stage.table(json!({}));
    assert_eq!(table.next_after(1), (NextAction::Escalate, Rule::LowConfidence));
    let asked = table.waits().question.prompt;
    for shown in ["perhaps", "nobody knows", "confidence 0.2", "I hold what I hold.", "Ask the users."] {
        assert!(asked.contains(shown), "{shown} is not in {asked}");
    }
}

#[test]
fn sm_18_with_conflicts_open_it_goes_on() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &conflict());
    stage.plays(
        "close-3",
        &json!({
            "summary": "They agree now.",
            "proposals": [{ "action": "resolve_conflict", "conflict": "CONF-001", "resolution": "all" }],
        }),
    );
    stage.plays("close-4", &all_of_it());
    let table = stage.table(json!({ "limits": { "max_rounds_per_conflict": 5 } }));
    for round in [1, 2] {
        assert_eq!(table.next_after(round), (NextAction::Continue, Rule::OpenConflicts), "round {round}");
    }
    // The conflict is settled in round 3, and what is left open are the topics.
    assert_eq!(table.next_after(3), (NextAction::Continue, Rule::OpenTopics));
    assert_eq!(table.next_after(4), (NextAction::Conclude, Rule::TopicsClosed));
    let closed = table.closes();
    let conflict = &closed.conflicts()[0];
    assert_eq!((conflict.round, conflict.resolution.as_ref().map(|it| it.round)), (1, Some(3)));
    assert_eq!(closed.open_conflicts().count(), 0);
    let told = table.frames().into_iter().find(|frame| frame.kind == FrameType::NextDecided).unwrap().data;
    assert_eq!((&told["next"], &told["rule"]), (&json!("continue"), &json!("open_conflicts")));
}

/// Holds a roundtable until a conflict has been open for too long.
fn stuck<'a>(stage: &'a Stage, more: &Value) -> Table<'a> {
    stage.plays("close-1", &conflict());
    stage.plays("close", &json!({ "summary": "Still not.", "recommendation": "Build all of it." }));
    let mut limits = json!({ "max_rounds_per_conflict": 1 });
    for (key, value) in more.as_object().unwrap() {
        limits[key] = value.clone();
    }
    let table = stage.table(json!({ "limits": limits }));
    assert_eq!(table.next_after(2), (NextAction::Escalate, Rule::ConflictRounds));
    table.waits();
    table
}

#[test]
fn sm_19_a_conflict_that_is_open_for_too_long_comes_before_a_person_and_not_again_at_once() {
    let stage = Stage::of_players("");
    let table = stuck(&stage, &json!({ "escalation_cooldown_rounds": 2 }));
    let asked = table.waits();
    assert_eq!(asked.matter.source().to_string(), "escalation");
    for shown in ["how much of it", "all", "it is cheap", "half", "Build all of it."] {
        assert!(asked.question.prompt.contains(shown), "{shown}");
    }
    assert_eq!(stage.store().open_interactions(None, 10).unwrap().len(), 1, "it is in the inbox");
    table.reply(json!("discuss")).unwrap();
    assert_eq!(table.next_after(3).0, NextAction::Continue, "not again at once");
    assert_eq!(table.next_after(4).0, NextAction::Continue);
    assert_eq!(table.next_after(5), (NextAction::Escalate, Rule::ConflictRounds));
    table.waits();
    table.reply(json!({ "decision": "own_decision", "text": "Three quarters." })).unwrap();
    table.records(6);
    let settled = table.state().conflicts()[0].clone();
    assert_eq!(settled.resolution.unwrap().text, "Three quarters.");
    assert!(stage.told("open-6", 1).contains("Three quarters."), "what a person decided is told");
}

#[test]
fn sm_19_a_person_who_accepts_ends_the_conflict_and_the_round_goes_on_with_it() {
    let stage = Stage::of_players("");
    let table = stuck(&stage, &json!({}));
    table.reply(json!("accept")).unwrap();
    table.records(3);
    assert_eq!(table.state().conflicts()[0].resolution.as_ref().unwrap().text, "Build all of it.");
    assert!(stage.told("open-3", 1).contains("\"decision\": \"accept\""));
}

#[test]
fn sm_19_a_person_asks_to_be_asked_in_the_middle_of_a_round() {
    let stage = Stage::of_players("");
    stage.holds_back("answer");
    let table = stage.table(json!({ "limits": { "min_rounds": 3 } }));
    stage.told("qa-1", 1);
    table.escalate("the price");
    assert!(table.state().pending().is_none(), "the round is not interrupted");
    stage.plays("answer", &json!({ "position": "yes", "confidence": 0.9 }));
    assert_eq!(table.next_after(1), (NextAction::Escalate, Rule::UserAsked));
    assert!(table.waits().question.prompt.contains("the price"));
}

#[test]
fn an_interactive_roundtable_pauses_after_each_round_and_takes_a_remark_along() {
    let stage = Stage::of_players("");
    let table = stage.table(json!({ "interactive": true }));
    let asked = table.waits();
    assert_eq!((asked.interaction_id.0, asked.matter.source().to_string().as_str()), (1, "checkpoint"));
    assert!(!stage.was_told("open-2", 1), "nobody goes on by themselves");
    table.reply(json!("Mind the children.")).unwrap();
    assert!(stage.told("open-2", 1).contains("Mind the children."));
    table
        .until("the second question", |table| table.pending().filter(|it| it.interaction_id.0 == 2).cloned());
    table.reply(json!("conclude")).unwrap();
    assert_eq!(table.close_reason(), "concluded");
}

#[test]
fn one_reply_is_accepted_and_the_same_one_again_changes_nothing() {
    let stage = Stage::of_players("");
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let wrong = table.reply(json!({ "decision": "perhaps" })).unwrap_err().to_string();
    assert!(wrong.contains("/decision"), "{wrong}");
    table.reply_keyed(Some(1), json!("continue"), Some("key")).unwrap();
    table.reply_keyed(Some(1), json!("continue"), Some("key")).unwrap();
    let reused = table.reply_keyed(Some(1), json!("close"), Some("key"));
    assert!(matches!(refusal(reused), Refusal::KeyReused { .. }));
    assert!(matches!(refusal(table.reply_keyed(Some(1), json!("close"), None)), Refusal::NotOpen { .. }));
    let unknown = table.reply_keyed(Some(9), json!("close"), None);
    assert!(matches!(refusal(unknown), Refusal::UnknownInteraction { .. }));
    table.records(2);
    // The second checkpoint is open by now, and the key still means the first.
    table.until("the second checkpoint", |table| (table.interactions().len() == 2).then_some(()));
    table.reply_keyed(None, json!("continue"), Some("key")).unwrap();
    assert!(table.state().pending().is_some());
    let reused = table.reply_keyed(None, json!("close"), Some("key"));
    assert!(matches!(refusal(reused), Refusal::KeyReused { .. }));
}
