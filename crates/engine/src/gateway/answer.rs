//! What an agent is told about a call, in the terms of the protocol.
//!
//! The fields of a consequence are there as they are, for whoever reads them; what they mean for the agent is said in a
//! sentence before them, because models act on sentences.

use adjourn_core::{Consequence, ContractStatus};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use crate::toolbox::{Stale, Told};

const WITH_USER: &str = "The question is with the user. End your turn now, without calling this again: you will go on with the answer.";

const NO_ATTEMPT_LEFT: &str = "This was your last attempt, so that nobody can be asked any more: the question was not asked. End your turn now.";

const ASSUMED: &str = "Nobody was there to answer, so this was decided for the user. Treat it as an assumption, and say so in the result.";

/// What became of a call.
pub(super) fn answer(told: Told) -> Result<CallToolResult, ErrorData> {
    match told {
        Told::Over(consequence) => Ok(over(consequence)),
        Told::Before(consequence) => Ok(said(before(&consequence), json!(consequence))),
        Told::WithUser(execution_id) => {
            let fields = json!({"execution_id": execution_id, "status": ContractStatus::Waiting});
            Ok(said(WITH_USER, fields))
        }
        Told::NoAttemptLeft(execution_id) => {
            let fields = json!({"execution_id": execution_id, "status": ContractStatus::Pending});
            Ok(said(NO_ATTEMPT_LEFT, fields))
        }
        Told::Refused(problem) => Ok(CallToolResult::error(vec![ContentBlock::text(problem)])),
        Told::Stale(stale @ Stale) => Err(ErrorData::invalid_request(stale.to_string(), None)),
    }
}

fn over(consequence: Consequence) -> CallToolResult {
    let meaning = match consequence.status {
        ContractStatus::Completed if consequence.assumed => return said(ASSUMED, json!(consequence)),
        ContractStatus::Completed => return done(consequence.result.unwrap_or_default()),
        _ if consequence.outcome_unknown => "Nobody knows whether this was done. Do not try it again.",
        ContractStatus::Rejected => "The user does not want this. Do not try it again.",
        ContractStatus::Failed => "This failed, and was not done.",
        ContractStatus::Cancelled => "This was cancelled, and was not done.",
        ContractStatus::Pending | ContractStatus::Running | ContractStatus::Waiting => {
            "This is not over yet."
        }
    };
    let mut told = said(meaning, json!(consequence));
    told.is_error = Some(true);
    told
}

/// The same was asked for before, which is no mistake of the agent: it may have forgotten.
fn before(consequence: &Consequence) -> &'static str {
    match consequence.status {
        _ if consequence.outcome_unknown => {
            "The same call was made before, and nobody knows whether it was done. It was not made again: do not repeat it."
        }
        ContractStatus::Completed => {
            "This was already done before, and not again now: here is the earlier result. Do not repeat it."
        }
        ContractStatus::Pending
        | ContractStatus::Running
        | ContractStatus::Waiting
        | ContractStatus::Failed
        | ContractStatus::Rejected
        | ContractStatus::Cancelled => {
            "The same call was made before, and not again now: this is how that stands. Do not repeat it."
        }
    }
}

/// Both ways, because some agents show their model only the fields and others only the text.
fn said(meaning: &str, mut fields: Value) -> CallToolResult {
    let blocks = vec![ContentBlock::text(meaning), ContentBlock::text(fields.to_string())];
    let mut told = CallToolResult::success(blocks);
    fields["meaning"] = json!(meaning);
    told.structured_content = Some(fields);
    told
}

/// The result of a tool, as near as possible to how the tool gave it.
fn done(result: Value) -> CallToolResult {
    match result {
        // Pictures and the like; as text they would only fill the model's context.
        Value::Array(items) if !items.is_empty() => match blocks(&items) {
            Some(blocks) => CallToolResult::success(blocks),
            None => structured(json!({"result": items})),
        },
        Value::String(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        Value::Object(_) => structured(result),
        // The protocol wants an object.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            structured(json!({"result": result}))
        }
    }
}

fn structured(fields: Value) -> CallToolResult {
    CallToolResult::structured(fields)
}

