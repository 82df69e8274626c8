//! The tool that asks the user, as agents are offered it.

use adjourn_core::{Question, QuestionKind};
use adjourn_engine::model::ToolOffer;
use serde_json::{Value, json};

/// The longest time that an agent can give its question: a year.
const TIMEOUT_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;

/// The tool under this name, for an agent that may ask.
pub(super) fn offer(name: &str) -> ToolOffer {
    ToolOffer {
        name: name.to_owned(),
        description: "Asks the user for a decision or a fact that only they have. The answer may take hours: when you are \
                      told that the question is with the user, end your turn; you will go on with the answer. Ask one \
                      thing, and give what is needed to answer it."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {
                "prompt": { "type": "string", "description": "The question, in whole sentences." },
                "kind": {
                    "type": "string",
                    "enum": QuestionKind::ALL,
                    "description": "How it is answered. Without it: a choice if there are options, a form if there are \
                                    fields, else free text.",
                },
                "options": {
                    "type": "array",
                    "items": { "type": "string" },
                    "description": "What can be chosen.",
                },
                "fields": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": { "type": "string" },
                            "label": { "type": "string" },
                            "kind": {
                                "type": "string",
                                "enum": ["text", "number", "integer", "boolean", "choose_one", "choose_many"],
                            },
                            "required": { "type": "boolean" },
                            "options": { "type": "array", "items": { "type": "string" } },
                        },
                        "required": ["name"],
                    },
                    "description": "What a form asks for.",
                },
                "default": { "description": "What holds if nobody is there to answer." },
                "timeout_seconds": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": TIMEOUT_SECONDS_MAX,
                    "description": "When the question is of no use any more: it is then withdrawn, and you go on without \
                                    an answer. Leave it out unless the answer is worthless later.",
                },
            },
            "required": ["prompt"],
        }),
    }
}

/// The question that the tool was called with, or what is wrong with it.
pub(super) fn question(arguments: &Value) -> Result<Question, String> {
    Question::read(arguments).map_err(|problem| format!("this cannot be asked: {problem}"))
}

/// The time that the agent gives its question, or what is wrong with it.
pub(super) fn timeout(arguments: &Value) -> Result<Option<u32>, String> {
    let Some(given) = arguments.get("timeout_seconds").filter(|given| !given.is_null()) else {
        return Ok(None);
    };
    let seconds = given.as_u64().and_then(|seconds| u32::try_from(seconds).ok());
    let fits = seconds.filter(|seconds| (1..=TIMEOUT_SECONDS_MAX).contains(seconds));
    fits.map(Some).ok_or_else(|| {
        format!("this cannot be asked: `timeout_seconds` is a whole number from 1 to {TIMEOUT_SECONDS_MAX}")
    })
}

#[cfg(test)]
mod tests {
    use adjourn_core::{QuestionKind, Schema};
    use serde_json::json;

    use super::{offer, question, timeout};

    #[test]
    fn what_the_offer_allows_can_be_asked() {
        let schema = Schema::compile(&offer("ask").input_schema).unwrap();
        for (arguments, kind) in [
            (json!({ "prompt": "Why?" }), QuestionKind::OpenText),
            (json!({ "prompt": "Which?", "options": ["a", "b"] }), QuestionKind::ChooseOne),
            (json!({ "prompt": "Sure?", "kind": "confirm" }), QuestionKind::Confirm),
            (
                json!({ "prompt": "Who?", "fields": [{ "name": "n", "kind": "text", "required": true }] }),
                QuestionKind::Form,
            ),
        ] {
            assert_eq!(schema.check(&arguments), Ok(()), "{arguments}");
            assert_eq!(question(&arguments).unwrap().kind, kind, "{arguments}");
        }
        let wrong = question(&json!({ "kind": "confirm" })).unwrap_err();
        assert_eq!(wrong, "this cannot be asked: the question has no `prompt`");
    }

    #[test]
    fn a_question_has_a_time_of_its_own_only_within_reason() {
        assert_eq!(timeout(&json!({ "prompt": "Why?" })), Ok(None));
        assert_eq!(timeout(&json!({ "timeout_seconds": 60 })), Ok(Some(60)));
        for wrong in [json!(0), json!(-1), json!(1.5), json!("60"), json!(31_536_001), json!(u64::MAX)] {
            let refused = timeout(&json!({ "timeout_seconds": wrong })).unwrap_err();
            assert!(refused.contains("from 1 to 31536000"), "{refused}");
        }
    }
}
