//! What agents at a roundtable do and say: mostly something of use, sometimes nonsense, sometimes nothing.

use adjourn_core::RunId;
use adjourn_core::roundtable::{Purpose, Roundtable};
use adjourn_store::conformance::Random;
use serde_json::{Value, json};

use crate::plan::{Act, Agents, End};

/// What the agent of a run does, by attempt.
pub(super) fn script(
    random: &mut Random,
    agents: Agents,
    roundtable: &Roundtable,
    run_id: RunId,
    purpose: &Purpose,
) -> Vec<Vec<Act>> {
    match agents {
        Agents::Reliable => vec![work(20, Act::Print(reliable(roundtable, run_id, purpose)))],
        Agents::Anyhow => {
            let of_use = said(random, roundtable, run_id, purpose);
            let end = match random.below(30) {
                0 => Act::Print(r#"{"__SKILL_DONE__": true, "n": 1}"#.to_owned()),
                1 => Act::Print(blank(purpose)),
                2 => Act::End(End::Fail),
                3 => Act::End(End::Hang),
                4 => Act::End(End::Vanish),
                5 => Act::End(End::Prose),
                6 => Act::End(End::Ask),
                _ => Act::Print(of_use.clone()),
            };
            let mut first = work(crate::seeded::delay(random), end);
            if random.once_in(6) {
                // It leaves nothing to go on by.
                first.remove(0);
            }
            vec![first, work(20, Act::Print(of_use))]
        }
    }
}

fn work(ms: i64, end: Act) -> Vec<Act> {
    vec![Act::Handle, Act::Work(ms), end]
}

/// A document, as an agent prints it.
fn printed(mut document: Value) -> String {
    document["__SKILL_DONE__"] = json!(true);
    document.to_string()
}

/// A document of the right form that says nothing.
fn blank(purpose: &Purpose) -> String {
    printed(match purpose {
        Purpose::Ask => json!({ "question": " " }),
        Purpose::Answer(_) => json!({ "position": " ", "confidence": 1.0 }),
        Purpose::Synthesis => json!({ "summary": " " }),
    })
}

/// The plain course of a discussion: each round has one artifact that covers the next criterion.
fn reliable(roundtable: &Roundtable, run_id: RunId, purpose: &Purpose) -> String {
    let round = roundtable.current().map_or(1, |round| round.number);
    let criteria = &roundtable.spec().agenda[0].done_when.criteria;
    let covers = criteria.get(round as usize - 1).map(|criterion| criterion.id.clone());
    printed(match purpose {
        Purpose::Ask => json!({ "question": format!("What about round {round}? ({run_id})") }),
        Purpose::Answer(role) => {
            json!({ "position": format!("{role} says so ({run_id})"), "confidence": 0.9 })
        }
        Purpose::Synthesis => json!({
            "summary": format!("round {round} ({run_id})"),
            "proposals": [{
                "action": "create_artifact",
                "kind": "requirement",
                "title": format!("result {round}"),
                "body": "it has to be so",
                "covers": covers.into_iter().collect::<Vec<_>>(),
                "proposed_by": "facilitator",
            }],
        }),
    })
}

fn said(random: &mut Random, roundtable: &Roundtable, run_id: RunId, purpose: &Purpose) -> String {
    printed(match purpose {
        Purpose::Ask => {
            let focus = match random.below(4) {
                0 => json!({ "kind": "topic", "id": roundtable.spec().agenda[0].topic_id }),
                1 => json!({ "kind": "conflict", "id": "CONF-001" }),
                2 => json!({ "kind": "topic", "id": "the weather" }),
                _ => Value::Null,
            };
            json!({ "focus": focus, "question": format!("What about {run_id}?") })
        }
        Purpose::Answer(role) => json!({
            "position": format!("{role} says so ({run_id})"),
            "confidence": *random.one_of(&[0.2, 0.6, 1.0]),
            "stance": *random.one_of(&["support", "stand_aside", "block"]),
        }),
        Purpose::Synthesis => {
            let count = random.below(4);
            let proposals: Vec<_> = (0..count).map(|_| proposal(random, roundtable)).collect();
            json!({
                "summary": format!("where we stand ({run_id})"),
                "proposals": proposals,
                "next": *random.one_of(&[Some("continue"), Some("conclude"), Some("escalate"), None]),
                "recommendation": *random.one_of(&[None, Some("let it be so")]),
            })
        }
    })
}

/// A proposal that fits the roundtable as it was when its agent was created, or that does not.
fn proposal(random: &mut Random, roundtable: &Roundtable) -> Value {
    let topic = random.one_of(&roundtable.spec().agenda);
    let artifact = roundtable.artifacts().last().map(|artifact| artifact.id.to_string());
    let artifact = artifact.unwrap_or_else(|| "REQ-001".to_owned());
    let conflict = roundtable.open_conflicts().next().map(|conflict| conflict.about.conflict_id.to_string());
    let question = roundtable.open_questions().next().map(|question| question.about.question_id.to_string());
    let by = "facilitator";
    let because = "somebody said so";
    match random.below(14) {
        0..=4 => json!({
            "action": "create_artifact",
            "kind": *random.one_of(&["requirement", "decision"]),
            "topic_id": topic.topic_id,
            "title": "a result",
            "body": "it has to be so",
            "agreement": *random.one_of(&["consensus", "draft", "conflict"]),
            "covers": topic.done_when.criteria.iter().map(|criterion| &criterion.id).collect::<Vec<_>>(),
            "proposed_by": by,
        }),
        5 => json!({
            "action": "amend_artifact",
            "artifact": artifact,
            "body": format!("rather {}", random.below(1000)),
            "reason": because,
            "proposed_by": by,
        }),
        6 => {
            json!({ "action": "revert_artifact", "artifact": artifact, "reason": because, "proposed_by": by })
        }
        7 => json!({ "action": "supersede_artifact", "artifact": "REQ-001", "by": artifact }),
        8 => json!({ "action": "withdraw_artifact", "artifact": artifact, "reason": because }),
        9 | 10 => {
            let held = |position: &str| json!({ "held_by": [by], "position": position });
            json!({ "action": "open_conflict", "title": "this or that", "positions": [held("this"), held("that")] })
        }
        11 => match conflict {
            Some(id) => json!({ "action": "resolve_conflict", "conflict": id, "resolution": "this" }),
            None => json!("nothing of the kind"),
        },
        12 => json!({ "action": "open_question", "text": "And then?", "asked_by": by }),
        _ => json!({
            "action": "resolve_question",
            "question": question.unwrap_or_else(|| "nobody asked".to_owned()),
            "resolution": "then nothing",
        }),
    }
}
