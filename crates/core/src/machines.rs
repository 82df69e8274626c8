//! The machines of Adjourn, one table each: the single source of truth for every status.
//!
//! To add an edge, add its line. Tests, `adjourn statechart`, `docs/statecharts.md` and the API follow by themselves.

mod artifact;
mod contract;
mod interaction;
mod point;
mod round;
mod roundtable;
mod run;
mod topic;

pub use artifact::{ArtifactMachine, ArtifactStatus, ArtifactTrigger};
pub use contract::{ContractMachine, ContractStatus, ContractTrigger};
pub use interaction::{InteractionMachine, InteractionStatus, InteractionTrigger};
pub use point::{
    ConflictMachine, ConflictStatus, ConflictTrigger, QuestionMachine, QuestionStatus, QuestionTrigger,
};
pub use round::{RoundMachine, RoundStep, RoundTrigger};
pub use roundtable::{RoundtableMachine, RoundtableStatus, RoundtableTrigger};
pub use run::{RunMachine, RunStatus, RunTrigger};
pub use topic::{TopicMachine, TopicStatus, TopicTrigger};

/// Calls a macro with the list of all machines, so that whatever is done for each of them forgets none.
///
/// Exported for `adjourn-chart` and for the tests, which check each machine by its types.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_machine {
    ($callback:ident) => {
        $callback! {
            $crate::machines::RunMachine,
            $crate::machines::ContractMachine,
            $crate::machines::InteractionMachine,
            $crate::machines::RoundtableMachine,
            $crate::machines::RoundMachine,
            $crate::machines::TopicMachine,
            $crate::machines::ArtifactMachine,
            $crate::machines::ConflictMachine,
            $crate::machines::QuestionMachine,
        }
    };
}
