//! Runs agent work.

mod kernel;
mod runtime;

pub use kernel::{Answer, Denied, Effect, Kernel, Scheduler, Slots, StopCause};
pub use runtime::{Clock, Hands, Runtime, SystemClock, WeakRuntime};
