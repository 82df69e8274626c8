//! Questions, as a person reads them, and the command that answers each.

use adjourn_core::{
    Action, Choice, Field, InteractionId, InteractionView, Question, QuestionKind, RunId, Source, reply,
};
use serde_json::{Value, json};

use crate::contract::call_text;
use crate::data::Global;
use crate::output::value_text;
use crate::text::{clean, indented, quoted};

/// Characters of arguments that are put into an example of other ones.
const ARGUMENTS_CHARS_MAX: usize = 200;

/// What is asked, with everything that can be answered, and with the call that it is about.
pub(crate) fn question_text(interaction: &InteractionView) -> String {
    let question = &interaction.question;
    let mut text = match interaction.approval() {
        Some(call) => format!("{}\n{}", asked_of(question), indented(&call_text(&call), "  ")),
        None => clean(question.prompt.trim()),
    };
    let default = default_of(question);
    for choice in &question.options {
        let mark = if is_default(choice, default.as_ref()) { ", the default" } else { "" };
        text.push_str(&format!("\n  - {}{mark}", choice_text(choice)));
    }
    for field in &question.fields {
        text.push_str(&format!("\n  - {}", field_text(field)));
    }
    if let Some(default) = default.filter(|_| question.options.is_empty()) {
        text.push_str(&format!("\nThe default is {}.", clean(&value_text(&default))));
    }
    if let Some(schema) = question.schema.as_ref().filter(|_| question.fields.is_empty()) {
        text.push_str(&format!(
            "\nThe answer has to meet this schema:\n{}",
            indented(&format!("{schema:#}"), "  ")
        ));
    }
    text
}

/// The default of a question, as it would be taken; none where it has none, or one that is no answer.
pub(crate) fn default_of(question: &Question) -> Option<Value> {
    reply::check(question, question.default.as_ref()?).ok()
}

fn is_default(choice: &Choice, default: Option<&Value>) -> bool {
    match default {
        Some(Value::Array(several)) => several.contains(&choice.value),
        Some(default) => choice.value == *default,
        None => false,
    }
}

/// What is asked about a call. The call itself is in the same words, for whoever reads nothing else, and is shown by itself
/// here.
pub(crate) fn asked_of(approval: &Question) -> String {
    clean(approval.prompt.trim().split("\n\n").next().unwrap_or_default())
}

/// A choice: its label, and its value where that is another word.
pub(crate) fn choice_text(Choice { value, label }: &Choice) -> String {
    match value {
        Value::String(value) if value == label => clean(label),
        value => format!("{} ({})", clean(&value_text(value)), clean(label)),
    }
}

fn field_text(field: &Field) -> String {
    let Field { name, label, kind, required, options, default } = field;
    let mut text = format!("{}: {kind}", clean(name));
    if label != name {
        text.push_str(&format!(", {}", clean(label)));
    }
    if !options.is_empty() {
        let options: Vec<_> = options.iter().map(|choice| value_text(&choice.value)).collect();
        text.push_str(&format!(" [{}]", clean(&options.join(", "))));
    }
    match (default, required) {
        (Some(default), _) => text.push_str(&format!(", default {}", clean(&default.to_string()))),
        (None, true) => text.push_str(", required"),
        (None, false) => {}
    }
    text
}

/// The commands that answer the question, with an answer that would be taken where there is one to name. Where each
/// answer does something else to the world, there is one for each.
pub(crate) fn reply_commands(global: &Global, run_id: RunId, open: OpenQuestion<'_>) -> Vec<String> {
    let which = match open.interaction_id {
        Some(id) => format!(" --interaction {id}"),
        None => String::new(),
    };
    let answers = answers(open.interaction);
    answers.iter().map(|answer| global.command(&format!("reply {run_id}{which} {answer}"))).collect()
}

/// A question that waits, and its number where the run has others.
#[derive(Clone, Copy)]
pub(crate) struct OpenQuestion<'a> {
    interaction_id: Option<InteractionId>,
    interaction: &'a InteractionView,
}

impl<'a> OpenQuestion<'a> {
    /// `interaction`, which is one of `count` that wait.
    pub(crate) fn one_of(interaction: &'a InteractionView, count: usize) -> Self {
        Self { interaction_id: (count > 1).then_some(interaction.interaction_id), interaction }
    }
}

fn answers(interaction: &InteractionView) -> Vec<String> {
    if let Some(call) = interaction.approval() {
        let arguments = call.arguments.to_string();
        let short = arguments.chars().count() <= ARGUMENTS_CHARS_MAX;
        let arguments = if short { quoted(&clean(&arguments)) } else { "'{…}'".to_owned() };
        let answer = |action: &Action| match action {
            Action::Approve => format!("--action {action}"),
            Action::Edit => format!("--action {action} --data {arguments}"),
            Action::Reject => format!("--action {action} 'WHY'"),
        };
        return Action::ALL.iter().map(answer).collect();
    }
    match interaction.source {
        Source::Recovery => {
            let values = interaction.question.options.iter().map(|choice| &choice.value);
            let noted = values.clone().next().map(|value| json!({ "value": value, "note": "…" }));
            let plain = values.map(|value| quoted(&clean(&value_text(value))));
            plain.chain(noted.map(|noted| format!("--data {}", quoted(&noted.to_string())))).collect()
        }
        Source::Turn | Source::Contract | Source::Permission | Source::Escalation | Source::Checkpoint => {
            vec![example(&interaction.question)]
        }
    }
}

/// An answer that would be taken: the default, where there is one.
fn example(question: &Question) -> String {
    let default = default_of(question);
    match (question.kind, default) {
        (QuestionKind::OpenText | QuestionKind::ChooseOne, Some(default)) => {
            quoted(&clean(&value_text(&default)))
        }
        (QuestionKind::ChooseMany, Some(Value::Array(several))) => {
            quoted(&clean(&several.iter().map(value_text).collect::<Vec<_>>().join(",")))
        }
        (QuestionKind::Confirm, Some(Value::Bool(false))) => "no".to_owned(),
        (QuestionKind::Form, Some(default)) => format!("--data {}", quoted(&clean(&default.to_string()))),
        (QuestionKind::OpenText, None) => "'YOUR ANSWER'".to_owned(),
        (QuestionKind::ChooseOne, None) => {
            let first = question.options.first().map(|choice| value_text(&choice.value)).unwrap_or_default();
            quoted(&clean(&first))
        }
        (QuestionKind::ChooseMany, _) => {
            let two: Vec<_> =
                question.options.iter().take(2).map(|choice| value_text(&choice.value)).collect();
            quoted(&clean(&two.join(",")))
        }
        (QuestionKind::Confirm, _) => "yes".to_owned(),
        (QuestionKind::Form, None) => {
            let value = |field: &Field| field.default.clone().unwrap_or_else(|| Value::from("…"));
            let fields = question.fields.iter().map(|field| (field.name.clone(), value(field)));
            format!("--data {}", quoted(&Value::from_iter(fields).to_string()))
        }
    }
}
