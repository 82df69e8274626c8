//! The question that a crash in doubt leaves: did this call happen?

use serde_json::Value;

use crate::names::named;
use crate::{Choice, Contract, ContractAction, FieldError, Question, canonical};

named! {
    /// What a person says of a call that was in flight.
    pub enum Answer {
        /// It took effect.
        Happened = "happened",
        /// It did not, and may be tried again.
        DidNotHappen = "did_not_happen",
        /// Nobody can say: the run ends, and the call stays in doubt.
        CancelRun = "cancel_run",
    }
}

/// The question, with all that is known of the call.
pub(crate) fn question(contract: &Contract) -> Question {
    let call = match &contract.spec.action {
        ContractAction::ToolCall(call) => {
            format!("{} of {} with {}", call.method, call.service, canonical(&call.arguments))
        }
        ContractAction::EcsRequest(question) => question.prompt.clone(),
    };
    let when = contract.dispatched_at.map_or_else(String::new, |at| format!(" at {at}"));
    let prompt = format!(
        "Adjourn was stopped after it began an irreversible call{when} and before it had its result: {call}. \
         Did it happen?"
    );
    let options = vec![
        Choice::new(Answer::Happened.name(), "It happened"),
        Choice::new(Answer::DidNotHappen.name(), "It did not happen: it may be tried again"),
        Choice::new(Answer::CancelRun.name(), "Cancel the run: the call stays in doubt"),
    ];
    Question::choose_one(prompt, options)
}

/// Checks an answer: one of the options, or `{value, note}` where there is more to say.
pub(crate) fn check(question: &Question, response: &Value) -> Result<Value, Vec<FieldError>> {
    let Some(fields) = response.as_object() else { return crate::reply::check(question, response) };
    let value = fields.get("value").unwrap_or(&Value::Null);
    let value = crate::reply::check(question, value)
        .map_err(|errors| errors.into_iter().map(below_value).collect::<Vec<_>>())?;
    let note = match fields.get("note") {
        None | Some(Value::Null) => Value::Null,
        Some(Value::String(note)) => Value::String(note.clone()),
        Some(_) => {
            let message = "a note is text".to_owned();
            return Err(vec![FieldError { path: "/note".to_owned(), message }]);
        }
    };
    Ok(serde_json::json!({ "value": value, "note": note }))
}

fn below_value(error: FieldError) -> FieldError {
    FieldError { path: format!("/value{}", error.path), ..error }
}

/// Reads a checked answer.
pub(crate) fn read(answer: &Value) -> (Answer, Option<String>) {
    let (value, note) = match answer.as_object() {
        Some(fields) => (fields.get("value"), fields.get("note").and_then(Value::as_str)),
        None => (Some(answer), None),
    };
    let value = value.and_then(Value::as_str).and_then(|name| name.parse().ok());
    (value.expect("the answer was checked against the options"), note.map(str::to_owned))
}
