//! A run: what it is asked to do, what happened to it, and what follows from a command.
//!
//! [`Run::decide`] says which events follow from a command and changes nothing; [`Run::apply`] adds one event up. The
//! state of a run is the fold of its events:
//!
//! ```
//! use adjourn_core::{Command, Create, ExecutionMode, Known, Run, RunId, RunSpec, RunStatus, Timestamp};
//!
//! let id = RunId::from_bits(1);
//! let create = Command::Create(Create { spec: RunSpec::new("replay", ExecutionMode::Auto), key: None });
//! let created = Run::create(id, &create, &Known::at(Timestamp::from_millis(5))).unwrap();
//! assert_eq!(created.state.status(), RunStatus::Queued);
//!
//! let started = created.state.decide(&Command::StartTurn, &Known::at(Timestamp::from_millis(7))).unwrap();
//! assert_eq!(started.state.status(), RunStatus::Running);
//! assert_eq!(created.state.status(), RunStatus::Queued);
//! ```

mod apply;
mod command;
mod decide;
mod documents;
mod event;
mod refusal;
mod rows;
mod set_aside;
mod spec;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

pub use command::{
    AskAgain, Command, ContractReport, Create, Known, Reply, RequestContract, Survey, TurnEnd,
};
pub use command::{create_key, successor_key};
pub use event::{
    ContractDetail, EndCause, Event, Observation, OutputStream, Process, RawRef, RefusedCall, TurnReason,
    Usage,
};
pub use refusal::{Refusal, RefusalKind};
pub(crate) use refusal::{field_list, open_list};
pub use spec::{
    Continued, Profile, REPAIR_LIMIT_DEFAULT, ResumesBy, RunSpec, SESSION_TIMEOUT_DEFAULT_SEC, Strict,
};

use crate::interaction::{ByKind, Subject};
use crate::{
    Consequence, Contract, ContractAction, ExecutionId, Interaction, InteractionId, KeyScope, RunError,
    RunId, RunStatus, Timestamp, ToolDigests, Warning,
};

/// The state of a run: what its events add up to.
///
/// Only [`apply`](Run::apply) changes it. The fields are read through methods, so that this stays true.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    id: RunId,
    spec: Arc<RunSpec>,
    status: RunStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Events so far: the place of the last one.
    seq: u64,
    /// Frames so far: the number of the last one.
    frame: u64,
    /// Frames so far in the current attempt.
    local_frame: u64,
    /// The frame of the attempt's last message: what a repair supersedes.
    message_frame: Option<u64>,
    attempt_number: u32,
    /// Attempts that count towards `max_attempt`: all, except that journals of the first versions have some that were opened
    /// by settled contracts.
    attempts_counted: u32,
    /// Turns so far. A report names its turn, so that one from an earlier turn is told apart.
    turn: u32,
    /// Repairs in the current attempt.
    repairs: u32,
    /// Restarts of the current attempt.
    restarts: u32,
    /// The current turn was cut off and has to go on.
    interrupted: bool,
    /// Why there is a current turn.
    turn_reason: Option<TurnReason>,
    /// The answers that the current turn was given: one that goes on may not have seen them.
    turn_answers: Vec<InteractionId>,
    /// Questions of an `auto` run that Adjourn decided.
    auto_decisions: u32,
    handle: Option<String>,
    /// The agent has shown that its conversation has the task in it.
    knows_task: bool,
    /// The process that stays between turns.
    process: Option<Process>,
    /// The walls around its agent, as its last turn was started.
    sandbox: Option<String>,
    /// The profile as it is now: a sticky run that lost its process goes on as resumable.
    profile: Profile,
    /// The run has to end as soon as its process has.
    ending: Option<EndCause>,
    /// The turn of a run that has to end is over, and only its process is still there.
    turn_over: bool,
    interactions: Vec<Interaction>,
    contracts: BTreeMap<ExecutionId, Contract>,
    /// The tools as they were when they were first listed.
    tools: Option<Arc<ToolDigests>>,
    /// Calls that were refused and written down.
    refused_calls: u32,
    usage: Usage,
    warnings: Vec<Warning>,
    /// A warning says that the engine was not there, and no turn began since.
    engine_missed: bool,
    result: Option<Value>,
    error: Option<RunError>,
}

/// Restarts that one attempt survives. With the fourth, the attempt is taken for the cause and fails.
pub const RESTARTS_MAX: u32 = 3;

impl Run {
    /// Its id.
    pub fn id(&self) -> RunId {
        self.id
    }

    /// What it was asked to do.
    pub fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Its status.
    pub fn status(&self) -> RunStatus {
        self.status
    }

    /// When it was created.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When its last event was decided.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The place of its last event in its stream.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The number of the last frame that its events render to.
    pub fn last_frame(&self) -> u64 {
        self.frame
    }

    /// Where its next frame stands.
    pub fn place(&self) -> crate::Place {
        crate::Place { frame: self.frame, attempt: self.attempt_number, local: self.local_frame }
    }

    /// The current attempt, counted from 1; 0 before the first.
    pub fn attempt_number(&self) -> u32 {
        self.attempt_number
    }

    /// The current turn, which reports name; 0 before the first.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// Repairs in the current attempt.
    pub fn repairs(&self) -> u32 {
        self.repairs
    }

    /// Restarts of the current attempt.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }

    /// The id that the agent keeps its conversation under.
    pub fn handle(&self) -> Option<&str> {
        self.handle.as_deref()
    }

