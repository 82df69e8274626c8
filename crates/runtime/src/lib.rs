//! Runs agent work.

mod kernel;

pub use kernel::{Answer, Denied, Effect, Kernel, Scheduler, Slots, StopCause};
