//! The pure heart of Adjourn.
//!
//! Here are the machines, runs with their contracts and interactions, the completion verdict and the stream. Everything
//! is a function of what it is given: `decide(state, command)` says which facts follow, `apply(state, fact)` adds one
//! up. There is **no** clock, no I/O, no randomness and no async in this crate; time and ids come in with the command.
//!
//! # Invariants
//!
//! - A status changes only through [`Machine::step`], and only along an edge of its table.
//! - The state of a run is the fold of its events, nothing else.
//! - Rendering the stream is a pure function of the journal.

mod actor;
mod canonical;
mod chart;
mod code;
mod completion;
mod excerpt;
mod id;
mod journal;
mod key;
pub mod machine;
pub mod machines;
mod mode;
mod names;
mod question;
pub mod reply;
mod schema;
mod time;

pub use actor::Actor;
pub use canonical::canonical;
pub use chart::{Chart, ChartEdge, ChartState, ChartTrigger};
pub use code::{ErrorCode, RunError, Warning, WarningCode};
pub use completion::{AUTO_DECISIONS_MAX, Ask, DONE_MARKER, Evidence, Rules, Validity, Verdict, verdict};
pub use id::{BadId, ExecutionId, InteractionId, RoundtableId, RunId};
pub use journal::{
    Change, Claim, ClaimKey, ContractRow, Entry, Holder, Item, OpenInteraction, RunRow, StreamId,
};
pub use key::{BadKey, IdempotencyKey, KeyScope};
pub use machine::{Machine, Refused};
pub use machines::{ContractMachine, ContractStatus, ContractTrigger};
pub use machines::{InteractionMachine, InteractionStatus, InteractionTrigger};
pub use machines::{RunMachine, RunStatus, RunTrigger};
pub use mode::ExecutionMode;
pub use names::UnknownName;
pub use question::{Choice, Field, FieldKind, Question, QuestionKind};
pub use schema::{FieldError, Schema, SchemaError};
pub use time::Timestamp;
