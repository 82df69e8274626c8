//! A run as the graph that its agent walks: what is still to be done, what is over, and the way there.

use serde::{Deserialize, Serialize};

use super::{ContractView, TraceStep};
use crate::names::named;
use crate::{Contract, Run, RunStatus};

named! {
    /// How the graph of a run stands.
    pub enum GraphStatus {
        /// It goes on, or will as soon as there is a slot.
        Running = "running",
        /// It waits for a person, at its checkpoint.
        Suspended = "suspended",
        /// It came to its end, with a result.
        Completed = "completed",
        /// It came to its end, with an error.
        Failed = "failed",
        /// It was given up.
        Cancelled = "cancelled",
    }
}

impl From<RunStatus> for GraphStatus {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Queued | RunStatus::Running => Self::Running,
            RunStatus::WaitingUser => Self::Suspended,
            RunStatus::Succeeded => Self::Completed,
            RunStatus::Failed => Self::Failed,
            RunStatus::Canceled => Self::Cancelled,
        }
    }
}

/// The state of the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphView {
    /// How it stands.
    pub status: GraphStatus,
    /// The contracts that are not over, the oldest first.
    pub pending_executions: Vec<ContractView>,
    /// The contracts that are over, the oldest first.
    pub completed_executions: Vec<ContractView>,
    /// Every step of every contract, in order.
    pub execution_trace: Vec<TraceStep>,
}

impl GraphView {
    /// The graph of `run`, whose trace is `execution_trace`.
    pub fn of(run: &Run, execution_trace: Vec<TraceStep>) -> Self {
        let (completed, pending): (Vec<&Contract>, Vec<_>) =
            run.contracts().partition(|contract| contract.status.is_terminal());
        let views = |contracts: Vec<&Contract>| {
            contracts.into_iter().map(|contract| ContractView::of(run, contract)).collect()
        };
        Self {
            status: run.status().into(),
            pending_executions: views(pending),
            completed_executions: views(completed),
            execution_trace,
        }
    }
}
