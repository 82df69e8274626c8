//! What agents at the table have to print: the schemas of their runs' output.
//!
//! They ask for what a round cannot do without, and no more. A proposal that makes no sense is noted and left out, so a
//! schema that refused it would cost the whole synthesis for one slip.

use serde_json::{Value, json};

use super::answer::Stance;
use super::next::NextAction;
use super::proposal::FocusKind;
use super::strategy::StanceRule;

/// What the facilitator prints to open a round: an [`Ask`](super::Ask).
pub fn ask_schema() -> Value {
    json!({
        "type": "object",
        "required": ["question"],
        "properties": {
            "focus": {
                "type": ["object", "null"],
                "required": ["kind", "id"],
                "properties": {
                    "kind": { "enum": FocusKind::ALL },
                    "id": { "type": "string" },
                },
            },
            "question": text(),
            "context": { "type": ["string", "null"] },
            "directives": { "type": "object", "additionalProperties": { "type": "string" } },
        },
    })
}

/// What a participant prints: a [`Position`](super::Position).
pub fn answer_schema(stance: StanceRule) -> Value {
    let required: &[&str] = match stance {
        StanceRule::Free => &["position", "confidence"],
        StanceRule::Required => &["position", "confidence", "stance"],
    };
    let stances: Vec<_> = match stance {
        StanceRule::Free => Stance::ALL.iter().map(|stance| json!(stance)).chain([Value::Null]).collect(),
        StanceRule::Required => Stance::ALL.iter().map(|stance| json!(stance)).collect(),
    };
    json!({
        "type": "object",
        "required": required,
        "properties": {
            "position": text(),
            "rationale": { "type": ["string", "null"] },
            "confidence": { "type": "number", "minimum": 0, "maximum": 1 },
            "stance": { "enum": stances },
        },
    })
}

/// What the facilitator prints to close a round: a [`Synthesis`](super::Synthesis).
pub fn synthesis_schema() -> Value {
    let next: Vec<_> = NextAction::ALL.iter().map(|next| json!(next)).chain([Value::Null]).collect();
    json!({
        "type": "object",
        "required": ["summary"],
        "properties": {
            "summary": text(),
            "proposals": { "type": "array" },
            "next": { "enum": next },
            "recommendation": { "type": ["string", "null"] },
        },
    })
}

/// Text that is more than white space.
fn text() -> Value {
    json!({ "type": "string", "pattern": "\\S" })
}
