//! How much a run may ask.

use crate::names::named;

named! {
    /// Whether a run may wait for a person.
    pub enum ExecutionMode {
        /// Works through on its own: a question of the agent is decided by Adjourn at once.
        Auto = "auto",
        /// Stops and asks: a question of the agent waits for a person.
        Interactive = "interactive",
    }
}
