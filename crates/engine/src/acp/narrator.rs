//! Tells what an agent does: its updates become what an engine shows.

use adjourn_core::{Observation, RawRef};
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, MessageId, Plan, PlanEntryStatus, SessionUpdate, ToolCall, ToolCallStatus,
    ToolCallUpdate, ToolKind,
};
use serde_json::{Value, json};

use crate::detail::shortened;
use crate::lines::TEXT_BYTES_MAX;
use crate::turn::Seen;

/// Tool calls that may be open. Of an agent that opens more, the oldest is shown as it is.
const CALLS_OPEN_MAX: usize = 256;

/// What was told so far of a turn.
#[derive(Default)]
pub(super) struct Narrator {
    /// What the agent is saying or thinking just now.
    speech: Option<Speech>,
    /// The last message.
    text: Option<String>,
    /// Tool calls that are not over.
    calls: Vec<(ToolCall, RawRef)>,
    /// The plan that was shown last.
    plan: Option<String>,
    too_long: bool,
}

struct Speech {
    voice: Voice,
    message: Option<MessageId>,
    text: String,
    raw: RawRef,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Message,
    Thought,
}

impl Narrator {
    /// Whether a message was longer than one may be.
    pub(super) fn is_too_long(&self) -> bool {
        self.too_long
    }

    /// A prompt begins, and with it another answer.
    pub(super) fn begin(&mut self) {
        self.text = None;
    }

    /// The last message.
    pub(super) fn take_text(&mut self) -> String {
        self.text.take().unwrap_or_default()
    }

    /// Reads an update.
    pub(super) fn read(&mut self, update: SessionUpdate, raw: RawRef) -> Vec<Seen> {
        let mut seen = Vec::new();
        match update {
            SessionUpdate::AgentMessageChunk(chunk) => self.speak(Voice::Message, chunk, raw, &mut seen),
            SessionUpdate::AgentThoughtChunk(chunk) => self.speak(Voice::Thought, chunk, raw, &mut seen),
            SessionUpdate::ToolCall(call) => {
                self.finish_speech(&mut seen);
                self.open(call, raw, &mut seen);
            }
            SessionUpdate::ToolCallUpdate(update) => {
                self.finish_speech(&mut seen);
                self.change(update, raw, &mut seen);
            }
            SessionUpdate::Plan(plan) => {
                self.finish_speech(&mut seen);
                self.show_plan(&plan, raw, &mut seen);
            }
            // What the agent was told is known; and what it could do, or could be told, is nothing that it did.
            _ => {}
        }
        seen
    }

    /// The agent waits: what it began to say is said.
    pub(super) fn pause(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        self.finish_speech(&mut seen);
        seen
    }

    /// The turn is over, and so is all that it began.
    pub(super) fn finish(&mut self) -> Vec<Seen> {
        let mut seen = self.pause();
        seen.extend(self.calls.drain(..).map(|(call, raw)| shown(&call, raw)));
        seen
    }

    fn speak(&mut self, voice: Voice, chunk: ContentChunk, raw: RawRef, seen: &mut Vec<Seen>) {
        let ContentBlock::Text(content) = chunk.content else { return };
        let goes_on = self
            .speech
            .as_ref()
            .is_some_and(|speech| speech.voice == voice && speech.message == chunk.message_id);
        if !goes_on {
            self.finish_speech(seen);
        }
        let message = chunk.message_id;
        let speech = self.speech.get_or_insert_with(|| Speech { voice, message, text: String::new(), raw });
        if speech.text.len() + content.text.len() > TEXT_BYTES_MAX {
            self.too_long = true;
            return;
        }
        speech.text.push_str(&content.text);
        speech.raw.to = raw.to;
        if voice == Voice::Message {
            seen.push(Seen::Delta(content.text));
        }
    }

    fn finish_speech(&mut self, seen: &mut Vec<Seen>) {
        let Some(Speech { voice, text, raw, .. }) = self.speech.take() else { return };
        let text = text.trim_end().to_owned();
        if text.is_empty() {
            return;
        }
        let raw = Some(raw);
        seen.push(Seen::Fact(match voice {
            Voice::Message => {
                self.text = Some(text.clone());
                Observation::Message { text, raw }
            }
            Voice::Thought => Observation::Reasoning { text, raw },
        }));
    }

    fn open(&mut self, call: ToolCall, raw: RawRef, seen: &mut Vec<Seen>) {
        if is_over(call.status) {
            seen.push(shown(&call, raw));
            return;
        }
        if self.calls.len() == CALLS_OPEN_MAX {
            let (oldest, raw) = self.calls.remove(0);
            seen.push(shown(&oldest, raw));
        }
        self.calls.push((call, raw));
    }

    /// A call is shown when it is over, once and with all that is known of it.
    fn change(&mut self, update: ToolCallUpdate, raw: RawRef, seen: &mut Vec<Seen>) {
        let place = self.calls.iter().position(|(call, _)| call.tool_call_id == update.tool_call_id);
        let Some(place) = place else {
            if let Ok(call) = ToolCall::try_from(update) {
                self.open(call, raw, seen);
            }
            return;
        };
        let (call, at) = &mut self.calls[place];
        call.update(update.fields);
        at.to = raw.to;
        if is_over(call.status) {
            let (call, raw) = self.calls.remove(place);
            seen.push(shown(&call, raw));
        }
    }

    fn show_plan(&mut self, plan: &Plan, raw: RawRef, seen: &mut Vec<Seen>) {
        let entries = plan.entries.iter().map(|entry| {
            let mark = match entry.status {
                PlanEntryStatus::Completed => "x",
                PlanEntryStatus::InProgress => "~",
                _ => " ",
            };
            format!("\n- [{mark}] {}", entry.content)
        });
        let text = format!("Plan:{}", entries.collect::<String>());
        if self.plan.as_ref() != Some(&text) {
            self.plan = Some(text.clone());
            seen.push(Seen::Fact(Observation::Reasoning { text, raw: Some(raw) }));
        }
    }
}

fn is_over(status: ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed)
}

fn shown(call: &ToolCall, raw: RawRef) -> Seen {
    let detail = shortened(&json!(call));
    let raw = Some(raw);
    Seen::Fact(match call.kind {
        ToolKind::Execute => Observation::CommandExecution { command: command_of(call), detail, raw },
        _ => {
            let name = call.name.clone().unwrap_or_else(|| call.title.clone());
            Observation::ToolCall { name, detail, raw }
        }
    })
}

/// The command line, where the arguments have one; else what the agent calls it.
fn command_of(call: &ToolCall) -> String {
    match call.raw_input.as_ref().and_then(|input| input.get("command")) {
        Some(Value::String(command)) => command.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => call.title.clone(),
    }
}
