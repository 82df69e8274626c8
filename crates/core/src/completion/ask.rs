//! Reads the question out of an object by which an agent asks.
//!
//! Agents ask as `{"__SKILL_DONE__": false, "message": …, "ui_hints": {…}}` or as `{"ask_user": {…}}`, with small
//! differences each time. What can be understood is taken; the rest is named as the problem, never guessed at.

use serde_json::{Map, Value};

use crate::{Choice, Field, FieldKind, Question, QuestionKind, Schema, check_size};

/// Bytes of a question with everything in it. A person reads some kilobytes.
const QUESTION_BYTES_MAX: usize = 256 * 1024;

/// Bytes of a question's schema. It is compiled again for every answer, on the kernel thread, which takes about 5 ms for
/// one of this size.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// What a turn asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Nothing.
    None,
    /// A question that can be put to a person as it is.
    Question(Question),
    /// It tried to ask, but the question cannot be read.
    Malformed {
        /// What is wrong with it.
        problem: String,
        /// What to ask instead: its own words if it had any, else the text of the turn.
        prompt: String,
    },
}

/// A question that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unreadable {
    pub(super) problem: String,
    /// Its words, if at least these could be read.
    pub(super) prompt: Option<String>,
}

impl Question {
    /// The question that an agent asks by this object, or what is wrong with it.
    pub fn read(ask: &Value) -> Result<Self, String> {
        read(ask).map_err(|unreadable| unreadable.problem)
    }
}

/// Where the words of a question may stand, best first.
const PROMPTS: [&str; 3] = ["prompt", "message", "question"];

/// Whether `object` asks anything, rather than only saying that the work is not done.
pub(super) fn asks(object: &Map<String, Value>) -> bool {
    PROMPTS
        .iter()
        .chain(&["ui_hints", "options", "fields", "required_fields"])
        .any(|key| object.contains_key(*key))
}

/// The question that `ask` holds.
pub(super) fn read(ask: &Value) -> Result<Question, Unreadable> {
    if let Err(too_big) = check_size(ask, QUESTION_BYTES_MAX) {
        return Err(Unreadable { problem: format!("the question is too big: {too_big}"), prompt: None });
    }
    match ask {
        Value::Object(object) => Source::new(object).question(),
        Value::String(words) => Err(Unreadable {
            problem: "the question is only a string, it should be an object with `prompt`".to_owned(),
            prompt: Some(words.trim().to_owned()).filter(|words| !words.is_empty()),
        }),
        other => Err(Unreadable {
            problem: format!("the question is {}, it should be an object with `prompt`", described(other)),
            prompt: None,
        }),
    }
}

/// An object that asks. What is in its `ui_hints` may as well stand next to them.
struct Source<'a> {
    object: &'a Map<String, Value>,
    hints: Option<&'a Map<String, Value>>,
}

impl<'a> Source<'a> {
    fn new(object: &'a Map<String, Value>) -> Self {
        Self { object, hints: object.get("ui_hints").and_then(Value::as_object) }
    }

    /// What stands under `key`, where null is as good as nothing.
    fn get(&self, key: &str) -> Option<&'a Value> {
        let places = self.hints.into_iter().chain([self.object]);
        places.filter_map(|place| place.get(key)).find(|value| !value.is_null())
    }

    fn question(&self) -> Result<Question, Unreadable> {
        let prompt = PROMPTS
            .iter()
            .filter_map(|key| self.get(key)?.as_str())
            .map(str::trim)
            .find(|words| !words.is_empty())
            .map(str::to_owned);
        match (self.form_of_answer(), prompt) {
            (Ok(form), Some(prompt)) => Ok(Question { prompt, ..form }),
            (Ok(_), None) => {
                Err(Unreadable { problem: "the question has no `prompt`".to_owned(), prompt: None })
            }
            (Err(problem), prompt) => Err(Unreadable { problem, prompt }),
        }
    }

    /// The question without its words.
    fn form_of_answer(&self) -> Result<Question, String> {
        let options = self.get("options").map(choices).transpose()?.unwrap_or_default();
        let schema = self.get("schema").map(usable_schema).transpose()?;
        let fields = self.fields()?;
        let kind = match self.get("kind") {
            Some(kind) => question_kind(kind)?,
            None if !options.is_empty() => QuestionKind::ChooseOne,
            None if !fields.is_empty() || schema.as_ref().is_some_and(describes_object) => QuestionKind::Form,
            None => QuestionKind::OpenText,
        };
        match kind {
            QuestionKind::ChooseOne | QuestionKind::ChooseMany if options.is_empty() => {
                return Err(format!("a `{kind}` question needs `options`"));
            }
            QuestionKind::Form if fields.is_empty() && schema.is_none() => {
                return Err("a `form` needs `fields` or a `schema`".to_owned());
            }
            QuestionKind::ChooseOne
            | QuestionKind::ChooseMany
            | QuestionKind::Form
            | QuestionKind::OpenText
            | QuestionKind::Confirm => {}
        }
        let default = self.get("default").cloned();
        // Some name the fields of the answer whatever its kind.
        let fields = if kind == QuestionKind::Form { fields } else { Vec::new() };
        Ok(Question { kind, prompt: String::new(), options, fields, schema, default })
    }

    fn fields(&self) -> Result<Vec<Field>, String> {
        let mut fields = match self.get("fields") {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(field).collect::<Result<_, _>>()?,
            Some(other) => return Err(format!("`fields` is {}, it should be a list", described(other))),
        };
        let required = match self.get("required_fields") {
            None => &[],
            Some(Value::Array(names)) => names.as_slice(),
            Some(other) => {
                return Err(format!("`required_fields` is {}, it should be a list", described(other)));
            }
        };
        for name in required {
            let Value::String(name) = name else {
                return Err(format!("a required field is {}, it should be a name", described(name)));
            };
            match fields.iter_mut().find(|field: &&mut Field| field.name == *name) {
                Some(field) => field.required = true,
                None => fields.push(Field { required: true, ..text_field(name) }),
            }
        }
        Ok(fields)
    }
}

