//! What the agents of all runs may cost together.

use crate::tools::ARGUMENTS_BYTES_MAX;

/// Bytes of one request: the arguments of a call in their longest spelling, where every character is escaped, are hardly ever
/// twice as long as those that a tool takes at most.
pub(super) const BODY_BYTES_MAX: usize = 2 * ARGUMENTS_BYTES_MAX;

/// Calls of one agent at the same time. Models make a handful at once; whoever makes more is told so, and can call again.
pub(super) const CALLS_MAX: usize = 32;

/// Connections of all agents together, so that they leave descriptors for everything else. Each agent holds one or two, and
/// one more for every call that is under way.
pub(super) const CONNECTIONS_MAX: usize = 256;
