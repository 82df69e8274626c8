//! What the kernel wants done.

use std::sync::Arc;

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
        /// Why.
        cause: StopCause,
    },
    /// Find out what there is of a run's surroundings after a restart, or whether its engine is there by now; end what is left
    /// of its process, and say so.
    Survey(Arc<Run>),
    /// Remove what was kept for making a call: it is over, and it is known how it ended.
    ForgetCall(RunId, ExecutionId),
    /// Look at a roundtable: one of its runs got on.
    SeeTo(RoundtableId),
}

/// Why a turn is ended from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// The run has to end.
    Ending,
    /// The turn took longer than it may.
    TimedOut,
}
