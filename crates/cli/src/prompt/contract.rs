//! Asks what to do with a call: whether it may be made, and whether it happened.

use adjourn_core::{Action, Question, RecoveryAnswer, ToolCall};
use inquire::validator::Validation;
use inquire::{InquireError, Text};
use rustix::stdio::stdin;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::{Value, json};

use super::Prompted;
use crate::answer::{Given, arguments};
use crate::contract::call_text;
use crate::output::value_text;
use crate::question::{asked_of, choice_text};
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
    anstream::eprintln!("{}", styled(style::BOLD, title));
    let offered = Action::ALL.iter().map(|action| (action.name().to_owned(), meaning(*action).to_owned()));
    let action = Action::ALL[typed_word(&offered.collect::<Vec<_>>())?];
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
    // Numbers are ours. The values are the agent's: two may look alike, or say the opposite of what they do.
    let numbered =
        question.options.iter().enumerate().map(|(index, it)| ((index + 1).to_string(), choice_text(it)));
    let chosen = typed_word(&numbered.collect::<Vec<_>>())?;
    Ok(question.options[chosen].value.clone())
}

/// Whether a call happened that was in flight when Adjourn was stopped, and what there is to say about it.
pub(super) fn recovery(question: &Question) -> Prompted<Given> {
    anstream::eprintln!("{}", clean(&question.prompt));
    let words = question.options.iter().map(|it| (value_text(&it.value), clean(&it.label)));
    let chosen = typed_word(&words.collect::<Vec<_>>())?;
    let value = question.options[chosen].value.clone();
    let note = match value.as_str().and_then(|value| value.parse().ok()) {
        Some(RecoveryAnswer::Happened) => said("What came of it? (optional)")?,
        Some(RecoveryAnswer::DidNotHappen) => said("How do you know? (optional)")?,
        Some(RecoveryAnswer::CancelRun) | None => None,
    };
    let response = note.map_or_else(|| value.clone(), |note| json!({ "value": value, "note": note }));
    Ok(Given { response, action: None })
}

/// What is done with a call.
fn meaning(action: Action) -> &'static str {
    match action {
        Action::Approve => "make this call",
        Action::Edit => "make it with other arguments",
        Action::Reject => "do not make it",
    }
}

/// Has one of these words typed, each of which comes with its meaning; which one it was.
///
/// Nothing is chosen beforehand, and keys that were pressed before the question was there do not count: nobody allows anything by
/// a stray Enter.
fn typed_word(words: &[(String, String)]) -> Prompted<usize> {
    for (word, meaning) in words {
        anstream::eprintln!("  {}: {meaning}", styled(style::BOLD, clean(word)));
    }
    let names = words.iter().map(|(word, _)| clean(word)).collect::<Vec<_>>().join(", ");
    let known: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
    let position = move |typed: &str| known.iter().position(|word| word.eq_ignore_ascii_case(typed.trim()));
    let (check, problem) = (position.clone(), format!("type one of these: {names}"));
    let validator = move |typed: &str| {
        Ok(match check(typed) {
            Some(_) => Validation::Valid,
            None => Validation::Invalid(problem.clone().into()),
        })
    };
    // A terminal that cannot be emptied has nothing in it.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    let typed = Text::new(&format!("{names}?")).with_validator(validator).prompt()?;
    // It was checked before it was taken.
    position(&typed).ok_or(InquireError::OperationCanceled)
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
