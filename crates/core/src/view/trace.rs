//! The execution trace: every step of every contract of a run and every call that was refused, in the order in which they were
//! committed.
//!
//! It is read from the journal and not from the state of the run, because only there two steps of two contracts in the
//! same millisecond have an order, and because who settled a call, and with which words, is kept nowhere else.

use serde::{Deserialize, Serialize};

use crate::time::wire;
use crate::{
    Actor, BadEntry, By, ContractSpec, ContractStatus, ContractTrigger, Entry, Event, ExecutionId, Record,
    RefusedCall, Settlement, Timestamp,
};

/// What stands for a trigger where a person settled a call. It is no edge of the machine: the status stays.
const SETTLE: &str = "settle";

/// What stands for a trigger where a contract was recorded.
const CREATE: &str = "create";

/// What stands for a trigger where a call was refused.
const REFUSE: &str = "refuse";

/// One step in the execution trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceStep {
    /// The party that took the step.
    pub node_id: Actor,
    /// The step in words: the contract, where it was and where it went.
    pub action: String,
    /// The time of it.
    #[serde(with = "wire")]
    pub timestamp: Timestamp,
    /// The step in fields.
    pub metadata: StepMetadata,
}

/// A step in the execution trace, in fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepMetadata {
    /// The contract; none for a call that was refused.
    pub execution_id: Option<ExecutionId>,
    /// Where it was; none where it was created.
    pub from: Option<ContractStatus>,
    /// Where it went; where it was already, if a person settled it. None for a call that was refused.
    pub to: Option<ContractStatus>,
    /// A trigger of the machine, or `create`, `refuse` or `settle`.
    pub trigger: String,
    /// Who fired it.
    pub actor: Actor,
    /// The call that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedCall>,
    /// What a person said of a call whose result was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement: Option<SettlementView>,
}

/// What a person said of a call whose result was lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SettlementView {
    /// What became of it.
    pub outcome: Settlement,
    /// What there was to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Who said it.
    pub by: By,
}

/// An execution trace in the making.
#[derive(Debug, Default)]
pub struct Trace {
    steps: Vec<TraceStep>,
}

impl Trace {
    /// Adds the steps of the next entry of the run's stream.
    pub fn add(&mut self, entry: &Entry) -> Result<(), BadEntry> {
        for event in Record::of(entry)?.events {
            let step = self.step(entry.at, event);
            self.steps.extend(step);
        }
        Ok(())
    }

    /// The steps, the oldest first.
    pub fn into_steps(self) -> Vec<TraceStep> {
        self.steps
    }

    fn step(&self, at: Timestamp, event: Event) -> Option<TraceStep> {
        match event {
            Event::ContractChanged { id, from, to, trigger, actor, .. } => {
                Some(TraceStep::changed(at, id, (from, to), trigger, actor))
            }
            Event::ContractSettled { id, happened, note, by } => {
                let said = SettlementView { outcome: Settlement::of(happened), note, by };
                // Only a call that was dispatched is settled, and so it has a step before this one.
                let before = self.steps.iter().rev().find(|step| step.metadata.execution_id == Some(id))?;
                Some(TraceStep::settled(at, id, before.metadata.to?, said))
            }
            Event::ContractCreated(spec) => Some(TraceStep::created(at, &spec)),
            Event::CallRefused(call) => Some(TraceStep::refused(at, *call)),
            Event::Created(_)
            | Event::StatusChanged { .. }
            | Event::TurnStarted { .. }
            | Event::Observed(_)
            | Event::RepairStarted { .. }
            | Event::Warned(_)
            | Event::InteractionOpened { .. }
            | Event::InteractionAnswered { .. }
            | Event::InteractionExpired { .. }
            | Event::InteractionWithdrawn { .. }
            | Event::DeadlineMoved { .. }
            | Event::SetAside(_)
            | Event::ToolsListed(_)
            | Event::ToolChanged { .. }
            | Event::ProcessLost
            | Event::EndRequested(_)
            | Event::TurnOver
            | Event::ResultRecorded(_) => None,
        }
    }
}

impl TraceStep {
    /// A contract that was recorded: for the reasoning of the agent, or for a person who gave a call other arguments.
    fn created(at: Timestamp, spec: &ContractSpec) -> Self {
        let actor = if spec.edited_from.is_some() { Actor::User } else { Actor::ReasoningNode };
        let (id, to) = (spec.execution_id, ContractStatus::Pending);
        Self {
            node_id: actor,
            action: format!("{id}: -> {to} ({CREATE})"),
            timestamp: at,
            metadata: StepMetadata { to: Some(to), ..StepMetadata::bare(Some(id), CREATE, actor) },
        }
    }

    /// A call for which no contract was recorded.
    fn refused(at: Timestamp, call: RefusedCall) -> Self {
        let actor = Actor::ToolNode;
        Self {
            node_id: actor,
            action: format!("{}: refused ({})", call.tool, call.reason),
            timestamp: at,
            metadata: StepMetadata { refused: Some(call), ..StepMetadata::bare(None, REFUSE, actor) },
        }
    }

    fn changed(
        at: Timestamp,
        id: ExecutionId,
        (from, to): (ContractStatus, ContractStatus),
        trigger: ContractTrigger,
        actor: Actor,
    ) -> Self {
        let trigger = trigger.name();
        Self {
            node_id: actor,
            action: format!("{id}: {from} -> {to} ({trigger})"),
            timestamp: at,
            metadata: StepMetadata {
                from: Some(from),
                to: Some(to),
                ..StepMetadata::bare(Some(id), trigger, actor)
            },
        }
    }

    fn settled(at: Timestamp, id: ExecutionId, status: ContractStatus, said: SettlementView) -> Self {
        let actor = Actor::User;
        Self {
            node_id: actor,
            action: format!("{id}: {status}, settled as {}", said.outcome),
            timestamp: at,
            metadata: StepMetadata {
                from: Some(status),
                to: Some(status),
                settlement: Some(said),
                ..StepMetadata::bare(Some(id), SETTLE, actor)
            },
        }
    }
}

impl StepMetadata {
    fn bare(execution_id: Option<ExecutionId>, trigger: &str, actor: Actor) -> Self {
        let trigger = trigger.to_owned();
        Self { execution_id, from: None, to: None, trigger, actor, refused: None, settlement: None }
    }
}
