//! What a model is told.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// All that a model is told when it is asked for its next message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Who it is and how it is to work; may be empty.
    pub system: String,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// What it may call.
    pub tools: Vec<ToolOffer>,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// By the person, or on their behalf.
    User(String),
    /// By the model.
    Assistant(Said),
    /// What became of the calls of the message before. Both wire formats want an answer to each of them.
    Results(Vec<ToolResult>),
}

/// What the model said: a [`Reply`](super::Reply) without what it cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// Its text; empty if it only made calls.
    pub text: String,
    /// The calls it made, all at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUse>,
    /// The reply as the server sent it. Anthropic wants its blocks back as they were, signatures included.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub raw: Value,
}

/// A call that a model makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The name that the model gave this call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it is to be called with. What is no JSON is kept as the string that it is, which no tool's schema takes.
    pub arguments: Value,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call.
    pub call_id: String,
    /// Its consequence: fields to read, never a text to parse.
    pub consequence: Value,
    /// How it went.
    pub went: Went,
}

/// How a call went, for the wire formats that have a word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Went {
    /// What was asked for was done.
    Well,
    /// It was not, or nobody knows.
    Wrong,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// What it is called by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// A JSON schema of what it takes.
    pub input_schema: Value,
}
