//! What the agents of all runs may cost together.

use std::time::Duration;

use crate::tools::ARGUMENTS_BYTES_MAX;

/// Bytes of one request: the arguments of a call in their longest spelling, where every character is escaped, are hardly ever
/// twice as long as those that a tool takes at most.
pub(super) const BODY_BYTES_MAX: usize = 2 * ARGUMENTS_BYTES_MAX;

/// Calls of one agent at the same time. Models make a handful at once; whoever makes more is told so, and can call again.
pub(super) const CALLS_MAX: usize = 32;

/// Connections of the agent of one run. Each holds one or two, and one more for every call that is under way; one that opens
/// more harms itself alone.
pub(super) const CONNECTIONS_PER_RUN_MAX: usize = 64;

/// Connections whose process is being looked up. That takes milliseconds, after which they are an agent's or closed.
pub(super) const LOOKUPS_MAX: usize = 256;

/// How long an agent may take for the head of a request, and may keep a connection without one. Clients let go of idle
/// connections after 90 s at the latest, so none finds its connection closed just when it wants to use it.
pub(super) const HEAD_WITHIN: Duration = Duration::from_secs(120);

/// Bytes that are read ahead on a connection, and so the longest head.
pub(super) const READ_AHEAD_BYTES_MAX: usize = 64 * 1024;
