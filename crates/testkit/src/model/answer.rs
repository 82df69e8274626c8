//! What is to be written in one of the wire formats.

use serde_json::Value;

use super::conversation::{Conversation, Tool};
use super::script::{Reply, Usage};

/// A reply of the script, on its way to one request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Different for each answer of a server, as real ids are.
    pub(crate) id: String,
    /// The model that was asked for.
    pub(crate) model: String,
    pub(crate) reasoning: Option<String>,
    pub(crate) text: Vec<String>,
    pub(crate) calls: Vec<AnswerCall>,
    pub(crate) usage: Usage,
}

/// A call in the words of the request: the tool's offered name, and an id of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AnswerCall {
    pub(crate) id: String,
    pub(crate) tool: Tool,
    pub(crate) arguments: Value,
}

impl AnswerCall {
    /// The text of the arguments, in the pieces in which it is streamed: cut in the middle, as real ones are.
    pub(crate) fn pieces(&self) -> [String; 2] {
        let text = self.arguments.to_string();
        let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
        [first.to_owned(), second.to_owned()]
    }
}

impl Answer {
    /// `reply` as the answer number `number` of this server.
    pub(crate) fn new(number: usize, reply: &Reply, request: &Conversation) -> Self {
        let calls = reply.calls.iter().enumerate().map(|(index, call)| {
            let unknown = || Tool { name: call.name.clone(), namespace: None };
            AnswerCall {
                id: format!("call_{number}_{index}"),
                tool: Tool::meant(&call.name, &request.tools).cloned().unwrap_or_else(unknown),
                arguments: call.arguments.clone(),
            }
        });
        Answer {
            id: number.to_string(),
            model: request.model.clone(),
            reasoning: reply.reasoning.clone(),
            text: reply.text.clone(),
            calls: calls.collect(),
            usage: reply.usage,
        }
    }

    /// The whole text.
    pub(crate) fn whole_text(&self) -> String {
        self.text.concat()
    }
}

/// A piece of a streamed answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    /// Whether the model took its time for it.
    pub(crate) pace: Pace,
}

/// Whether `delay_ms` applies to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// It follows at once.
    AtOnce,
    /// It is a piece of the text.
    Spoken,
}

impl Frame {
    /// A server-sent event without a name.
    pub(crate) fn data(data: impl std::fmt::Display) -> Self {
        Frame { event: format!("data: {data}\n\n"), pace: Pace::AtOnce }
    }

    /// A server-sent event that is named by its data, as two of the four formats have it.
    pub(crate) fn named(data: &Value) -> Self {
        let Some(name) = data["type"].as_str() else { return Self::data(data) };
        Frame { event: format!("event: {name}\ndata: {data}\n\n"), pace: Pace::AtOnce }
    }

    /// The same frame, as a piece of the text.
    pub(crate) fn spoken(self) -> Self {
        Frame { pace: Pace::Spoken, ..self }
    }
}
