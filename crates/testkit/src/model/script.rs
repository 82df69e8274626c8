//! What the model says, whatever the wire format.

use serde::Deserialize;
use serde_json::Value;

/// All that the model says in a conversation.
///
/// As JSON, for `model_server`:
///
/// ```json
/// {
///   "conversations": "one",
///   "replies": [
///     { "text": ["Which ", "colour?"], "reasoning": "They did not say.", "delay_ms": 20 },
///     { "calls": [{ "name": "echo", "arguments": { "message": "blue" } }] },
///     { "text": "Done.", "usage": { "input_tokens": 40, "output_tokens": 2 } },
///     { "text": "Late.", "fault": { "status": 529 }, "fault_times": 2 }
///   ]
/// }
/// ```
///
/// Everything but `replies` may be left out, also in a reply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// In the order in which they are said.
    pub replies: Vec<Reply>,
    /// Whether one conversation is expected or any number of them.
    #[serde(default)]
    pub conversations: Conversations,
}

impl Script {
    /// A script for one conversation.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Script { replies: replies.into_iter().collect(), conversations: Conversations::One }
    }

    /// The same script, for any number of conversations at once.
    #[must_use]
    pub fn for_many(self) -> Self {
        Script { conversations: Conversations::Many, ..self }
    }
}

/// How many conversations a server is going to see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conversations {
    /// One. So a request that begins anew lost its history, and is refused.
    #[default]
    One,
    /// Any number, all after the same script. A request without history begins another one.
    Many,
    /// One after the other, of one reply each: a request that was not made before gets the next one.
    Each,
}

/// What the model says when it is called once.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reply {
    /// The text, in the pieces in which it is streamed. In JSON a plain string will do.
    #[serde(deserialize_with = "one_or_many")]
    pub text: Vec<String>,
    /// What it shows of its thinking, before the text.
    pub reasoning: Option<String>,
    /// The tools it calls, after the text.
    pub calls: Vec<Call>,
    /// What it says that this cost.
    pub usage: Usage,
    /// How long it waits before each piece of text.
    pub delay_ms: u64,
    /// What goes wrong instead.
    pub fault: Option<Fault>,
    /// How often it goes wrong before it goes well. Without it: always.
    pub fault_times: Option<u32>,
    /// What a fault that is a status says about when to come back: seconds or a date.
    pub retry_after: Option<String>,
}

impl Reply {
    /// Says a text, in one piece.
    pub fn text(text: impl Into<String>) -> Self {
        Reply { text: vec![text.into()], ..Reply::default() }
    }

    /// Says a text in several pieces.
    pub fn chunks<S: Into<String>>(chunks: impl IntoIterator<Item = S>) -> Self {
        Reply { text: chunks.into_iter().map(Into::into).collect(), ..Reply::default() }
    }

    /// Calls a tool. The name may be the end of the offered one: `echo` also calls `mcp__gw__echo`.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Reply { calls: vec![Call { name: name.into(), arguments }], ..Reply::default() }
    }

    /// Goes wrong, every time.
    pub fn fault(fault: Fault) -> Self {
        Reply { fault: Some(fault), ..Reply::default() }
    }

    /// The same reply, after it went wrong so many times.
    #[must_use]
    pub fn after(self, fault: Fault, times: u32) -> Self {
        Reply { fault: Some(fault), fault_times: Some(times), ..self }
    }

    /// The same reply, which says when to come back while it goes wrong.
    #[must_use]
    pub fn retry_after(self, when: impl Into<String>) -> Self {
        Reply { retry_after: Some(when.into()), ..self }
    }

    /// The whole text.
    pub fn whole_text(&self) -> String {
        self.text.concat()
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name of the tool, or the end of it: agents prefix the tools of MCP servers, each in its own way.
    pub name: String,
    /// What it is called with; in JSON, nothing unless it says so.
    #[serde(default = "no_arguments")]
    pub arguments: Value,
}

/// What a call of the model cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Default for Usage {
    /// Two numbers that are easy to tell apart, and from zero, in what an agent reports.
    fn default() -> Self {
        Usage { input_tokens: 70, output_tokens: 7 }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Answers with this HTTP status and an error in the words of the format.
    Status(u16),
    /// Sends the first half, then nothing any more, and keeps the connection open.
    Stall,
    /// Sends the first half, then something that is no JSON.
    Garbage,
    /// Sends the first half, then closes the connection.
    Cut,
    /// Sends the first half, then an error in the words of the format: it has no capacity any more.
    Overloaded,
    /// Answers that the conversation is longer than it can take, in the words of the format.
    TooLong,
}

/// Not null, which no format takes for arguments.
fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(chunks) => chunks,
    })
}