    /// Whether the agent has shown that its conversation has the task in it: it said or did something, or ended a turn. An
    /// agent that was killed before that may have a handle, and nothing kept under it.
    pub fn knows_task(&self) -> bool {
        self.knows_task
    }

    /// The process that stays between turns.
    pub fn process(&self) -> Option<Process> {
        self.process
    }

    /// The walls around its agent, as its last turn was started; none before that, and for engines without a process.
    pub fn sandbox(&self) -> Option<&str> {
        self.sandbox.as_deref()
    }

    /// What becomes of the process while the run waits.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// Why the run has to end as soon as its process has.
    pub fn ending(&self) -> Option<&EndCause> {
        self.ending.as_ref()
    }

    /// Whether it holds a slot: exactly while a turn is going on, or while its process stays.
    pub fn holds_slot(&self) -> bool {
        match self.status {
            RunStatus::Running => true,
            RunStatus::Queued | RunStatus::WaitingUser => self.process.is_some(),
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => false,
        }
    }

    /// All questions, the oldest first.
    pub fn interactions(&self) -> &[Interaction] {
        &self.interactions
    }

    /// The question with this number.
    pub fn interaction(&self, id: InteractionId) -> Option<&Interaction> {
        let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
        self.interactions.get(index)
    }

    /// The questions that wait for an answer, the oldest first.
    pub fn open_interactions(&self) -> impl Iterator<Item = &Interaction> {
        self.interactions.iter().filter(|interaction| interaction.is_open())
    }

    /// The answers that no turn was given yet.
    pub fn unused_answers(&self) -> impl Iterator<Item = &Interaction> {
        self.interactions.iter().filter(|interaction| interaction.is_unused())
    }

    /// Why there is a current turn; none before the first.
    pub fn turn_reason(&self) -> Option<TurnReason> {
        self.turn_reason
    }

    /// The answers that the current turn was given.
    pub fn turn_answers(&self) -> impl Iterator<Item = &Interaction> {
        self.turn_answers.iter().filter_map(|id| self.interaction(*id))
    }

    /// When the first of the open questions is decided without an answer.
    pub fn wait_deadline_at(&self) -> Option<Timestamp> {
        self.open_interactions().filter_map(|interaction| interaction.deadline_at).min()
    }

    /// All contracts, the oldest first.
    pub fn contracts(&self) -> impl Iterator<Item = &Contract> {
        self.contracts.values()
    }

    /// The contract with this id.
    pub fn contract(&self, id: ExecutionId) -> Option<&Contract> {
        self.contracts.get(&id)
    }

    /// The tools that it may call as they were when they were first listed; none before that.
    pub fn listed_tools(&self) -> Option<&ToolDigests> {
        self.tools.as_deref()
    }

    /// What was used so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What was worth telling.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The result, once it succeeded.
    pub fn result(&self) -> Option<&Value> {
        self.result.as_ref()
    }

    /// The error, once it failed.
    pub fn error(&self) -> Option<&RunError> {
        self.error.as_ref()
    }

    /// What its agent is told about a call that it asked for. Where a person changed the arguments, that is what became of
    /// the call that was made with them.
    pub fn consequence(&self, id: ExecutionId) -> Option<Consequence> {
        let edited = self.contracts().find(|contract| contract.spec.edited_from == Some(id));
        let Some(edited) = edited else {
            let consequence = self.contract(id)?.consequence();
            return Some(Consequence { assumed: self.was_answered_alone(id), ..consequence });
        };
        let arguments = match &edited.spec.action {
            ContractAction::ToolCall(call) => Some(call.arguments.clone()),
            ContractAction::EcsRequest(_) => None,
        };
        Some(Consequence { arguments, ..edited.consequence() })
    }

    /// Whether Adjourn answered the question of this contract in place of a person.
    fn was_answered_alone(&self, id: ExecutionId) -> bool {
        self.interactions.iter().any(|interaction| {
            let by = interaction.resolution.as_ref().map(|resolution| resolution.by.kind);
            interaction.subject == Subject::Form(id) && by == Some(ByKind::AutoDecide)
        })
    }

    /// What became of the calls that the current turn was begun for. After an interruption also of those that it asked for
    /// itself: whoever did may not have heard of it.
    pub fn settled_calls(&self) -> impl Iterator<Item = (&Contract, Consequence)> {
        let goes_on = self.turn_reason == Some(TurnReason::GoOn);
        self.contracts()
            .filter(|contract| contract.spec.edited_from.is_none())
            .filter(move |contract| {
                let id = contract.spec.execution_id;
                let is_answered = self.turn_answers().any(|answer| answer.subject.execution_id() == Some(id));
                is_answered || (goes_on && contract.attempt_number == self.attempt_number)
            })
            .filter_map(|contract| Some((contract, self.consequence(contract.spec.execution_id)?)))
            .filter(|(_, consequence)| consequence.status.is_terminal())
    }

    /// The first run of the chain that this one continues.
    pub fn root(&self) -> RunId {
        self.spec.continues.as_ref().map_or(self.id, |continued| continued.root)
    }

    /// Where an idempotency key of that reach is unique. A run that is in no roundtable, or of no skill, keeps its
    /// keys to itself.
    pub fn scope(&self, reach: KeyScope) -> String {
        let own = || format!("run:{}", self.root());
        match reach {
            KeyScope::Run => own(),
            KeyScope::Roundtable => self.spec.roundtable.map_or_else(own, |id| format!("roundtable:{id}")),
            KeyScope::Skill => self.spec.skill.as_ref().map_or_else(own, |skill| format!("skill:{skill}")),
            KeyScope::Global => "global".to_owned(),
        }
    }
}
