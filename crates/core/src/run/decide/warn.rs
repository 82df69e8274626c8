//! A warning about a run that does not come from one of its turns.

use super::super::event::Event;
use super::Draft;
use crate::Warning;

/// Warnings of one run that are written down. An agent that is refused over and over must not fill its journal; the first
/// attempts say what it tried.
const WARNINGS_MAX: usize = 32;

/// Writes the warning down. Nothing follows the end of a run, and more than [`WARNINGS_MAX`] say nothing new.
pub(super) fn warn(draft: &mut Draft, warning: &Warning) {
    if !draft.run.status.is_terminal() && draft.run.warnings.len() < WARNINGS_MAX {
        draft.emit(Event::Warned(warning.clone()));
    }
}
