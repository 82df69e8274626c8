//! Who speaks under which strategy, and what they are told.

use adjourn_core::roundtable::Strategy;
use serde_json::json;

use crate::stage::Stage;

/// Holds so many rounds under a strategy, with four participants who each say who they are and when.
fn hold(strategy: &str, rounds: u32) -> Stage {
    let stage = Stage::of_players("");
    let roles = ["architect", "qa", "product"];
    for round in 1..=rounds {
        for role in roles {
            let said = json!({
                "position": format!("{role} in round {round}"), "confidence": 0.9, "stance": "support",
            });
            stage.plays(&format!("{role}-{round}"), &said);
        }
        stage.plays(&format!("close-{round}"), &json!({ "summary": format!("summary of round {round}") }));
    }
    let limits = json!({ "min_rounds": rounds, "max_rounds": rounds });
    let participants = match strategy {
        "debate" => json!([
            { "role": "architect", "side": "for" }, { "role": "qa", "side": "against" }, "product",
        ]),
        _ => json!(roles),
    };
    let table = stage.table(json!({ "strategy": strategy, "participants": participants, "limits": limits }));
    assert_eq!(table.close_reason(), "max_rounds");
    let named = Strategy::named(strategy).unwrap();
    for round in 1..=rounds {
        let phase = named.phase(round).name;
        let opened = stage.told(&format!("open-{round}"), 1);
        let expected = format!("The round is the phase `{phase}` of the strategy `{strategy}`.");
        assert!(opened.contains(&expected), "{expected} is not in {opened}");
    }
    stage
}

/// Which answers and summaries somebody was shown.
fn seen(stage: &Stage, part: &str) -> Vec<String> {
    let told = stage.told(part, 1);
    let mut seen = Vec::new();
    for round in 1..=6 {
        for who in ["architect in", "qa in", "product in", "summary of"] {
            let what = format!("{who} round {round}");
            if told.contains(&what) {
                seen.push(what);
            }
        }
    }
    seen
}

#[test]
fn under_standard_everybody_sees_the_last_summary_and_nobodys_words() {
    let stage = hold("standard", 2);
    assert!(stage.told("qa-1", 1).contains("Answer the question from the point of view of your role."));
    assert_eq!(seen(&stage, "qa-1"), [""; 0]);
    assert_eq!(seen(&stage, "qa-2"), ["summary of round 1"]);
}

#[test]
fn under_debate_the_sides_answer_each_other_and_the_neutral_ones_listen_first() {
    let stage = hold("debate", 3);
    let opening = stage.told("architect-1", 1);
    assert!(opening.contains("You speak `for`.") && opening.contains("Make the strongest case for it"));
    assert!(stage.told("qa-1", 1).contains("You speak `against`."));
    assert!(!stage.was_told("product-1", 1) && !stage.was_told("product-2", 1));
    assert!(stage.told("qa-2", 1).contains("Answer its best argument"));
    assert_eq!(seen(&stage, "qa-2"), ["architect in round 1"]);
    assert_eq!(seen(&stage, "architect-2"), ["qa in round 1"]);
    let all = ["architect in round 1", "qa in round 1", "architect in round 2", "qa in round 2"];
    assert_eq!(seen(&stage, "product-3"), all);
    let asked: Vec<_> =
        stage.told("open-3", 1).lines().filter(|it| it.contains("Asked are")).map(str::to_owned).collect();
    assert!(asked[0].contains("`qa`, `architect`, `product`"), "{asked:?}");
}

#[test]
fn under_disney_everybody_dreams_then_plans_then_criticises() {
    let stage = hold("disney", 4);
    assert!(stage.told("qa-1", 1).contains("Everything is possible"));
    assert_eq!(seen(&stage, "qa-1"), [""; 0]);
    assert!(stage.told("qa-2", 1).contains("You are given what was dreamt."));
    let first = ["architect in round 1", "qa in round 1", "product in round 1"];
    assert_eq!(seen(&stage, "qa-2"), first);
    assert!(stage.told("qa-3", 1).contains("You are given the dream and the plan."));
    assert_eq!(seen(&stage, "qa-3").len(), 6);
    assert_eq!(seen(&stage, "qa-4"), ["summary of round 3"], "the next dream begins with what is left");
}

#[test]
fn under_consensus_driven_everybody_says_how_far_they_go_along() {
    let stage = hold("consensus-driven", 2);
    assert!(stage.told("qa-1", 1).contains("everybody at this table could live with"));
    let stance = stage.told("qa-2", 1);
    assert!(stance.contains("Say in `stance` how far you go along"));
    assert_eq!(seen(&stage, "qa-2"), ["architect in round 1", "qa in round 1", "product in round 1"]);
    let (_, schema) = stance.rsplit_once("JSON schema").unwrap();
    assert!(schema.contains("\"stand_aside\"") && schema.contains("\"stance\""));
}

#[test]
fn under_six_hats_everybody_wears_the_same_one() {
    let stage = hold("six-hats", 6);
    for (round, words) in [
        (1, "Only what is known"),
        (2, "Only what you feel about it"),
        (3, "Only what is good about it"),
        (4, "Only what is dangerous about it"),
        (5, "Only what is new"),
        (6, "Look back over the whole round of hats."),
    ] {
        for role in ["architect", "qa", "product"] {
            let told = stage.told(&format!("{role}-{round}"), 1);
            assert!(told.contains(words), "{role} in round {round}: {told}");
        }
    }
    assert_eq!(seen(&stage, "qa-2"), [""; 0], "nobody has heard what others feel");
    assert_eq!(seen(&stage, "qa-6").len(), 15);
}
