//! The facts of a run, in the past tense. The journal is made of these.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spec::RunSpec;
use crate::interaction::{Action, By, ReplyKey, Subject};
use crate::names::named;
use crate::stream::SetAside;
use crate::{
    Actor, Boot, ContractSpec, ContractStatus, ContractTrigger, ExecutionId, InteractionId, Question,
    RunError, RunRow, RunStatus, RunTrigger, Timestamp, ToolDigest, ToolDigests, Warning,
};

/// Something that happened to a run.
///
/// What is stored is exactly this, as JSON; fields at their default are left out. A variant or a field may be added,
/// none may ever change its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The run was asked for.
    Created(Box<RunSpec>),
    /// The run's status changed, along an edge of its table.
    StatusChanged {
        /// What it was.
        from: RunStatus,
        /// What it is.
        to: RunStatus,
        /// What made it change.
        trigger: RunTrigger,
        /// Why, where it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<RunError>,
    },
    /// A turn was given to the engine.
    TurnStarted {
        /// The attempt it belongs to.
        attempt: u32,
        /// Why there is a turn.
        reason: TurnReason,
        /// The answers that it was given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        answers: Vec<InteractionId>,
    },
    /// The engine showed something.
    Observed(Observation),
    /// The output broke its contract and the agent was asked again, in the same attempt.
    RepairStarted {
        /// How many repairs there were with this one.
        repair: u32,
        /// What is wrong with the output, as the agent is told.
        problem: String,
        /// The frame of the message that no longer counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        supersedes: Option<u64>,
    },
    /// Something worth telling, that stopped nothing.
    Warned(Warning),
    /// A person was asked.
    InteractionOpened {
        /// The number of the question.
        id: InteractionId,
        /// What it is about.
        subject: Subject,
        /// What is asked.
        question: Question,
        /// When something happens without an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_at: Option<Timestamp>,
        /// The boot of the machine that the deadline was set in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot: Option<Boot>,
    },
    /// The deadline of a question followed the wall clock, which was set: it still comes as long after the question as it
    /// was meant to.
    DeadlineMoved {
        /// The question.
        id: InteractionId,
        /// Its deadline from now on.
        deadline_at: Timestamp,
        /// The boot of the machine, as the clock has it now.
        boot: Boot,
        /// By how many milliseconds the clock was set forward. 0 where it was not, and only the boot is another one.
        by_ms: i64,
    },
    /// A question was answered.
    InteractionAnswered {
        /// The question.
        id: InteractionId,
        /// The answer.
        response: Value,
        /// What to do with a call that needed approval.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Action>,
        /// By whom.
        by: By,
        /// The key that the reply was sent with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<ReplyKey>,
    },
    /// The deadline of a question passed.
    InteractionExpired {
        /// The question.
        id: InteractionId,
        /// What was decided instead; null where the answer is no.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        response: Value,
    },
    /// A question fell away.
    InteractionWithdrawn {
        /// The question.
        id: InteractionId,
        /// The person who gave it up; none where it fell away by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
    },
    /// An effect was asked for.
    ContractCreated(Box<ContractSpec>),
    /// A contract's status changed, along an edge of its table.
    ContractChanged {
        /// The contract.
        id: ExecutionId,
        /// What it was.
        from: ContractStatus,
        /// What it is.
        to: ContractStatus,
        /// What made it change.
        trigger: ContractTrigger,
        /// Who did.
        actor: Actor,
        /// More that came with the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<ContractDetail>,
    },
    /// A person said what became of a call whose result was lost.
    ContractSettled {
        /// The contract.
        id: ExecutionId,
        /// It happened.
        happened: bool,
        /// What they said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Who did it.
        by: By,
    },
    /// The tools that the run may call were listed for the first time. A tool that is not among them, or that changes later,
    /// needs a person's yes.
    ToolsListed(ToolDigests),
    /// The tool of a contract is not what it was when the contract was recorded or allowed: an earlier yes counts no more.
    ToolChanged {
        /// The contract.
        id: ExecutionId,
        /// The digest of the tool's definition as it is now.
        definition: ToolDigest,
    },
    /// A call that the agent asked for was not made, and has no contract.
    CallRefused(Box<RefusedCall>),
    /// The process that waited with the run is gone; its conversation can be loaded again.
    ProcessLost,
    /// The run has to end as soon as its process has.
    EndRequested(EndCause),
    /// The turn of a run that has to end is over, and its process is still there.
    TurnOver,
    /// The run has a result.
    ResultRecorded(Value),
    /// A part of the journal before this cannot be read. The state goes on from here.
    SetAside(Box<SetAside<RunRow>>),
}

/// A call that was refused before there was a contract for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RefusedCall {
    /// The tool, as the agent named it.
    pub tool: String,
    /// What it was called with, as JSON and as it may be seen. Cut where it is long.
    pub arguments: String,
    /// Why the call was not made, as the agent was told.
    pub reason: String,
    /// The contract of the same call that was asked for before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<ExecutionId>,
}

/// What comes with a contract's transition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractDetail {
    /// The call is made right after this commit.
    Dispatched,
    /// What came out.
    Result(Value),
    /// Why nothing came out.
    Error(String),
    /// The result was lost: it may have happened.
    Unknown(String),
    /// The tool did nothing yet and wants to know something; this is all that is needed to make the call again.
    Paused(Value),
}

named! {
    /// Why the engine was given a turn.
    pub enum TurnReason {
        /// It is the first.
        First = "first",
        /// A question of the turn before was answered.
        Answer = "answer",
        /// Contracts of the turn before were settled.
        Settled = "settled",
        /// A permission was decided that the live process of the turn before waits for: the same turn goes on.
        Permission = "permission",
        /// The turn was cut off by a restart and goes on.
        GoOn = "go_on",
    }
}

/// Why a run has to end although its process is still there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// Somebody canceled it.
    Canceled(By),
    /// Nobody answered in time.
    WaitTimedOut,
    /// Its turn ended with a result.
    TurnSucceeded,
    /// Its turn ended with an error.
    TurnFailed(RunError),
}

/// What an engine shows while a turn goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// The id that the agent keeps its conversation under.
    Handle(String),
    /// The process that executes the turn and may stay after it.
    Process(Process),
    /// The walls that hold around the agent, in a few words, or `off`.
    Sandbox(String),
    /// A complete message of the agent.
    Message {
        /// Its text.
        text: String,
        /// Where it stands in the raw output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawRef>,
    },
    /// What the agent thought.
    Reasoning {
        /// Its text.
        text: String,
        /// Where it stands in the raw output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawRef>,
    },
    /// A tool that the agent's own process ran.
    ToolCall {
        /// The tool.
        name: String,
        /// What the agent showed of it.
        detail: Value,
        /// Where it stands in the raw output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawRef>,
    },
    /// A command that the agent's own process executed.
    CommandExecution {
        /// The command.
        command: String,
        /// What the agent showed of it.
        detail: Value,
        /// Where it stands in the raw output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        raw: Option<RawRef>,
    },
    /// What was used since the last report.
    Usage(Usage),
    /// A step of an engine that resumes by the journal, in its own words. Shown to nobody.
    Step(Value),
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// What it cost, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's clock ticks since boot.
    pub started: u64,
}

named! {
    /// Which output of a process.
    pub enum OutputStream {
        /// What it says.
        Stdout = "stdout",
        /// What it complains about.
        Stderr = "stderr",
    }
}

/// Bytes in the raw output of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RawRef {
    /// The attempt.
    pub attempt: u32,
    /// The output.
    pub stream: OutputStream,
    /// The first byte.
    pub from: u64,
    /// The byte after the last.
    pub to: u64,
}
