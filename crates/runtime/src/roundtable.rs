//! Roundtables at work: several agents, one agenda.
//!
//! What a roundtable means is decided in the core; here is what it takes to hold one. [`RoundtableRequest`] becomes a
//! spec with the help of the [`Library`] of roles and workflows. The kernel decides what comes next; each activation of an
//! agent is an ordinary run, which `preparation` prepares and creates when the kernel asks for it.
//!
//! # Invariants
//!
//! - A run is announced in the roundtable's journal, with its id, before it is created under that id. So whenever
//!   everything stops, a run is created once, and nobody whose answer is recorded is asked again.
//! - What an agent is told is a pure function of the roundtable's state and the texts of the library.

mod activation;
mod library;
mod operations;
mod plan;
mod preparation;
mod prompt;
mod recorded;
mod request;
mod role;
mod strategy_text;
mod workflow;

pub use library::{Library, NotThere};
pub use operations::{ArtifactRequest, Opened, RoundtableReply};
pub use request::RoundtableRequest;
pub use role::{RoleText, UnreadableRole};
pub use workflow::{UnreadableWorkflow, Workflow};

pub(crate) use activation::Part;
pub(crate) use preparation::carry_out;
pub(crate) use recorded::play;

/// The label of a run that plays a role at a roundtable: which one.
pub const LABEL: &str = "roundtable";

/// The label that says in which round it does.
pub const LABEL_ROUND: &str = "roundtable_round";

/// The label that says which role it plays.
pub const LABEL_ROLE: &str = "roundtable_role";

/// The label that says for which step of the round.
pub const LABEL_STEP: &str = "roundtable_step";
