//! Asks a person at a terminal.

mod contract;
mod terminal;

use std::fmt;
use std::io::IsTerminal;

use adjourn_core::{Choice, Field, FieldKind, InteractionView, Question, QuestionKind, Source, reply};
use inquire::validator::Validation;
use inquire::{Confirm, InquireError, MultiSelect, Select, Text};
use serde_json::{Map, Value, json};

pub(crate) use terminal::{OnTerminal, on_terminal};

use crate::answer::{Given, from_text, problem_text};
use crate::question::choice_text;
use crate::text::clean;

/// What a person did when asked.
pub(crate) enum Asked<T> {
    /// They answered.
    Answer(T),
    /// They pressed Ctrl-C or Esc.
    Interrupted,
}

/// Whether there is a person to ask.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question until there is an answer that fits it.
pub(crate) fn ask(interaction: &InteractionView) -> anyhow::Result<Asked<Given>> {
    let question = &interaction.question;
    asked(match (interaction.approval(), interaction.source) {
        (Some(call), _) => contract::approval(question, &call),
        (None, Source::Recovery) => contract::recovery(question),
        (None, Source::Permission) => contract::permission(question).map(Given::plain),
        (None, Source::Turn | Source::Contract | Source::Escalation | Source::Checkpoint) => {
            plain(question).map(Given::plain)
        }
    })
}

fn plain(question: &Question) -> Prompted<Value> {
    match question.kind {
        QuestionKind::Form if !question.fields.is_empty() => form(question),
        QuestionKind::ChooseOne => one(&clean(&question.prompt), &question.options),
        QuestionKind::ChooseMany => many(&clean(&question.prompt), &question.options),
        QuestionKind::Confirm => yes_or_no(&clean(&question.prompt), question.default.as_ref()),
        QuestionKind::OpenText | QuestionKind::Form => text(question),
    }
}

/// What to do with something that a person does not want to watch any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choose {
    GoOn,
    Leave,
    End,
}

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Run,
    Roundtable,
}

/// What it does while its person is asked what to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Works,
    Waits,
}

/// Asks what to do with it. Whoever does not want to answer leaves it.
pub(crate) fn what_now(watched: Watched, doing: Doing) -> anyhow::Result<Choose> {
    let (go_on, leave) = match doing {
        Doing::Waits => ("go back to the question", "leave it waiting: it can be answered later"),
        Doing::Works => ("go on", "leave it running: it goes on without you"),
    };
    let (title, end) = match watched {
        Watched::Run => ("What about the run?", "cancel the run"),
        Watched::Roundtable => ("What about the roundtable?", "close the roundtable: break it off"),
    };
    let options = vec![go_on, leave, end];
    match asked(Select::new(title, options).without_help_message().raw_prompt())? {
        Asked::Answer(chosen) if chosen.index == 0 => Ok(Choose::GoOn),
        Asked::Answer(chosen) if chosen.index == 2 => Ok(Choose::End),
        Asked::Answer(_) | Asked::Interrupted => Ok(Choose::Leave),
    }
}

pub(crate) type Prompted<T> = Result<T, InquireError>;

pub(crate) fn asked<T>(prompted: Prompted<T>) -> anyhow::Result<Asked<T>> {
    match prompted {
        Ok(answer) => Ok(Asked::Answer(answer)),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(Asked::Interrupted),
        Err(error) => Err(error.into()),
    }
}

fn text(question: &Question) -> Prompted<Value> {
    let prompt = clean(&question.prompt);
    let (checked, read) = (question.clone(), question.clone());
    let check = move |typed: &str| {
        Ok(match from_text(&checked, typed) {
            Ok(_) => Validation::Valid,
            Err(errors) => Validation::Invalid(problem_text(&errors).into()),
        })
    };
    let help = question.schema.as_ref().map(|schema| format!("JSON that meets {schema}"));
    let mut asking = Text::new(&prompt).with_validator(check);
    asking.help_message = help.as_deref();
    let typed = asking.prompt()?;
    // It was checked before it was taken.
    Ok(from_text(&read, &typed).unwrap_or(Value::String(typed)))
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

fn one(prompt: &str, options: &[Choice]) -> Prompted<Value> {
    let chosen = Select::new(prompt, options.iter().map(Shown).collect()).prompt()?;
    Ok(chosen.0.value.clone())
}

fn many(prompt: &str, options: &[Choice]) -> Prompted<Value> {
    let chosen = MultiSelect::new(prompt, options.iter().map(Shown).collect()).prompt()?;
    Ok(chosen.into_iter().map(|shown| shown.0.value.clone()).collect())
}

/// A form, field by field; what does not fit as a whole is asked again.
fn form(question: &Question) -> Prompted<Value> {
    anstream::eprintln!("{}", clean(&question.prompt));
    loop {
        let mut given = Map::new();
        for field in &question.fields {
            if let Some(value) = fill_in(field)? {
                given.insert(field.name.clone(), value);
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
    match field.kind {
        FieldKind::Boolean => yes_or_no(&prompt, field.default.as_ref()).map(Some),
        FieldKind::ChooseMany => many(&prompt, &field.options).map(Some),
        FieldKind::ChooseOne if field.required => one(&prompt, &field.options).map(Some),
        FieldKind::ChooseOne => {
            let mut options = vec![Choice { value: Value::Null, label: "leave it out".to_owned() }];
            options.extend(field.options.iter().cloned());
            one(&prompt, &options).map(|value| (!value.is_null()).then_some(value))
        }
        FieldKind::Text | FieldKind::Number | FieldKind::Integer => line(&prompt, field),
    }
}

/// One line for a field; nothing where it may be left out and is.
fn line(prompt: &str, field: &Field) -> Prompted<Option<Value>> {
    let alone = Question { kind: QuestionKind::Form, fields: vec![field.clone()], ..Question::open_text("") };
    let name = field.name.clone();
    let check = move |typed: &str| {
        let given = if typed.is_empty() { json!({}) } else { json!({ name.as_str(): typed }) };
        Ok(match reply::check(&alone, &given) {
            Ok(_) => Validation::Valid,
            Err(errors) => Validation::Invalid(problem_text(&errors).into()),
        })
    };
    let default = field.default.as_ref().map(crate::output::value_text);
    let mut asking = Text::new(prompt).with_validator(check);
    asking.default = default.as_deref();
    let typed = asking.prompt()?;
    Ok((!typed.is_empty()).then_some(Value::String(typed)))
}
