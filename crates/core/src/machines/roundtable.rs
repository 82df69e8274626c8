//! The roundtable: a facilitated discussion of several agents.

use crate::machine::machine;

machine! {
    /// A facilitated discussion of several agents.
    RoundtableMachine = "roundtable";

    states RoundtableStatus {
        /// The discussion goes on, or waits for a person.
        Active = "active" is initial & stable,
        /// The discussion is over.
        Closed = "closed" is terminal,
    }
    triggers RoundtableTrigger {
        /// All topics are closed and enough rounds were held.
        Conclude = "concluded",
        /// The last round that was allowed has been held.
        ExhaustRounds = "max_rounds",
        /// A person closed it.
        CloseByUser = "user_closed",
        /// It cannot go on.
        Fail = "error",
    }
    edges {
        Active: Conclude => Closed by System | User, "all topics closed and min_rounds met, or a person is content";
        Active: ExhaustRounds => Closed by System, "what stays open is listed";
        Active: CloseByUser => Closed by User;
        Active: Fail => Closed by System | Recovery, "all participants missing, or a facilitator lost after its retries";
    }
}
