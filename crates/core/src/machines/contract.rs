//! The contract: one effect on the world, or one question to a person.

use crate::machine::machine;

machine! {
    /// One effect on the world, or one question to a person, and what became of it.
    ContractMachine = "contract";

    states ContractStatus {
        /// Recorded, not begun.
        Pending = "PENDING" is initial,
        /// Begun; dispatched if `dispatched_at` says so.
        Running = "RUNNING",
        /// Waits for a person.
        Waiting = "WAITING" is stable,
        /// Done, with a result.
        Completed = "COMPLETED" is terminal,
        /// Known not done, or, with `outcome: unknown`, perhaps done.
        Failed = "FAILED" is terminal,
        /// Not done, because somebody said no.
        Rejected = "REJECTED" is terminal,
        /// Given up before its end.
        Cancelled = "CANCELLED" is terminal,
    }
    triggers ContractTrigger {
        /// Work on it begins.
        Start = "start",
        /// It ended with a result.
        Succeed = "succeed",
        /// It ended with an error.
        Fail = "fail",
        /// It was refused.
        Reject = "reject",
        /// It cannot go on without a person.
        Suspend = "suspend",
        /// The person answered.
        Resume = "resume",
        /// It is given up.
        Cancel = "cancel",
        /// The person did not answer in time.
        Timeout = "timeout",
    }
    edges {
        Pending: Start => Running by ToolNode | EcsNode | GraphRunner | Recovery | System;
        Running: Succeed => Completed by ToolNode | EcsNode | User | AutoDecide,
            "a user where a person said that it happened";
        Running: Fail => Failed by ToolNode | EcsNode | GraphRunner | Recovery | User | System;
        Running: Reject => Rejected by ToolNode | EcsNode | User | AutoDecide | System;
        Running: Suspend => Waiting by ToolNode | EcsNode | Recovery;
        Running: Cancel => Cancelled by GraphRunner | User | Recovery | System;
        Waiting: Resume => Running by GraphRunner | User | AutoDecide | ToolNode,
            "a graph_runner where an approved call is dispatched; in older journals that was a tool_node";
        Waiting: Cancel => Cancelled by GraphRunner | User | Recovery | System;
        Waiting: Timeout => Cancelled by AutoDecide | System;
    }
}
