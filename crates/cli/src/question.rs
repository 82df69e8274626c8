//! Questions, as a person reads them, and the command that answers each.

use adjourn_core::{Choice, Field, InteractionId, InteractionView, Question, QuestionKind, RunId};
use serde_json::Value;

use crate::data::Global;
use crate::output::value_text;
use crate::text::{clean, indented, quoted};

/// What is asked, with everything that can be answered.
pub(crate) fn question_text(question: &Question) -> String {
    let mut text = clean(question.prompt.trim());
    for choice in &question.options {
        text.push_str(&format!("\n  - {}", choice_text(choice)));
    }
    for field in &question.fields {
        text.push_str(&format!("\n  - {}", field_text(field)));
    }
    if let Some(schema) = question.schema.as_ref().filter(|_| question.fields.is_empty()) {
        text.push_str(&format!(
            "\nThe answer has to meet this schema:\n{}",
            indented(&format!("{schema:#}"), "  ")
        ));
    }
    text
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

/// The command that answers the question, with an answer that would be taken where there is one to name.
pub(crate) fn reply_command(global: &Global, run_id: RunId, open: OpenQuestion<'_>) -> String {
    let which = match open.interaction_id {
        Some(id) => format!(" --interaction {id}"),
        None => String::new(),
    };
    global.command(&format!("reply {run_id}{which} {}", example(open.question)))
}

/// A question that waits, and its number where the run has others.
#[derive(Clone, Copy)]
pub(crate) struct OpenQuestion<'a> {
    pub(crate) interaction_id: Option<InteractionId>,
    pub(crate) question: &'a Question,
}

impl<'a> OpenQuestion<'a> {
    /// `interaction`, which is one of `count` that wait.
    pub(crate) fn one_of(interaction: &'a InteractionView, count: usize) -> Self {
        Self {
            interaction_id: (count > 1).then_some(interaction.interaction_id),
            question: &interaction.question,
        }
    }
}

fn example(question: &Question) -> String {
    let first = question.options.first().map(|choice| value_text(&choice.value)).unwrap_or_default();
    match question.kind {
        QuestionKind::OpenText => "'YOUR ANSWER'".to_owned(),
        QuestionKind::ChooseOne => quoted(&clean(&first)),
        QuestionKind::ChooseMany => {
            let two: Vec<_> =
                question.options.iter().take(2).map(|choice| value_text(&choice.value)).collect();
            quoted(&clean(&two.join(",")))
        }
        QuestionKind::Confirm => "yes".to_owned(),
        QuestionKind::Form => {
            let fields = question.fields.iter().map(|field| (field.name.clone(), Value::from("…")));
            format!("--data {}", quoted(&Value::from_iter(fields).to_string()))
        }
    }
}
