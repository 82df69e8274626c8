//! What a roundtable asks, as a person reads it, and the command that answers it.

use adjourn_core::machines::{RoundtableStatus, RoundtableTrigger};
use adjourn_core::{Choice, InteractionView, Question, RoundtableId, Source};
use clap::builder::styling::Style;

use crate::data::Global;
use crate::output::value_text;
use crate::style;
use crate::text::clean;

/// The words that a question offers.
pub(super) fn words(question: &Question) -> &[Choice] {
    question.fields.first().map(|decision| decision.options.as_slice()).unwrap_or_default()
}

/// What is asked, with everything that can be answered.
pub(crate) fn question_text(open: &InteractionView) -> String {
    let mut text = clean(open.question.prompt.trim());
    for Choice { value, label } in words(&open.question) {
        text.push_str(&format!("\n  - {}: {}", clean(&value_text(value)), clean(label)));
    }
    let is_checkpoint = open.source == Source::Checkpoint;
    let otherwise = if is_checkpoint { "a remark for the next round" } else { "your decision" };
    text.push_str(&format!("\n  any other text is {otherwise}"));
    text
}

/// A question after a round whose summary is on the screen: it need not be said again.
pub(super) fn without_summary(open: &InteractionView) -> InteractionView {
    let mut open = open.clone();
    if open.source == Source::Checkpoint {
        open.question.prompt = format!("Round {} is recorded.", open.attempt_number);
    }
    open
}

/// The command that answers it, with an answer that would be taken.
pub(crate) fn reply_command(global: &Global, id: RoundtableId, open: &InteractionView) -> String {
    let word = words(&open.question).first().map(|choice| value_text(&choice.value)).unwrap_or_default();
    global.command(&format!("roundtable reply {id} {word}"))
}

/// The colour of a status.
pub(super) fn status_style(status: RoundtableStatus, reason: Option<&str>) -> Style {
    let reason = reason.and_then(|reason| reason.parse::<RoundtableTrigger>().ok());
    match (status, reason) {
        (RoundtableStatus::Active, _) | (RoundtableStatus::Closed, None) => style::PLAIN,
        (RoundtableStatus::Closed, Some(RoundtableTrigger::Conclude)) => style::GOOD,
        (RoundtableStatus::Closed, Some(RoundtableTrigger::Fail)) => style::BAD,
        (
            RoundtableStatus::Closed,
            Some(RoundtableTrigger::ExhaustRounds | RoundtableTrigger::CloseByUser),
        ) => style::ODD,
    }
}
