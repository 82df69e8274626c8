//! What a request carries, whatever the wire format.

use serde_json::Value;

/// A request to the model, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Conversation {
    /// The model that is asked for.
    pub(crate) model: String,
    /// What the model is told about itself.
    pub(crate) system: String,
    /// What was said so far, in order.
    pub(crate) pieces: Vec<Piece>,
    /// The tools that the model may call.
    pub(crate) tools: Vec<Tool>,
    /// Whether the answer is to be streamed.
    pub(crate) stream: bool,
}

/// A part of what was said so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// By the user, or by the agent on the user's behalf.
    User(String),
    /// What a tool gave back.
    Result(String),
    /// By the model.
    Text(String),
    /// A call that the model made, by the name of the tool.
    Call(String),
}

/// A tool that the model may call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The group it is in, where the format has groups.
    pub(crate) namespace: Option<String>,
}

impl Tool {
    /// The tool that a script means: the one of that name, else the one whose name ends with it.
    ///
    /// A script is written once, but `echo` is `mcp__gw__echo` for one agent and `gw_echo` for another.
    pub(crate) fn meant<'a>(name: &'a str, offered: &'a [Tool]) -> Option<&'a Tool> {
        let exact = offered.iter().find(|tool| tool.name == name);
        exact.or_else(|| offered.iter().find(|tool| tool.name.ends_with(&format!("_{name}"))))
    }
}

impl Conversation {
    /// The last thing that the model is told.
    pub(crate) fn last_told(&self) -> &str {
        let told = self.pieces.iter().rev().find_map(|piece| match piece {
            Piece::User(text) | Piece::Result(text) => Some(text.as_str()),
            Piece::Text(_) | Piece::Call(_) => None,
        });
        told.unwrap_or_default()
    }

    /// All that the model said, without white space: agents trim, split and join texts as they like.
    pub(crate) fn said(&self) -> String {
        let said = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(squeezed(text)),
            Piece::User(_) | Piece::Result(_) | Piece::Call(_) => None,
        });
        said.collect()
    }

    /// The names of the tools that the model called.
    pub(crate) fn called(&self) -> Vec<&str> {
        let called = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call(name) => Some(name.as_str()),
            Piece::User(_) | Piece::Result(_) | Piece::Text(_) => None,
        });
        called.collect()
    }
}

/// A text without its white space.
pub(crate) fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// A string at `key`, or nothing.
pub(crate) fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

/// The items of an array at `key`; none if there is no array.
pub(crate) fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// The text of a content, which is a string in some places and a list of parts with a `text` in others.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
