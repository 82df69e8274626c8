//! The completion verdict: what the end of a turn means for its run.
//!
//! Three steps, each pure: `scan` finds the JSON objects in what the agent wrote, [`Evidence`] says what they show,
//! and [`verdict`] applies the rules of the run's mode to it. An engine that failed never gets here.

mod ask;
mod evidence;
mod prose;
mod scan;
mod verdict;

pub use ask::Ask;
pub use evidence::{Evidence, Validity};
pub use verdict::{AUTO_DECISIONS_MAX, Rules, Verdict, verdict};

/// The key by which an agent marks an object as its final result (`true`) or as a question (`false`).
pub const DONE_MARKER: &str = "__SKILL_DONE__";
