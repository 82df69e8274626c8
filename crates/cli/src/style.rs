//! Colours. They are written always, and taken out again where the output is no terminal or `NO_COLOR` is set.

use adjourn_core::RunStatus;
use clap::builder::styling::{AnsiColor, Style};

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
/// What waits for the person who reads it.
pub(crate) const ASKS: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const PLAIN: Style = Style::new();

/// The colour of a status.
pub(crate) fn status(status: RunStatus) -> Style {
    match status {
        RunStatus::Queued => DIM,
        RunStatus::Running => PLAIN,
        RunStatus::WaitingUser => ASKS,
        RunStatus::Succeeded => GOOD,
        RunStatus::Failed => BAD,
        RunStatus::Canceled => ODD,
    }
}

/// `text` in a style.
pub(crate) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
