//! The run: one piece of agent work.

use crate::machine::machine;

machine! {
    /// One piece of agent work, from its creation to its one end.
    RunMachine = "run";

    states RunStatus {
        /// Waits for a slot.
        Queued = "queued" is initial,
        /// A turn of the engine is going on; a slot is held.
        Running = "running",
        /// Waits for a person, holding nothing unless its process stays.
        WaitingUser = "waiting_user" is stable,
        /// Ended with a result.
        Succeeded = "succeeded" is terminal,
        /// Ended with an error code.
        Failed = "failed" is terminal,
        /// Ended by a person.
        Canceled = "canceled" is terminal,
    }
    triggers RunTrigger {
        /// A slot was free and the turn began.
        TurnStarted = "turn.started",
        /// The turn ended with a question, or with nothing that completes the run.
        TurnNeedsInput = "turn.needs_input",
        /// The turn ended with an output that completes the run.
        TurnSucceeded = "turn.succeeded",
        /// The turn ended with an error.
        TurnFailed = "turn.failed",
        /// A reply to an open question was accepted.
        ReplyAccepted = "interaction.reply.accepted",
        /// A question was decided without a person.
        AutoDecided = "interaction.auto_decide.timeout",
        /// Nobody answered in time and the waiting process was ended.
        WaitTimedOut = "interaction.wait.timeout",
        /// The process that waited died and its conversation cannot be loaded again.
        ProcessLost = "process.lost",
        /// Somebody canceled the run.
        RunCanceled = "run.canceled",
        /// After a restart the question is still open and can be answered.
        RestartPreserveWaiting = "restart.preserve_waiting",
        /// After a restart the turn is taken up again.
        RestartRequeued = "restart.requeued",
        /// After a restart a person has to say what became of a call.
        RestartNeedsInput = "restart.needs_input",
        /// After a restart the run cannot go on.
        RestartReconcileFailed = "restart.reconcile_failed",
    }
    edges {
        Queued: TurnStarted => Running by Scheduler, "a slot is held from here";
        Running: TurnNeedsInput => WaitingUser by Engine, "the pending interaction is in the same commit";
        WaitingUser: ReplyAccepted => Queued by User;
        WaitingUser: AutoDecided => Queued by AutoDecide,
            "strict off, an auto run, or an approval whose deadline passed: then the answer is no";
        WaitingUser: WaitTimedOut => Failed by System, "sticky_process and strict on: INTERACTION_WAIT_TIMEOUT";
        WaitingUser | Queued: ProcessLost => Failed by System, "sticky_process: INTERACTION_PROCESS_LOST";
        Running: TurnSucceeded => Succeeded by Engine;
        Running: TurnFailed => Failed by Engine;
        Queued | Running | WaitingUser: RunCanceled => Canceled by User | System;
        WaitingUser: RestartPreserveWaiting => WaitingUser by Recovery;
        WaitingUser: RestartReconcileFailed => Failed by Recovery, "SESSION_RESUME_FAILED";
        Running: RestartRequeued => Queued by Recovery, "from its checkpoint or its handle";
        Running: RestartNeedsInput => WaitingUser by Recovery, "an irreversible call was in flight";
        Running | Queued: RestartReconcileFailed => Failed by Recovery,
            "RESTART_INTERRUPTED, or SESSION_RESUME_FAILED when the handle is lost";
    }
}
