//! The kernel of Adjourn: everything that decides when something happens, without doing any of it.
//!
//! The [`Decider`] takes commands to streams, decides them on warm states and answers after the commit. The [`Kernel`] sits
//! on two deciders, one for runs and one for roundtables, and adds slots, deadlines, recovery and rounds. Both are step
//! functions: [`Threads`] drive them in production, and the simulator drives the same code on virtual time.

mod chain;
mod clock;
mod decider;
mod denied;
mod journal;
mod kernel;
mod load;
mod pulse;
mod room;
mod tally;
mod threads;

pub use chain::{HistoryError, chain};
pub use clock::{Clock, Now, Steady, SystemClock};
pub use decider::{Decider, News, Request};
pub use denied::{Accepted, Answer, Denied};
pub use journal::Journal;
pub use kernel::{
    Effect, EngineSlots, Kernel, NotCreated, Preparation, Scheduler, SlotUse, Slots, StopCause,
};
pub use load::{StoredStream, load, load_readable};
pub use pulse::{Pulse, STEP_MAX, Stuck};
pub use room::{DiskSpace, MB, Room};
pub use tally::{Tallied, Tally};
pub use threads::{Committed, Inputs, Steps, Threads, WeakInputs};
