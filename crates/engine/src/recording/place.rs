//! Where an agent worked, which is nobody's business, and elsewhere for whoever plays the recording.

use std::path::Path;

use adjourn_core::Observation;
use serde_json::{Map, Value};

use crate::turn::{Finished, Seen};

/// What stands for the working folder in a recording.
const PLACEHOLDER: &str = "{adjourn:workspace}";

/// Puts one name of the working folder in the place of another, wherever an engine shows it.
///
/// Not only where the name ends as a path does: a leak would be worse than a placeholder too many, which is played as
/// it was. A path that is streamed in two pieces is not found; the message that follows has it whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renaming<'a> {
    from: &'a str,
    to: &'a str,
}

impl<'a> Renaming<'a> {
    /// For what is recorded.
    pub(crate) fn to_placeholder(workspace: &'a Path) -> Self {
        // One that is no text is not in a text either; and the root is in all paths.
        let from = workspace.to_str().filter(|_| workspace.parent().is_some()).unwrap_or_default();
        Self { from, to: PLACEHOLDER }
    }

    /// For what is played.
    pub(crate) fn from_placeholder(workspace: &'a Path) -> Self {
        match workspace.to_str() {
            Some(to) => Self { from: PLACEHOLDER, to },
            None => Self { from: "", to: "" },
        }
    }

    pub(crate) fn seen(self, seen: &Seen) -> Seen {
        match seen {
            Seen::Fact(fact) => Seen::Fact(self.fact(fact)),
            Seen::Delta(text) => Seen::Delta(self.text(text)),
        }
    }

    pub(crate) fn finished(self, finished: &Finished) -> Finished {
        let mut finished = finished.clone();
        match &mut finished {
            Finished::Completed { text } => *text = self.text(text),
            Finished::Failed(error) => error.message = self.text(&error.message),
            Finished::NeedsPermission(requests) => {
                for request in requests {
                    request.question.prompt = self.text(&request.question.prompt);
                }
            }
            Finished::Stopped | Finished::Suspended => {}
        }
        finished
    }

    fn fact(self, fact: &Observation) -> Observation {
        let mut fact = fact.clone();
        match &mut fact {
            Observation::Message { text, .. } | Observation::Reasoning { text, .. } => {
                *text = self.text(text);
            }
            Observation::ToolCall { name: what, detail, .. }
            | Observation::CommandExecution { command: what, detail, .. } => {
                *what = self.text(what);
                *detail = self.json(detail);
            }
            Observation::Step(step) => *step = self.json(step),
            Observation::Handle(_)
            | Observation::Process(_)
            | Observation::Sandbox(_)
            | Observation::Usage(_) => {}
        }
        fact
    }

    fn json(self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.json(item)).collect(),
            Value::Object(members) => {
                let renamed = members.iter().map(|(key, value)| (self.text(key), self.json(value)));
                Value::Object(renamed.collect::<Map<_, _>>())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(self, text: &str) -> String {
        if self.from.is_empty() { text.to_owned() } else { text.replace(self.from, self.to) }
    }
}
