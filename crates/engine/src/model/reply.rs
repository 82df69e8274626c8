//! What a model answers.

use adjourn_core::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::conversation::{Said, ToolUse};

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Its text; empty if it only made calls.
    pub text: String,
    /// What it showed of its thinking; empty if it showed nothing.
    pub reasoning: String,
    /// The calls it made, all at once.
    pub calls: Vec<ToolUse>,
    /// Why it stopped.
    pub stop: Stop,
    /// What it used, where the server says so. With a cost where that is known.
    pub usage: Option<Usage>,
    /// The reply as the server sent it, streamed ones put together, with all that was not understood.
    pub raw: Value,
}

impl Reply {
    /// The reply as a message of the conversation that goes on.
    pub fn said(&self) -> Said {
        Said { text: self.text.clone(), calls: self.calls.clone(), raw: self.raw.clone() }
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said all it wanted to.
    Finished,
    /// It waits for the results of its calls.
    Calls,
    /// It reached the number of tokens it may write: the text is cut off.
    Length,
    /// It, or its maker, would not say more.
    Refused,
    /// For another reason, in the server's own word; empty if it gave none.
    Other(String),
}

/// A piece of a reply, as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Of the text.
    Text(String),
    /// Of the thinking.
    Reasoning(String),
}
