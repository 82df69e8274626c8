//! The topic: one item of a roundtable's agenda.

use crate::machine::machine;

machine! {
    /// One item of a roundtable's agenda.
    TopicMachine = "topic";

    states TopicStatus {
        /// No criterion is covered.
        Open = "open" is initial,
        /// Some criterion is covered.
        Partial = "partial",
        /// Every criterion is covered and there are enough artifacts. It never opens again.
        Closed = "closed" is terminal,
    }
    triggers TopicTrigger {
        /// The first criterion was covered.
        Cover = "covered",
        /// The last condition of `done_when` was met.
        Complete = "completed",
    }
    edges {
        Open: Cover => Partial by System;
        Open | Partial: Complete => Closed by System, "all criteria covered, min_requirements and min_artifacts reached";
    }
}
