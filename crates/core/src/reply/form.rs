//! Answers that consist of fields.

use serde_json::{Map, Number, Value};

use super::{below, choice, text, whole, yes_or_no};
use crate::{Field, FieldError, FieldKind};

/// The form as `response` fills it in: every field by its kind, defaults where something was left out.
pub(super) fn check(fields: &[Field], response: &Value) -> Result<Value, Vec<FieldError>> {
    let Value::Object(given) = response else {
        return Err(whole("is not an object with the fields of the form"));
    };
    let mut answer = Map::new();
    let mut errors = Vec::new();
    for field in fields {
        let path = below("", &field.name);
        // Null is how many clients say that nothing was filled in.
        match given.get(&field.name).filter(|value| !value.is_null()) {
            Some(value) => match check_field(field, value, &path) {
                Ok(value) => _ = answer.insert(field.name.clone(), value),
                Err(problems) => errors.extend(problems),
            },
            None => match default(field) {
                Some(value) => _ = answer.insert(field.name.clone(), value),
                None if field.required => errors.push(FieldError::new(path, "is missing")),
                None => {}
            },
        }
    }
    errors.extend(unknown(fields, given));
    if errors.is_empty() { Ok(Value::Object(answer)) } else { Err(errors) }
}

/// The form as it is when nobody fills it in.
pub(super) fn defaults(fields: &[Field]) -> Value {
    fields.iter().filter_map(|field| Some((field.name.clone(), default(field)?))).collect()
}

/// The field's default, if that is an answer.
fn default(field: &Field) -> Option<Value> {
    check_field(field, field.default.as_ref()?, "").ok()
}

fn unknown<'a>(fields: &'a [Field], given: &'a Map<String, Value>) -> impl Iterator<Item = FieldError> + 'a {
    given.keys().filter(|name| fields.iter().all(|field| field.name != **name)).map(|name| {
        let known: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        FieldError::new(below("", name), format!("is not a field of the form: it has {}", known.join(", ")))
    })
}

fn check_field(field: &Field, value: &Value, path: &str) -> Result<Value, Vec<FieldError>> {
    let at = |problem: &str| vec![FieldError::new(path, problem)];
    match field.kind {
        FieldKind::Text if field.required => text(value).map_err(at),
        FieldKind::Text if value.is_string() => Ok(value.clone()),
        FieldKind::Text => Err(at("is not a string")),
        FieldKind::Number => number(value).map(Value::Number).ok_or_else(|| at("is not a number")),
        FieldKind::Integer => integer(value).ok_or_else(|| at("is not a whole number")),
        FieldKind::Boolean => yes_or_no(value).map_err(at),
        FieldKind::ChooseOne => choice::one(&field.options, value).map_err(|problem| at(&problem)),
        FieldKind::ChooseMany => choice::many(&field.options, value, path),
    }
}

/// A number, or the text of one, which is what terminals and HTML forms have.
fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str(text.trim()).ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn integer(value: &Value) -> Option<Value> {
    /// Beyond this a float no longer says which integer is meant.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

    let number = number(value)?;
    if !number.is_f64() {
        return Some(Value::Number(number));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() <= EXACT_MAX).then(|| Value::from(float as i64))
}
