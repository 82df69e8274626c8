//! What happens, and who asked for it.

use adjourn_core::roundtable::Purpose;
use adjourn_core::{Command, ExecutionId, Process, RoundtableId, RunId, Survey};
use adjourn_kernel::{NotCreated, StopCause};

use super::disk_state::DiskState;
use crate::client::Reaction;
use crate::roundtable::RoundtableReaction;

/// Something that happens at a moment of virtual time.
#[derive(Debug, Clone)]
pub(crate) enum Todo {
    /// Somebody wants the run of this plan.
    Create(usize),
    /// A person does something.
    React(Reaction),
    /// Somebody wants the roundtable of this plan.
    Open(usize),
    /// A person does something at a roundtable.
    ReactAtRoundtable(RoundtableReaction),
    /// Faults stop.
    Calm,
    /// Whoever waits is answered, and whatever hangs is canceled.
    Tidy,
    /// The disk fills up, or somebody makes room on it.
    DiskChanges(DiskState),
    /// The kernel wanted to be woken.
    Wake,
    /// The process comes up again.
    Restart,
    /// Something inside of the process that a crash ends.
    Inside(Inside),
}

/// What a crash forgets.
#[derive(Debug, Clone)]
pub(crate) enum Inside {
    /// The batch is written.
    Written,
    /// The batch is synced, or not.
    Synced,
    /// The turn goes on with its next act.
    Turn(RunId, u32),
    /// The turn is stopped.
    StopTurn(RunId, u32, StopCause),
    /// The process that stays dies by itself.
    ProcessDies(RunId, Process),
    /// A call has its effect, if it has one.
    CallLands(RunId, u32, ExecutionId),
    /// It was looked how much room the disk has.
    DiskLooked,
    /// The surroundings of a run were looked at.
    Surveyed(RunId, Survey),
    /// It was found out whether an agent of a roundtable can be asked.
    Prepared(RoundtableId, Purpose),
    /// The run of an agent is about to be created.
    CreateActivation(RoundtableId, RunId),
    /// The kernel is about to hear what came of that.
    ActivationCreated(RunId, Result<(), NotCreated>),
    /// A request that failed is sent again.
    Again(Box<Ticket>),
}

/// Who asked what.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) run_id: RunId,
    pub(crate) command: Command,
    pub(crate) from: From,
}

/// Who gets an answer.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// Whoever wants the run of this plan.
    Creator(usize),
    /// A person, who did this.
    Person(Box<Reaction>),
    /// The driver of this turn.
    Turn(u32),
    /// Whoever watches the process that stays.
    Process,
    /// The handler that creates the runs of roundtables.
    Roundtable,
    /// A planted bug, which does not care.
    Bug,
}
