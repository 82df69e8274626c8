//! Participants: fresh, blind, and as many as there are.

use adjourn_core::KeyScope;
use serde_json::json;

use crate::stage::{Stage, until};

#[test]
fn sm_21_participants_are_fresh_agents_each_round_and_blind_to_each_other() {
    let stage = Stage::of_players("");
    let position =
        |who: &str, round: u32| json!({ "position": format!("{who} of round {round}"), "confidence": 0.9 });
    for round in 1..=2 {
        stage.plays(&format!("architect-{round}"), &position("arch", round));
    }
    stage.holds_back("answer");
    let table = stage.table(json!({ "limits": { "max_rounds": 2 } }));
    // The architect's answer is recorded while QA still thinks; QA begins after it in the second round.
    table.until("the first answer", |table| (table.current()?.answers.len() == 1).then_some(()));
    for round in 1..=2 {
        stage.plays(&format!("qa-{round}"), &position("test", round));
    }
    table.closes();
    let runs = table.runs();
    let participants = runs.iter().filter(|run| run.spec().labels["roundtable_step"] == "responses");
    for run in participants {
        assert_eq!(run.spec().continues, None, "each is an agent of its own");
        assert_eq!(run.spec().roundtable, Some(table.id));
    }
    for part in ["architect-1", "qa-1", "architect-2", "qa-2"] {
        let told = stage.told(part, 1);
        assert!(!told.contains("of round"), "{part} saw an answer: {told}");
    }
    let synthesis = stage.told("close-2", 1);
    assert!(synthesis.contains("arch of round 2") && synthesis.contains("test of round 2"));
    assert!(!synthesis.contains("of round 1"), "those are in the conversation that it takes up");
}

#[test]
fn what_is_done_once_per_roundtable_is_done_once_by_all_who_sit_at_it() {
    let stage = Stage::of_players("");
    let tables = [(); 2].map(|()| stage.table(json!({ "limits": { "max_rounds": 1 } })));
    for table in tables {
        table.closes();
        let scopes: Vec<_> = table.runs().iter().map(|run| run.scope(KeyScope::Roundtable)).collect();
        assert_eq!(scopes, vec![format!("roundtable:{}", table.id); 4]);
    }
}

#[test]
fn a_directive_reaches_the_one_it_is_for() {
    let stage = Stage::of_players("");
    let ask = json!({
        "question": "How large?", "context": "It has two wheels.", "directives": { "qa": "Look at the brakes." },
        "focus": { "kind": "topic", "id": "names" },
    });
    stage.plays("open-1", &ask);
    let table = stage.table(json!({ "limits": { "max_rounds": 1 }, "context": "There is one shop." }));
    table.closes();
    let (qa, architect) = (stage.told("qa-1", 1), stage.told("architect-1", 1));
    for told in [&qa, &architect] {
        for shown in ["How large?", "It has two wheels.", "There is one shop.", "What things are called"] {
            assert!(told.contains(shown), "{shown} is not in {told}");
        }
    }
    assert!(qa.contains("Look at the brakes.") && !architect.contains("Look at the brakes."));
}

#[test]
fn xx_14_more_participants_than_slots_are_served_in_order_without_a_deadlock() {
    let stage = Stage::of_players("[slots]\ntotal = 1\nqueue_max = 2");
    let roles = ["product", "architect", "qa", "ux", "domain"];
    let table = stage.table(json!({ "participants": roles, "limits": { "max_rounds": 2 } }));
    assert_eq!(table.close_reason(), "max_rounds");
    let asked: Vec<_> = stage.asked().into_iter().map(|(_, part)| part).collect();
    let mut expected = Vec::new();
    for round in 1..=2 {
        expected.push(format!("open-{round}"));
        expected.extend(roles.map(|role| format!("{role}-{round}")));
        expected.push(format!("close-{round}"));
    }
    assert_eq!(asked, expected);
    until("the processes are gone", || stage.processes().is_empty().then_some(()));
}

#[test]
fn two_roundtables_share_the_slots() {
    let stage = Stage::of_players("[slots]\ntotal = 2");
    let tables = [(); 3].map(|()| stage.table(json!({ "limits": { "max_rounds": 1 } })));
    for table in tables {
        assert_eq!(table.close_reason(), "max_rounds");
    }
}
