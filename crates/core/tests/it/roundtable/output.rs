//! What agents have to print: whatever meets its schema is understood, and what is not is no output.

use adjourn_core::Schema;
use adjourn_core::roundtable::{
    Ask, Position, StanceRule, Synthesis, answer_schema, ask_schema, synthesis_schema,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Each of `good` meets the schema and reads as a `T`; none of `bad` meets it.
fn check<T: DeserializeOwned>(schema: &Value, good: &[Value], bad: &[Value]) {
    let schema = Schema::compile(schema).unwrap();
    for output in good {
        assert_eq!(schema.check(output), Ok(()), "{output}");
        assert!(serde_json::from_value::<T>(output.clone()).is_ok(), "{output} is not understood");
    }
    for output in bad {
        assert!(schema.check(output).is_err(), "{output} meets the schema");
    }
}

#[test]
fn a_question_needs_words_and_may_have_a_focus_context_and_directives() {
    let full = json!({
        "focus": { "kind": "conflict", "id": "CONF-001" }, "question": "Well?", "context": "so far",
        "directives": { "qa": "think of refunds" },
    });
    let good = [
        json!({ "question": "Well?" }),
        json!({ "question": "Well?", "focus": null, "context": null }),
        full,
    ];
    let bad = [
        json!("Well?"),
        json!({}),
        json!({ "question": " \n" }),
        json!({ "question": "Well?", "focus": { "kind": "mood", "id": "x" } }),
        json!({ "question": "Well?", "focus": "users" }),
        json!({ "question": "Well?", "directives": ["qa"] }),
    ];
    check::<Ask>(&ask_schema(), &good, &bad);
}

#[test]
fn an_answer_needs_a_position_and_a_confidence() {
    let good = [
        json!({ "position": "yes", "confidence": 1 }),
        json!({ "position": "yes", "confidence": 0.25, "rationale": "because", "stance": "stand_aside" }),
        json!({ "position": "yes", "confidence": 0, "rationale": null, "stance": null }),
    ];
    let bad = [
        json!({ "position": "yes" }),
        json!({ "confidence": 1 }),
        json!({ "position": "", "confidence": 1 }),
        json!({ "position": "yes", "confidence": 1.1 }),
        json!({ "position": "yes", "confidence": "high" }),
        json!({ "position": "yes", "confidence": 1, "stance": "veto" }),
    ];
    check::<Position>(&answer_schema(StanceRule::Free), &good, &bad);
}

#[test]
fn where_stances_count_an_answer_needs_one() {
    let good = [json!({ "position": "yes", "confidence": 1, "stance": "block" })];
    let bad = [
        json!({ "position": "yes", "confidence": 1 }),
        json!({ "position": "yes", "confidence": 1, "stance": null }),
    ];
    check::<Position>(&answer_schema(StanceRule::Required), &good, &bad);
}

#[test]
fn a_synthesis_needs_a_summary_and_one_wrong_proposal_does_not_cost_it() {
    let good = [
        json!({ "summary": "so" }),
        json!({ "summary": "so", "proposals": [{ "action": "fly" }, 5], "next": "escalate" }),
        json!({ "summary": "so", "next": null, "recommendation": null }),
    ];
    let bad = [
        json!({ "summary": "" }),
        json!({ "summary": "so", "proposals": "none" }),
        json!({ "summary": "so", "next": "stop" }),
    ];
    check::<Synthesis>(&synthesis_schema(), &good, &bad);
}
