//! Answers that are taken from a list.

use serde_json::Value;

use super::below;
use crate::{Choice, FieldError, canonical, excerpt};

/// How much of the options a refusal repeats.
const OPTIONS_BYTES_MAX: usize = 400;

/// The value of the one option that `response` means.
pub(super) fn one(options: &[Choice], response: &Value) -> Result<Value, String> {
    // In canonical form, because a client may send 1 as 1.0.
    let same = canonical(response);
    if let Some(choice) = options.iter().find(|choice| canonical(&choice.value) == same) {
        return Ok(choice.value.clone());
    }
    let mut meant = options.iter().filter(|choice| names(response, choice)).map(|choice| &choice.value);
    match (meant.next(), meant.next()) {
        (Some(value), None) => Ok(value.clone()),
        (Some(_), Some(_)) => Err(format!("fits more than one option, say its value: {}", listed(options))),
        (None, _) => Err(format!("is not one of the options: {}", listed(options))),
    }
}

/// The values of the options that `response` means; a single one may stand for itself.
pub(super) fn many(options: &[Choice], response: &Value, path: &str) -> Result<Value, Vec<FieldError>> {
    let items = match response {
        Value::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let mut chosen: Vec<Value> = Vec::new();
    let mut errors = Vec::new();
    for (place, item) in items.iter().enumerate() {
        // The path of something in a list only where there is one.
        let path = if response.is_array() { below(path, &place.to_string()) } else { path.to_owned() };
        match one(options, item) {
            Ok(value) if chosen.contains(&value) => {
                errors.push(FieldError::new(path, "is chosen twice, once is enough"));
            }
            Ok(value) => chosen.push(value),
            Err(problem) => errors.push(FieldError::new(path, problem)),
        }
    }
    if errors.is_empty() { Ok(Value::Array(chosen)) } else { Err(errors) }
}

/// Whether `response` is how a person would name `choice`.
fn names(response: &Value, choice: &Choice) -> bool {
    let Value::String(word) = response else { return false };
    let word = word.trim();
    word.to_lowercase() == choice.label.trim().to_lowercase()
        || choice.value.is_number() && word == canonical(&choice.value)
}

fn listed(options: &[Choice]) -> String {
    let options: Vec<_> = options
        .iter()
        .map(|Choice { value, label }| match value {
            Value::String(value) if value == label => format!("\"{value}\""),
            value => format!("{value} ({label})"),
        })
        .collect();
    excerpt::head(&options.join(", "), OPTIONS_BYTES_MAX)
}
