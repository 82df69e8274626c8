//! What is seen of a run while it works: what it said and did, and on a terminal what it is doing just now.

mod bar;

use adjourn_core::{Frame, FrameType, InteractionId, RunStatus, RunView};
use serde_json::Value;

pub(crate) use self::bar::Bar;

use crate::frame::{told, words};
use crate::text::one_line;
use crate::usage::usage_text;

/// Characters of what the agent does or writes. The terminal cuts what is longer than it is wide.
const DOING_CHARS_MAX: usize = 200;

/// Bytes that are kept of what the agent is writing: only its last line is shown.
const WRITING_BYTES_MAX: usize = 4096;

/// What is seen of a run while it works. All of it goes to stderr.
pub(crate) struct Live {
    bar: Bar,
    /// What the agent did last.
    doing: Option<String>,
    /// What the agent is writing.
    writing: String,
    /// The question whose answer is on the screen already.
    answered_here: Option<InteractionId>,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self { bar: Bar::new(), doing: None, writing: String::new(), answered_here: None }
    }

    /// Takes note of what came. `run` is the state with all of it.
    pub(crate) fn see(&mut self, frames: &[Frame], run: &RunView) {
        for (index, frame) in frames.iter().enumerate() {
            match frame.kind {
                FrameType::MessageFinal => self.writing.clear(),
                FrameType::ToolCall => self.doing = frame.data["name"].as_str().map(str::to_owned),
                FrameType::CommandExecution => {
                    self.doing = frame.data["command"].as_str().map(|command| format!("$ {command}"));
                }
                FrameType::StateChanged => self.doing = None,
                _ => {}
            }
            if !is_shown_otherwise(frame, &frames[index + 1..], run)
                && !self.is_on_the_screen(frame)
                && let Some(line) = told(frame)
            {
                self.say(&line);
            }
        }
        self.draw(run);
    }

    /// Takes note of a question whose answer is on the screen already.
    pub(crate) fn answered_here(&mut self, id: InteractionId) {
        self.answered_here = Some(id);
    }

    fn is_on_the_screen(&self, frame: &Frame) -> bool {
        let id = frame.data["interaction_id"].as_u64();
        matches!(frame.kind, FrameType::ReplyAccepted | FrameType::AutoDecided)
            && id == self.answered_here.map(|id| u64::from(id.0))
    }

    /// Takes note of text that the agent is writing.
    pub(crate) fn write(&mut self, text: &str, run: &RunView) {
        self.writing.push_str(text);
        if self.writing.len() > WRITING_BYTES_MAX {
            let from = self.writing.ceil_char_boundary(self.writing.len() - WRITING_BYTES_MAX / 2);
            self.writing.drain(..from);
        }
        self.draw(run);
    }

    /// Prints a line above what is seen.
    pub(crate) fn say(&self, line: &str) {
        self.bar.say(line);
    }

    /// Takes what is seen off the screen, for a question or for the end.
    pub(crate) fn hide(&self) {
        self.bar.hide();
    }

    /// Takes what is seen off the screen after Ctrl-C was typed.
    pub(crate) fn interrupted(&self) {
        self.bar.interrupted();
    }

    /// Puts it back.
    fn draw(&self, run: &RunView) {
        if run.status.is_terminal() || run.pending.is_some() {
            return self.hide();
        }
        self.bar.show(&self.now(run));
    }

    fn now(&self, run: &RunView) -> String {
        let state = match run.status {
            RunStatus::Queued => "waits for a slot".to_owned(),
            RunStatus::Running
            | RunStatus::WaitingUser
            | RunStatus::Succeeded
            | RunStatus::Failed
            | RunStatus::Canceled => format!("{} works, attempt {}", run.engine, run.attempt_number),
        };
        let written = self.writing.lines().next_back().filter(|line| !line.trim().is_empty());
        let doing = written.or(self.doing.as_deref()).map(|doing| one_line(doing, DOING_CHARS_MAX));
        let parts = [Some(state), usage_text(run.usage), doing];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Whether a message is what the question or the result after it says as well.
fn is_shown_otherwise(frame: &Frame, later: &[Frame], run: &RunView) -> bool {
    if frame.kind != FrameType::MessageFinal {
        return false;
    }
    let text = frame.data["text"].as_str().unwrap_or_default();
    let asked = later
        .iter()
        .filter(|later| later.kind == FrameType::InputRequired)
        .filter_map(|later| later.data["prompt"].as_str());
    let says = words(text);
    let is_question =
        asked.into_iter().any(|prompt| says.as_deref().is_some_and(|says| prompt.contains(says)));
    let is_result = match &run.result {
        Some(Value::String(result)) => result.trim() == text.trim(),
        Some(result) => serde_json::from_str::<Value>(text).is_ok_and(|said| said == *result),
        None => false,
    };
    is_question || is_result
}
