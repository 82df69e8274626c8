//! The tool that asks the user, as agents are offered it.

use adjourn_core::{Question, QuestionKind};
use adjourn_engine::model::ToolOffer;
use serde_json::{Value, json};

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
            },
            "required": ["prompt"],
        }),
    }
}

/// The question that the tool was called with, or what is wrong with it.
pub(super) fn question(arguments: &Value) -> Result<Question, String> {
    Question::read(arguments).map_err(|problem| format!("this cannot be asked: {problem}"))
}

#[cfg(test)]
mod tests {
    use adjourn_core::{QuestionKind, Schema};
    use serde_json::json;

    use super::{offer, question};

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
}
