//! Asks plain questions: text, choices and forms. What the question has as its default is there beforehand, and Enter takes it.

use std::fmt;

use adjourn_core::{Choice, Field, FieldError, FieldKind, Question, QuestionKind, reply};
use inquire::validator::Validation;
use inquire::{Confirm, MultiSelect, Select, Text};
use serde_json::{Map, Value, json};

use super::Prompted;
use crate::answer::{from_text, problem_text};
use crate::output::value_text;
use crate::question::{choice_text, default_of};
use crate::text::{clean, one_line};

/// Characters of a default that are shown behind the question.
const DEFAULT_CHARS_MAX: usize = 200;

/// Asks a question that is about no call, until there is an answer that fits it.
pub(super) fn plain(question: &Question) -> Prompted<Value> {
    let prompt = clean(&question.prompt);
    let default = default_of(question);
    match question.kind {
        QuestionKind::Form if !question.fields.is_empty() => form(question, default.as_ref()),
        QuestionKind::ChooseOne => one(&prompt, &question.options, default.as_ref()),
        QuestionKind::ChooseMany => many(&prompt, &question.options, default.as_ref()),
        QuestionKind::Confirm => yes_or_no(&prompt, default.as_ref()),
        QuestionKind::OpenText | QuestionKind::Form => text(question, default.as_ref()),
    }
}

fn text(question: &Question, default: Option<&Value>) -> Prompted<Value> {
    let prompt = clean(&question.prompt);
    let help = question.schema.as_ref().map(|schema| format!("JSON that meets {schema}"));
    let question = question.clone();
    let read = move |typed: &str| from_text(&question, typed);
    typed_line(&prompt, help.as_deref(), default, read)
}

/// A line that `read` takes for an answer, or just Enter where there is a default.
fn typed_line(
    prompt: &str,
    help: Option<&str>,
    default: Option<&Value>,
    read: impl Fn(&str) -> Result<Value, Vec<FieldError>> + Clone + Send + Sync + 'static,
) -> Prompted<Value> {
    // What is shown of a default may be less than it, and is taken for all of it.
    let shown = default.map(|default| one_line(&value_text(default), DEFAULT_CHARS_MAX));
    let (check, accepted) = (read.clone(), shown.clone());
    let validator = move |typed: &str| {
        Ok(match check(typed) {
            _ if accepted.as_deref() == Some(typed) => Validation::Valid,
            Ok(_) => Validation::Valid,
            Err(errors) => Validation::Invalid(problem_text(&errors).into()),
        })
    };
    let mut asking = Text::new(prompt).with_validator(validator);
    asking.help_message = help;
    asking.default = shown.as_deref();
    let typed = asking.prompt()?;
    if let Some(default) = default.filter(|_| shown.as_deref() == Some(&*typed)) {
        return Ok(default.clone());
    }
    // It was checked before it was taken.
    Ok(read(&typed).unwrap_or(Value::String(typed)))
}

fn yes_or_no(prompt: &str, default: Option<&Value>) -> Prompted<Value> {
    let mut asking = Confirm::new(prompt);
    asking.default = default.and_then(Value::as_bool);
    asking.prompt().map(Value::Bool)
}

/// A choice that is shown as a person reads it.
struct Shown<'a>(&'a Choice);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&choice_text(self.0))
    }
}

fn one(prompt: &str, options: &[Choice], default: Option<&Value>) -> Prompted<Value> {
    let preselected = default.and_then(|default| options.iter().position(|choice| choice.value == *default));
    let asking = Select::new(prompt, options.iter().map(Shown).collect());
    let chosen = asking.with_starting_cursor(preselected.unwrap_or_default()).prompt()?;
    Ok(chosen.0.value.clone())
}

fn many(prompt: &str, options: &[Choice], default: Option<&Value>) -> Prompted<Value> {
    let is_default = |choice: &Choice| {
        default.and_then(Value::as_array).is_some_and(|defaults| defaults.contains(&choice.value))
    };
    let preselected: Vec<_> =
        options.iter().enumerate().filter(|(_, choice)| is_default(choice)).map(|(index, _)| index).collect();
    let asking = MultiSelect::new(prompt, options.iter().map(Shown).collect());
    let chosen = asking.with_default(&preselected).prompt()?;
    Ok(chosen.into_iter().map(|shown| shown.0.value.clone()).collect())
}

/// A form, field by field; what does not fit as a whole is asked again.
fn form(question: &Question, default: Option<&Value>) -> Prompted<Value> {
    anstream::eprintln!("{}", clean(&question.prompt));
    loop {
        let mut given = Map::new();
        for field in &question.fields {
            let of_form = default.and_then(|default| default.get(&field.name)).cloned();
            let field = Field { default: of_form.or_else(|| field.default.clone()), ..field.clone() };
            if let Some(value) = fill_in(&field)? {
                given.insert(field.name, value);
            }
        }
        let given = Value::Object(given);
        match reply::check(question, &given) {
            Ok(_) => return Ok(given),
            Err(errors) => anstream::eprintln!("that does not fit: {}", problem_text(&errors)),
        }
    }
}

fn fill_in(field: &Field) -> Prompted<Option<Value>> {
    let optional = if field.required || field.default.is_some() { "" } else { " (optional)" };
    let prompt = format!("{}{optional}:", clean(&field.label));
    let default = field.default.as_ref();
    match field.kind {
        FieldKind::Boolean => yes_or_no(&prompt, default).map(Some),
        FieldKind::ChooseMany => many(&prompt, &field.options, default).map(Some),
        FieldKind::ChooseOne if field.required => one(&prompt, &field.options, default).map(Some),
        FieldKind::ChooseOne => {
            let mut options = vec![Choice { value: Value::Null, label: "leave it out".to_owned() }];
            options.extend(field.options.iter().cloned());
            one(&prompt, &options, default).map(|value| (!value.is_null()).then_some(value))
        }
        FieldKind::Text | FieldKind::Number | FieldKind::Integer => line(&prompt, field),
    }
}

/// One line for a field; nothing where it may be left out and is.
fn line(prompt: &str, field: &Field) -> Prompted<Option<Value>> {
    let alone = Question { kind: QuestionKind::Form, fields: vec![field.clone()], ..Question::open_text("") };
    let name = field.name.clone();
    let read = move |typed: &str| {
        let typed = Some(typed).filter(|typed| !typed.is_empty());
        let given = typed.map_or_else(|| json!({}), |typed| json!({ name.as_str(): typed }));
        reply::check(&alone, &given).map(|_| typed.map_or(Value::Null, Value::from))
    };
    let given = typed_line(prompt, None, field.default.as_ref(), read)?;
    Ok((!given.is_null()).then_some(given))
}
