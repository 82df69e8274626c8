//! The interaction: a question and its resolution.

use crate::machine::machine;

machine! {
    /// A question to a person and how it was resolved.
    InteractionMachine = "interaction";

    states InteractionStatus {
        /// Asked, not resolved.
        Open = "open" is initial & stable,
        /// Resolved by an answer.
        Answered = "answered" is terminal,
        /// Its deadline passed.
        Expired = "expired" is terminal,
        /// The run no longer needs the answer.
        Withdrawn = "withdrawn" is terminal,
    }
    triggers InteractionTrigger {
        /// An answer was accepted.
        Answer = "answer",
        /// The deadline passed.
        Expire = "expire",
        /// The question fell away.
        Withdraw = "withdraw",
    }
    edges {
        Open: Answer => Answered by User | AutoDecide;
        Open: Expire => Expired by AutoDecide | System;
        Open: Withdraw => Withdrawn by User | Recovery | System;
    }
}
