//! Whether a reply answers its question.
//!
//! People answer in words, programs in JSON: `"Yes"` and `true` are the same answer to a question that asks for one.
//! So a reply is brought into one normal form here, and only that is kept and told to the agent.

mod choice;
mod form;

use serde_json::Value;

use crate::schema::ANSWER_STEPS_MAX;
use crate::{FieldError, Question, QuestionKind, Schema};

/// What Adjourn answers alone where any text is an answer.
const GO_ON: &str =
    "Nobody is available to answer. Go on with your best judgement, and say what you assumed.";

/// The answer that `response` gives to `question`, in its normal form, or everything that is wrong with it.
///
/// ```
/// use adjourn_core::{Choice, Question, reply};
/// use serde_json::json;
///
/// let question = Question::choose_one("Where to?", vec![Choice::new("prod", "Production")]);
/// assert_eq!(reply::check(&question, &json!("production")), Ok(json!("prod")));
///
/// let errors = reply::check(&question, &json!("moon")).unwrap_err();
/// assert_eq!(errors[0].message, "is not one of the options: \"prod\" (Production)");
/// ```
pub fn check(question: &Question, response: &Value) -> Result<Value, Vec<FieldError>> {
    let Question { kind, options, fields, schema, .. } = question;
    let answer = match kind {
        QuestionKind::OpenText if schema.is_some() => response.clone(),
        QuestionKind::OpenText => text(response).map_err(whole)?,
        QuestionKind::ChooseOne => choice::one(options, response).map_err(whole)?,
        QuestionKind::ChooseMany => choice::many(options, response, "")?,
        QuestionKind::Confirm => yes_or_no(response).map_err(whole)?,
        QuestionKind::Form if fields.is_empty() && schema.is_some() => response.clone(),
        QuestionKind::Form => form::check(fields, response)?,
    };
    match schema {
        Some(schema) => meets(schema, answer),
        None => Ok(answer),
    }
}

fn meets(schema: &Value, answer: Value) -> Result<Value, Vec<FieldError>> {
    // Compiled each time: a person answers seldom, and a question is data that is kept without what was made of it.
    let schema = Schema::compile(schema).map_err(|error| whole(format!("cannot be checked: {error}")))?;
    schema.check_within(&answer, ANSWER_STEPS_MAX).map(|()| answer)
}

impl Question {
    /// What Adjourn answers when it has to decide alone: the default if it is an answer, else what changes least.
    pub fn default_answer(&self) -> Value {
        if let Some(answer) = self.default.as_ref().and_then(|default| check(self, default).ok()) {
            return answer;
        }
        match self.kind {
            QuestionKind::OpenText => Value::from(GO_ON),
            QuestionKind::ChooseOne => {
                self.options.first().map_or(Value::Null, |choice| choice.value.clone())
            }
            QuestionKind::ChooseMany => Value::Array(Vec::new()),
            QuestionKind::Confirm => Value::Bool(false),
            QuestionKind::Form => form::defaults(&self.fields),
        }
    }
}

/// One error about the reply as a whole.
fn whole(message: impl Into<String>) -> Vec<FieldError> {
    vec![FieldError::new("", message)]
}

/// A JSON pointer one level below `path`.
fn below(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

fn text(response: &Value) -> Result<Value, &'static str> {
    match response {
        Value::String(text) if text.trim().is_empty() => Err("is blank, it should be some text"),
        Value::String(_) => Ok(response.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err("is not a string")
        }
    }
}

fn yes_or_no(response: &Value) -> Result<Value, &'static str> {
    const PROBLEM: &str = "is neither yes nor no: it should be true or false";
    match response {
        Value::Bool(_) => Ok(response.clone()),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "yes" | "y" | "true" => Ok(Value::Bool(true)),
            "no" | "n" | "false" => Ok(Value::Bool(false)),
            _ => Err(PROBLEM),
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => Err(PROBLEM),
    }
}

#[cfg(test)]
mod tests;
