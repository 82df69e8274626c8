//! A run on the stage: what its agent is told and does, and what is seen of it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use adjourn_core::fcmp::Header;
use adjourn_core::{
    By, Entry, ErrorCode, Frame, FrameType, Interaction, InteractionId, Record, Refusal, Run, RunId,
    RunStatus, StreamId,
};
use adjourn_kernel::Denied;
use adjourn_runtime::{ReplyRequest, ServiceError};
use adjourn_store::After;
use adjourn_testkit::acp::Act;
use serde_json::{Value, json};

use super::{Stage, agent, until};

/// A run.
#[derive(Clone, Copy)]
pub(crate) struct Actor<'a> {
    pub(super) stage: &'a Stage,
    pub(crate) id: RunId,
}

/// A turn that its agent was given and has not ended yet.
pub(crate) struct Turn {
    folder: PathBuf,
    number: u32,
    /// What the agent was told.
    pub(crate) prompt: String,
}

impl<'a> Actor<'a> {
    pub(super) fn new(stage: &'a Stage, id: RunId) -> Self {
        Self { stage, id }
    }

    /// The folder that the agent works in.
    pub(crate) fn work(&self) -> PathBuf {
        self.stage.service().turn_setup().workspaces().open(self.id).unwrap().work
    }

    /// Waits until the agent is at its turn with this number. Repairs count, and so do turns that go on after a
    /// restart: it is the agent that counts.
    pub(crate) fn turn(&self, number: u32) -> Turn {
        let folder = self.work();
        let file = folder.join(format!("prompt.{number}"));
        let prompt =
            until(&format!("turn {number}, after {:#?}", self.stream()), || fs::read_to_string(&file).ok());
        Turn { folder, number, prompt }
    }

    /// Whether the agent was given a turn with this number.
    pub(crate) fn had_turn(&self, number: u32) -> bool {
        self.work().join(format!("prompt.{number}")).exists()
    }

    /// The state of the run, as the journal has it.
    pub(crate) fn state(&self) -> Run {
        self.stage.service().run(self.id).unwrap()
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.stage.service().row(self.id).unwrap().status
    }

    /// The code that it failed with.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        self.state().error().map(|error| error.code)
    }

    /// Waits until the run is as wanted.
    pub(crate) fn until<T>(&self, what: &str, mut look: impl FnMut(&Run) -> Option<T>) -> T {
        let mut changes = self.stage.store().watch_stream(self.id.into());
        let found = async {
            loop {
                if let Some(found) = look(&self.state()) {
                    return found;
                }
                if tokio::time::timeout(super::PATIENCE / 2, changes.changed()).await.is_err() {
                    panic!("{what} never came, only {:#?}, {:?}", self.stream(), self.state().error());
                }
            }
        };
        self.stage.wait(found)
    }

    /// Waits until the run has this status.
    pub(crate) fn becomes(&self, status: RunStatus) -> Run {
        self.until(&format!("`{status}`"), |run| (run.status() == status).then(|| run.clone()))
    }

    /// Waits until the run has ended, however.
    pub(crate) fn ends(&self) -> Run {
        self.until("the end", |run| run.status().is_terminal().then(|| run.clone()))
    }

    /// Waits until the run waits for a person, and gives the question.
    pub(crate) fn waits(&self) -> Interaction {
        self.until("a question", |run| {
            (run.status() == RunStatus::WaitingUser).then(|| run.open_interactions().next().cloned())?
        })
    }

    /// The first turn asks this, and the run waits.
    pub(crate) fn asks_first(&self, question: &str) -> Interaction {
        self.turn(1).asks(question);
        self.waits()
    }

    /// Answers the oldest question that is open.
    pub(crate) fn reply(&self, response: impl Into<Value>) -> Result<Arc<Run>, ServiceError> {
        self.reply_with(None, response.into(), None)
    }

    /// Answers a question by its number.
    pub(crate) fn reply_to(&self, id: u32, response: impl Into<Value>) -> Result<Arc<Run>, ServiceError> {
        self.reply_with(Some(InteractionId(id)), response.into(), None)
    }

    /// Answers the first question with an idempotency key.
    pub(crate) fn reply_keyed(&self, response: &str, key: &str) -> Result<Arc<Run>, ServiceError> {
        self.reply_with(Some(InteractionId(1)), response.into(), Some(key))
    }

    fn reply_with(
        &self,
        interaction_id: Option<InteractionId>,
        response: Value,
        key: Option<&str>,
    ) -> Result<Arc<Run>, ServiceError> {
        let answer = answer(interaction_id, response, key);
        let service = self.stage.service();
        self.stage.wait(service.reply(self.id, answer))
    }

    pub(crate) fn cancel(&self) -> Result<Arc<Run>, ServiceError> {
        let service = self.stage.service();
        self.stage.wait(service.cancel(self.id, By::USER))
    }

    /// The stream of the run, as clients see it.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let entries = self.stage.store().read(self.id.into(), After::START, usize::MAX).unwrap();
        let frames: Vec<_> = entries.iter().flat_map(frames_of).collect();
        let numbers: Vec<_> = frames.iter().map(|frame| frame.seq).collect();
        let expected: Vec<_> = (1..).take(frames.len()).collect();
        assert_eq!(numbers, expected, "frames are counted from 1 without gaps");
        frames
    }

    /// The stream in short: `from → to: trigger` for changes of the status, else the type.
    pub(crate) fn stream(&self) -> Vec<String> {
        self.frames().iter().map(in_short).collect()
    }

    /// Only the changes of the status.
    pub(crate) fn changes(&self) -> Vec<String> {
        let frames = self.frames();
        frames.iter().filter(|frame| frame.kind == FrameType::StateChanged).map(in_short).collect()
    }
}

