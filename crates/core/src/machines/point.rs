//! The points a roundtable has to clear up: conflicts between participants, and questions nobody answered yet.

use crate::machine::machine;

machine! {
    /// Positions of participants that exclude each other.
    ConflictMachine = "conflict";

    states ConflictStatus {
        /// Nobody gave way yet.
        Open = "open" is initial & stable,
        /// Settled by agreement or by a person.
        Resolved = "resolved" is terminal,
    }
    triggers ConflictTrigger {
        /// It was settled.
        Resolve = "resolve",
    }
    edges {
        Open: Resolve => Resolved by Facilitator | User;
    }
}

machine! {
    /// A question that came up in a roundtable.
    QuestionMachine = "question";

    states QuestionStatus {
        /// Nobody answered yet.
        Open = "open" is initial & stable,
        /// Answered.
        Resolved = "resolved" is terminal,
    }
    triggers QuestionTrigger {
        /// It was answered.
        Resolve = "resolve",
    }
    edges {
        Open: Resolve => Resolved by Facilitator | User;
    }
}
