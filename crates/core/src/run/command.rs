//! What can be asked of a run, in the imperative.

use serde_json::Value;

use super::event::{Observation, Process, RefusedCall};
use super::spec::RunSpec;
use crate::interaction::{Action, By, ReplyKey};
use crate::{
    Boot, ClaimKey, ContractSpec, Evidence, ExecutionId, Holder, IdempotencyKey, InteractionId,
    PermissionRequest, Question, RunError, RunId, Timestamp, ToolDigest, ToolDigests, Warning,
};

/// Something asked of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Create it.
    Create(Create),
    /// Give the engine its next turn: a slot is free.
    StartTurn,
    /// Write down what the engine shows.
    Observe {
        /// The turn that shows it.
        turn: u32,
        /// What it shows, in order.
        observations: Vec<Observation>,
    },
    /// The engine's turn is over and its process, unless it stays, is gone.
    EndTurn {
        /// The turn that ended.
        turn: u32,
        /// What it showed last, in order.
        observations: Vec<Observation>,
        /// The end of the turn.
        end: TurnEnd,
    },
    /// Answer a question.
    Reply(Reply),
    /// The deadline of a question has come.
    Expire(InteractionId),
    /// The wall clock may have been set: have the deadlines of open questions follow it.
    MoveDeadlines,
    /// End the run.
    Cancel(By),
    /// Write down something odd that was noticed from outside of its turns.
    Warn(Warning),
    /// The process that waited with the run is gone.
    ReportProcessEnded {
        /// Which one. A late word of an earlier process says nothing about the one that is there now.
        process: Process,
        /// Whether the agent can load its conversation into a new one.
        loadable: bool,
    },
    /// Adjourn was restarted: put the run right.
    Recover(Survey),
    /// Record an effect before it happens.
    RequestContract(RequestContract),
    /// Write down that a call was refused, before the agent is told.
    RefuseCall {
        /// The turn that asked for it.
        turn: u32,
        /// The call, and why it is not made.
        call: RefusedCall,
    },
    /// Write down which tools the run may call, as they were when they were first listed.
    ListTools {
        /// The turn that listed them.
        turn: u32,
        /// The digests of their definitions.
        tools: ToolDigests,
    },
    /// Ask a person whether a call may be made whose tool changed since it was recorded or allowed.
    AskAgain(AskAgain),
    /// Make the call right after the commit.
    DispatchContract(ExecutionId),
    /// The call is over.
    ReportContract {
        /// The contract.
        id: ExecutionId,
        /// How it ended.
        report: ContractReport,
    },
    /// Say what became of a call whose result was lost.
    SettleContract {
        /// The contract.
        id: ExecutionId,
        /// It happened.
        happened: bool,
        /// What there is to say about it.
        note: Option<String>,
        /// Who says it.
        by: By,
    },
    /// Give up one effect or question that waits or has not begun.
    CancelContract {
        /// The contract.
        id: ExecutionId,
        /// Who wants it.
        by: By,
    },
}

/// The creation of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Create {
    /// What it is asked to do.
    pub spec: RunSpec,
    /// The idempotency key that it was asked for with, and a digest of the request.
    pub key: Option<ReplyKey>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum TurnEnd {
    /// The engine did its work; this is what its last message shows.
    Completed(Box<Evidence>),
    /// Everything that is left to do waits for a person.
    Suspended,
    /// The agent waits for permissions: these, and any it asked for before. A process that stays keeps its turn open
    /// meanwhile, every other one has ended it.
    NeedsPermission(Vec<PermissionRequest>),
    /// The engine failed.
    Failed(RunError),
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Which question.
    pub interaction_id: InteractionId,
    /// The answer; for an edit the new arguments.
    pub response: Value,
    /// What to do with a call that needs approval.
    pub action: Option<Action>,
    /// Who answers.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<ReplyKey>,
    /// The id that an edited call gets.
    pub edited_id: ExecutionId,
    /// The key of an edited call, where `response` has its arguments with secrets masked; else the key is made of
    /// `response`.
    pub edited_key: Option<IdempotencyKey>,
}

/// What a restart found of a run's surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Survey {
    /// The engine is configured and installed. That it is not is no reason to fail: it may be there tomorrow.
    pub engine: bool,
    /// The workspace is there.
    pub workspace: bool,
    /// Nothing is known that keeps the agent from taking up the conversation that the handle names.
    pub handle: bool,
}

impl Survey {
    /// Everything is where it was.
    pub const INTACT: Self = Self { engine: true, workspace: true, handle: true };
}

/// An effect to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestContract {
    /// The turn that asks for it.
    pub turn: u32,
    /// What is to be done.
    pub spec: ContractSpec,
    /// What a person is shown, where one has to approve it first.
    pub approval: Option<Question>,
}

/// A question whether a call may be made whose tool changed.
#[derive(Debug, Clone, PartialEq)]
pub struct AskAgain {
    /// The turn that would make the call.
    pub turn: u32,
    /// The contract of the call.
    pub id: ExecutionId,
    /// The digest of the tool's definition as it is now.
    pub definition: ToolDigest,
    /// What a person is shown.
    pub question: Question,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ContractReport {
    /// With a result.
    Succeeded(Value),
    /// With an error: it is known not to have happened, or to have failed.
    Failed(String),
    /// The other side refused it.
    Rejected(String),
    /// Nobody knows: the result got lost on the way.
    Lost(String),
    /// Nothing was done yet: the tool wants to know something first.
    NeedsInput {
        /// What it wants to know.
        question: Box<Question>,
        /// All that is needed to make the call again, in the words of whoever makes it.
        state: Value,
    },
}

/// What else is known when a command is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// What time it is.
    pub now: Timestamp,
    /// The boot of the machine as that clock has it; none where nobody asked for it, and then no deadline is moved.
    pub boot: Option<Boot>,
    /// Who holds the keys that the command [wants](super::Run::wants).
    pub held: Vec<(ClaimKey, Holder)>,
}

impl Known {
    /// Only the time.
    pub fn at(now: Timestamp) -> Self {
        Self { now, boot: None, held: Vec::new() }
    }

    /// Who holds `key`.
    pub fn holder(&self, key: &ClaimKey) -> Option<&Holder> {
        self.held.iter().find(|(held, _)| held == key).map(|(_, holder)| holder)
    }
}

/// The key under which a request to create a run is known.
pub fn create_key(key: &str) -> ClaimKey {
    ClaimKey { scope: "create".to_owned(), key: key.to_owned() }
}

/// The key that the one successor of a run holds.
pub fn successor_key(run_id: RunId) -> ClaimKey {
    ClaimKey { scope: "continues".to_owned(), key: run_id.to_string() }
}
