//! Effects: what the kernel wants done.

use std::sync::Arc;

use adjourn_core::roundtable::{Purpose, Roundtable, Start};
use adjourn_core::{ExecutionId, RoundtableId, Run, RunId};

/// Something to be done. The fact that announces it is durable.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Give the engine the run's current turn.
    StartTurn(Arc<Run>),
    /// End a turn that is going on, or the process that stays with a run.
    StopTurn {
        /// The run.
        run_id: RunId,
        /// The turn that was current when this was decided.
        turn: u32,
        /// The cause.
        cause: StopCause,
    },
    /// Find out what there is of a run's surroundings after a restart, or whether its engine is there by now; end what is left
    /// of its process, and say so.
    Survey(Arc<Run>),
    /// Remove what was kept for making a call: it is over, and it is known how it ended.
    ForgetCall(RunId, ExecutionId),
    /// Find out whether the agent of a seat can be asked now and what it remembers, and
    /// [say so](super::Kernel::activation_prepared).
    PrepareActivation {
        /// The roundtable.
        roundtable: Arc<Roundtable>,
        /// What the agent is needed for.
        purpose: Purpose,
    },
    /// Create a run that the roundtable announced, and [say](super::Kernel::activation_created) what came of it.
    CreateActivation {
        /// The roundtable.
        roundtable: Arc<Roundtable>,
        /// The run.
        run_id: RunId,
    },
    /// Remove what was kept for the runs of a roundtable: it is closed.
    ForgetRoundtable(RoundtableId),
}

/// Why a turn is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// The run has to end.
    Ending,
    /// The turn took longer than it may.
    TimedOut,
}

/// What was found out about an agent that is needed at a roundtable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preparation {
    /// It can be asked.
    Ready {
        /// The id of the run that will play the role.
        run_id: RunId,
        /// What the agent remembers.
        start: Start,
    },
    /// It cannot be asked now: its engine is not there, or the journal does not answer.
    NotNow,
}

/// Why an announced run was not created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotCreated {
    /// There is no room for it in the queue, or on the disk.
    NoRoom,
    /// The journal did not answer.
    NotNow,
    /// It cannot be created.
    Lost(String),
}