fn question_kind(kind: &Value) -> Result<QuestionKind, String> {
    let Value::String(name) = kind else {
        return Err(format!("`kind` is {}, it should be a string", described(kind)));
    };
    normalised(name).parse().map_err(|unknown| format!("the question's `kind` is unknown: {unknown}"))
}

fn normalised(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

fn usable_schema(schema: &Value) -> Result<Value, String> {
    check_size(schema, SCHEMA_BYTES_MAX)
        .map_err(|error| format!("the question's `schema` is too big: {error}"))?;
    Schema::compile(schema)
        .map(|_| schema.clone())
        .map_err(|error| format!("the question's `schema` is {error}"))
}

fn describes_object(schema: &Value) -> bool {
    schema["type"] == "object" || schema["properties"].is_object()
}

fn choices(options: &Value) -> Result<Vec<Choice>, String> {
    match options {
        Value::Array(items) => items.iter().map(choice).collect(),
        other => Err(format!("`options` is {}, it should be a list", described(other))),
    }
}

fn choice(option: &Value) -> Result<Choice, String> {
    match option {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            Ok(Choice { value: option.clone(), label: label_of(option) })
        }
        Value::Object(object) => {
            let label = object.get("label").filter(|label| !label.is_null());
            let value = object.get("value").filter(|value| !value.is_null());
            match (value, label) {
                (Some(value), label) => {
                    Ok(Choice { value: value.clone(), label: label_of(label.unwrap_or(value)) })
                }
                (None, Some(label)) => Ok(Choice { value: label.clone(), label: label_of(label) }),
                (None, None) => Err("an option has neither `value` nor `label`".to_owned()),
            }
        }
        Value::Null | Value::Array(_) => Err(format!(
            "an option is {}, it should be a string, a number or an object with `value` and `label`",
            described(option)
        )),
    }
}

fn label_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn text_field(name: &str) -> Field {
    Field {
        name: name.to_owned(),
        label: name.to_owned(),
        kind: FieldKind::Text,
        required: false,
        options: Vec::new(),
        default: None,
    }
}

fn field(item: &Value) -> Result<Field, String> {
    let object = match item {
        Value::String(name) => return Ok(text_field(name)),
        Value::Object(object) => object,
        other => return Err(format!("a field is {}, it should be an object with `name`", described(other))),
    };
    let Some(name) = object.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
        return Err("a field has no `name`".to_owned());
    };
    let get = |key| object.get(key).filter(|value| !value.is_null());
    let options = get("options").map(choices).transpose()?.unwrap_or_default();
    let kind = match get("kind").or_else(|| get("type")) {
        Some(kind) => field_kind(name, kind)?,
        None if !options.is_empty() => FieldKind::ChooseOne,
        None => FieldKind::Text,
    };
    match kind {
        FieldKind::ChooseOne | FieldKind::ChooseMany if options.is_empty() => {
            return Err(format!("the field `{name}` is `{kind}` and needs `options`"));
        }
        FieldKind::ChooseOne
        | FieldKind::ChooseMany
        | FieldKind::Text
        | FieldKind::Number
        | FieldKind::Integer
        | FieldKind::Boolean => {}
    }
    Ok(Field {
        name: name.to_owned(),
        label: get("label").map_or_else(|| name.to_owned(), label_of),
        kind,
        required: get("required").and_then(Value::as_bool).unwrap_or(false),
        options,
        default: get("default").cloned(),
    })
}

/// Agents know the words of JSON schema better than ours, so `string` is as good as `text`.
fn field_kind(name: &str, kind: &Value) -> Result<FieldKind, String> {
    let Value::String(kind) = kind else {
        return Err(format!("the kind of the field `{name}` is {}, it should be a string", described(kind)));
    };
    match normalised(kind).as_str() {
        "string" => Ok(FieldKind::Text),
        kind => {
            kind.parse().map_err(|unknown| format!("the kind of the field `{name}` is unknown: {unknown}"))
        }
    }
}

/// What `value` is, without repeating it: it can be long.
pub(super) fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests;
