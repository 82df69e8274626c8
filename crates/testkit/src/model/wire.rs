//! What a wire format has to be able to do.

use serde_json::Value;

use super::answer::{Answer, Frame};
use super::conversation::Conversation;

/// A wire format: how a request is read, and how an answer is written.
pub(crate) struct Wire {
    /// The name of its module, for the record.
    pub(crate) name: &'static str,
    /// Reads a request. Whatever it does not understand it leaves out: requests come from programs that change.
    pub(crate) read: fn(&Value) -> Conversation,
    /// Writes an answer as the events of a stream.
    pub(crate) frames: fn(&Answer) -> Vec<Frame>,
    /// Writes an answer in one piece.
    pub(crate) whole: fn(&Answer) -> Value,
    /// Writes an error.
    pub(crate) error: fn(u16, &str) -> Value,
    /// Writes that the conversation is too long, which comes with status 400.
    pub(crate) too_long: fn() -> Value,
}
