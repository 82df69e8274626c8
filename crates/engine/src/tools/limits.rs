//! What a tool server may cost, whatever it sends.

use std::time::Duration;

/// Tools of one server. Large ones have some eighty; no model chooses well among hundreds.
pub const TOOLS_MAX: usize = 512;

/// Pages of a list of tools: one tool each is the worst that makes sense.
pub(super) const PAGES_MAX: usize = TOOLS_MAX;

/// Bytes of a tool's description, of which the rest is cut off. It is sent to the model with every request.
pub const DESCRIPTION_BYTES_MAX: usize = 8 << 10;

/// Bytes of a tool's name: what models' interfaces take.
pub(super) const NAME_BYTES_MAX: usize = 128;

/// Bytes of the schema of a tool's arguments. Generated ones of large interfaces have some ten thousand.
pub(super) const SCHEMA_BYTES_MAX: usize = 128 << 10;

/// Bytes of the arguments of one call. Whole files are written with one.
pub const ARGUMENTS_BYTES_MAX: usize = 1 << 20;

/// Bytes of a result that are kept. It goes into the journal and to the model, which can read less than this.
pub const RESULT_BYTES_MAX: usize = 1 << 20;

/// Bytes of one message of a server over its stdout or an event stream. A picture in base64 has a few MiB.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 << 20;

/// Bytes of a problem, in the words of a tool or a server.
pub(super) const PROBLEM_BYTES_MAX: usize = 4 << 10;

/// How long a server may take until it is ready. `npx` and `uvx` download it first.
pub(super) const START_MAX: Duration = Duration::from_secs(60);

/// How long a server may take to list its tools.
pub(super) const LIST_MAX: Duration = Duration::from_secs(30);

/// Calls of one server at the same time; more wait for their turn. Servers that do one after the other are the rule.
pub(super) const CALLS_MAX: u32 = 32;

/// Questions that one call may ask before it is done. A wizard has a handful of pages.
pub(super) const QUESTIONS_MAX: usize = 32;

/// The beginning of a text that is too long.
pub(super) fn shortened(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(bytes_max)])
}
