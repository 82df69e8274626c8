//! The execution trace: every step of every contract of a run, in the order in which it was committed.
//!
//! It is read from the journal and not from the state of the run, because only there two steps of two contracts in the
//! same millisecond have an order, and because who settled a call, and with which words, is kept nowhere else.

use serde::{Deserialize, Serialize};

use crate::time::wire;
use crate::{
    Actor, BadEntry, By, ContractStatus, ContractTrigger, Entry, Event, ExecutionId, Record, Settlement,
    Timestamp,
};

/// What stands for a trigger where a person settled a call. It is no edge of the machine: the status stays.
const SETTLE: &str = "settle";

/// One step in the execution trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TraceStep {
    /// The party that took the step.
    pub node_id: Actor,
    /// The step in words: the contract, where it was and where it went.
    pub action: String,
    /// When.
    #[serde(with = "wire")]
    pub timestamp: Timestamp,
    /// The step in fields.
    pub metadata: StepMetadata,
}

/// A step in the execution trace, in fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepMetadata {
    /// The contract.
    pub execution_id: ExecutionId,
    /// Where it was.
    pub from: ContractStatus,
    /// Where it went; where it was already, if a person settled it.
    pub to: ContractStatus,
    /// A trigger of the machine, or `settle`.
    pub trigger: String,
    /// Who fired it.
    pub actor: Actor,
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
                let before = self.steps.iter().rev().find(|step| step.metadata.execution_id == id)?;
                Some(TraceStep::settled(at, id, before.metadata.to, said))
            }
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
            | Event::ContractCreated(_)
            | Event::SetAside(_)
            | Event::ToolsListed(_)
            | Event::ToolChanged { .. }
            | Event::ProcessLost
            | Event::EndRequested(_)
            | Event::ResultRecorded(_) => None,
        }
    }
}

impl TraceStep {
    fn changed(
        at: Timestamp,
        id: ExecutionId,
        (from, to): (ContractStatus, ContractStatus),
        trigger: ContractTrigger,
        actor: Actor,
    ) -> Self {
        let trigger = trigger.to_string();
        Self {
            node_id: actor,
            action: format!("{id}: {from} -> {to} ({trigger})"),
            timestamp: at,
            metadata: StepMetadata { execution_id: id, from, to, trigger, actor, settlement: None },
        }
    }

    fn settled(at: Timestamp, id: ExecutionId, status: ContractStatus, said: SettlementView) -> Self {
        let actor = Actor::User;
        Self {
            node_id: actor,
            action: format!("{id}: {status}, settled as {}", said.outcome),
            timestamp: at,
            metadata: StepMetadata {
                execution_id: id,
                from: status,
                to: status,
                trigger: SETTLE.to_owned(),
                actor,
                settlement: Some(said),
            },
        }
    }
}