fn blocks(items: &[Value]) -> Option<Vec<ContentBlock>> {
    items.iter().map(|item| serde_json::from_value(item.clone()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use adjourn_core::{Consequence, ContractStatus, ExecutionId};
    use serde_json::{Value, json};

    use super::answer;
    use crate::toolbox::{Stale, Told};

    fn consequence(status: ContractStatus) -> Consequence {
        Consequence {
            execution_id: ExecutionId::from_bits(1),
            status,
            result: None,
            error_message: None,
            outcome_unknown: false,
            assumed: false,
            arguments: None,
        }
    }

    fn told(told: Told) -> Value {
        serde_json::to_value(answer(told).unwrap()).unwrap()
    }

    #[test]
    fn a_result_is_given_as_the_tool_gave_it() {
        let completed = |result: Value| {
            told(Told::Over(Consequence { result: Some(result), ..consequence(ContractStatus::Completed) }))
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let picture = json!({"type": "image", "data": "AAAA", "mimeType": "image/png"});
        for (result, content, structured) in [
            (json!("hi"), json!([text("hi")]), Value::Null),
            (json!({"n": 1}), json!([text(r#"{"n":1}"#)]), json!({"n": 1})),
            (json!(7), json!([text(r#"{"result":7}"#)]), json!({"result": 7})),
            (json!([1, 2]), json!([text(r#"{"result":[1,2]}"#)]), json!({"result": [1, 2]})),
            (json!([text("a"), picture]), json!([text("a"), picture]), Value::Null),
        ] {
            let told = completed(result);
            assert_eq!((&told["content"], &told["structuredContent"]), (&content, &structured));
            assert_eq!(told["isError"], false);
        }
    }

    #[test]
    fn an_answer_that_nobody_gave_is_told_as_an_assumption() {
        let answered = Consequence { result: Some(json!("blue")), ..consequence(ContractStatus::Completed) };
        let told = told(Told::Over(Consequence { assumed: true, ..answered }));
        assert_eq!((&told["isError"], &told["structuredContent"]["result"]), (&json!(false), &json!("blue")));
        assert!(told["content"][0]["text"].as_str().unwrap().contains("Nobody was there"));
    }

    #[test]
    fn what_was_not_done_is_an_error_that_says_what_to_do() {
        let failed = Consequence {
            error_message: Some("no such address".to_owned()),
            ..consequence(ContractStatus::Failed)
        };
        let told_of = told(Told::Over(failed.clone()));
        let mut fields = json!(failed);
        fields["meaning"] = json!("This failed, and was not done.");
        assert_eq!((&told_of["isError"], &told_of["structuredContent"]), (&json!(true), &fields));
        let sentence = |status, outcome_unknown| {
            let told = told(Told::Over(Consequence { outcome_unknown, ..consequence(status) }));
            told["content"][0]["text"].as_str().unwrap().to_owned()
        };
        assert!(sentence(ContractStatus::Rejected, false).contains("Do not try it again"));
        assert!(sentence(ContractStatus::Failed, true).contains("Do not try it again"));
        assert!(!sentence(ContractStatus::Failed, false).contains("again"));
    }

    #[test]
    fn what_was_done_before_is_no_error_and_not_to_be_repeated() {
        let done = Consequence { result: Some(json!("sent")), ..consequence(ContractStatus::Completed) };
        let before = told(Told::Before(done));
        assert_eq!(
            (&before["isError"], &before["structuredContent"]["result"]),
            (&json!(false), &json!("sent"))
        );
        assert!(before["content"][0]["text"].as_str().unwrap().contains("already done"));
        assert_eq!(before["structuredContent"]["meaning"], before["content"][0]["text"]);
        let lost = Consequence { outcome_unknown: true, ..consequence(ContractStatus::Failed) };
        let before = told(Told::Before(lost));
        assert!(before["content"][0]["text"].as_str().unwrap().contains("nobody knows"));
    }

    #[test]
    fn a_turn_that_is_over_is_an_error_of_the_protocol() {
        assert_eq!(answer(Told::Stale(Stale)).unwrap_err().message, "the turn is over");
    }
}
