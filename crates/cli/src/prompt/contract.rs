//! Asks what to do with a call: whether it may be made, and whether it happened.

use std::fmt;

use adjourn_core::{Action, Question, RecoveryAnswer, ToolCall};
use inquire::validator::Validation;
use inquire::{Select, Text};
use serde_json::{Value, json};

use super::{Prompted, one};
use crate::answer::{Given, arguments};
use crate::contract::call_text;
use crate::question::asked_of;
use crate::style::{self, styled};
use crate::text::clean;

/// Whether a call may be made, which is shown in full. It is printed before the choices and not with them: choices are drawn
/// again and again, and what is longer than the screen would be cut by that.
pub(super) fn approval(question: &Question, call: &ToolCall) -> Prompted<Given> {
    let asked = asked_of(question);
    let (title, notes) = asked.split_once('\n').unwrap_or((&asked, ""));
    anstream::eprintln!("{}", call_text(call));
    if !notes.is_empty() {
        anstream::eprintln!("{}", styled(style::ODD, notes));
    }
    let options = Action::ALL.iter().copied().map(Offered).collect();
    let Offered(action) = Select::new(title, options).without_help_message().prompt()?;
    let response = match action {
        Action::Approve => Value::Null,
        Action::Edit => edit(call)?,
        Action::Reject => said("Why not? (optional)")?.map_or(Value::Null, Value::String),
    };
    Ok(Given { response, action: Some(action) })
}

/// Whether the agent may use a tool of its own. All of it is printed before the choices, as for a call.
pub(super) fn permission(question: &Question) -> Prompted<Value> {
    let text = clean(&question.prompt);
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    anstream::eprintln!("{}\n{rest}", styled(style::BOLD, title));
    one("May it?", &question.options)
}

/// Whether a call happened that was in flight when Adjourn was stopped, and what there is to say about it.
pub(super) fn recovery(question: &Question) -> Prompted<Given> {
    let value = one(&clean(&question.prompt), &question.options)?;
    let note = match value.as_str().and_then(|value| value.parse().ok()) {
        Some(RecoveryAnswer::Happened) => said("What came of it? (optional)")?,
        Some(RecoveryAnswer::DidNotHappen) => said("How do you know? (optional)")?,
        Some(RecoveryAnswer::CancelRun) | None => None,
    };
    let response = note.map_or_else(|| value.clone(), |note| json!({ "value": value, "note": note }));
    Ok(Given { response, action: None })
}

/// Something that can be done with a call.
struct Offered(Action);

impl fmt::Display for Offered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Action::Approve => "approve: make this call",
            Action::Edit => "edit: make it with other arguments",
            Action::Reject => "reject: do not make it",
        })
    }
}

/// The arguments in one line, to be changed.
fn edit(call: &ToolCall) -> Prompted<Value> {
    let before = call.arguments.to_string();
    let check = |typed: &str| {
        Ok(match arguments(typed) {
            Ok(_) => Validation::Valid,
            Err(problem) => Validation::Invalid(problem.into()),
        })
    };
    let typed = Text::new("Arguments:").with_initial_value(&before).with_validator(check).prompt()?;
    // It was checked before it was taken.
    Ok(arguments(&typed).unwrap_or(Value::String(typed)))
}

/// A line of text; none where nothing was said.
fn said(prompt: &str) -> Prompted<Option<String>> {
    let typed = Text::new(prompt).prompt()?;
    Ok((!typed.trim().is_empty()).then_some(typed))
}