impl Turn {
    /// Waits for the turn of the agent that works in `folder`.
    pub(crate) fn at(folder: PathBuf, number: u32) -> Self {
        let file = folder.join(format!("prompt.{number}"));
        let prompt =
            until(&format!("turn {number} in {}", folder.display()), || fs::read_to_string(&file).ok());
        Self { folder, number, prompt }
    }

    /// Lets the agent do this, in the words of a shell.
    pub(crate) fn does(&self, script: &str) {
        let part = self.folder.join("does.part");
        fs::write(&part, script).unwrap();
        fs::rename(part, self.folder.join(format!("does.{}", self.number))).unwrap();
    }

    /// Lets the agent print this and end.
    pub(crate) fn says(&self, text: &str) {
        self.does(&format!("cat <<'END'\n{text}\nEND\n"));
    }

    /// Lets an agent that speaks ACP do this and end its turn.
    pub(crate) fn acts(&self, acts: &[Act]) {
        self.does(&serde_json::to_string(acts).unwrap());
    }

    pub(crate) fn asks(&self, question: &str) {
        self.says(&agent::ask(question));
    }

    pub(crate) fn finishes(&self, answer: &str) {
        self.says(&agent::done(answer));
    }
}

impl Stage {
    /// The numbers of all living processes of agents, supervisors included.
    pub(crate) fn processes(&self) -> Vec<i32> {
        agent::processes(self.path())
    }
}

/// An answer to a question.
pub(crate) fn answer(
    interaction_id: Option<InteractionId>,
    response: Value,
    key: Option<&str>,
) -> ReplyRequest {
    ReplyRequest { interaction_id, response, action: None, by: By::USER, key: key.map(str::to_owned) }
}

/// Why the rules refused something.
pub(crate) fn refusal<T>(result: Result<T, ServiceError>) -> Refusal {
    match result {
        Err(ServiceError::Denied(Denied::Refused(refusal))) => refusal,
        Err(other) => panic!("this is no refusal: {other}"),
        Ok(_) => panic!("this was not refused"),
    }
}

/// The frames of an entry of the journal.
pub(super) fn frames_of(entry: &Entry) -> Vec<Frame> {
    let StreamId::Run(run_id) = entry.stream else { return Vec::new() };
    Record::<adjourn_core::Event>::of(entry).unwrap().frames(Header { run_id, engine: agent::ENGINE }, entry)
}

fn in_short(frame: &Frame) -> String {
    if frame.kind != FrameType::StateChanged {
        return frame.kind.to_string();
    }
    let word = |key| frame.data[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {}", json!(frame)));
    format!("{} → {}: {}", word("from"), word("to"), word("trigger"))
}
