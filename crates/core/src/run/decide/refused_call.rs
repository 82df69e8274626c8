//! A call that the agent asked for and that is not made.

use super::super::event::{Event, RefusedCall};
use super::{Draft, Refusal};
use crate::excerpt::head;

/// Refused calls of one run that are written down. An agent that tries the same over and over must not fill its journal; the
/// first attempts say what it tried.
const REFUSED_CALLS_MAX: u32 = 64;

/// Bytes of the name of a tool: those that there are have at most 128.
const TOOL_BYTES_MAX: usize = 256;

/// Bytes of arguments: enough to see what was meant.
const ARGUMENTS_BYTES_MAX: usize = 2048;

/// Bytes of a reason. It may list every tool there is, or everything that is wrong with the arguments.
const REASON_BYTES_MAX: usize = 2048;

/// Writes the refused call down, shortened. More than [`REFUSED_CALLS_MAX`] say nothing new.
pub(super) fn refuse(draft: &mut Draft, turn: u32, call: &RefusedCall) -> Result<(), Refusal> {
    super::turn::fence(&draft.run, turn)?;
    if draft.run.refused_calls >= REFUSED_CALLS_MAX {
        return Ok(());
    }
    draft.emit(Event::CallRefused(Box::new(RefusedCall {
        tool: head(&call.tool, TOOL_BYTES_MAX),
        arguments: head(&call.arguments, ARGUMENTS_BYTES_MAX),
        reason: head(&call.reason, REASON_BYTES_MAX),
        same_as: call.same_as,
    })));
    Ok(())
}
