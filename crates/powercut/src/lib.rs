//! Power cuts and failing disks, for tests.
//!
//! A [`Recording`] sees every change to the files of one data directory: those of SQLite, by a file system under it, and
//! those of [`adjourn_store::files`]. What it saw is a [`Tape`]. From that the directory is rebuilt as it could be after a
//! power cut at any point: what was synced is there, and of what was not, all, nothing, or some parts. A recording also
//! has calls [fail](Recording::fail), so that a test sees what is left of a commit that was refused.
//!
//! It is no simulator: runtime, store and SQLite are the real ones, and so is each directory that a test starts them on.

mod disk;
mod fault;
mod observer;
mod recording;
mod tape;
mod vfs;

pub use disk::Keep;
pub use fault::{Call, Failure, Fault, On};
pub use recording::Recording;
pub use tape::{CrashPoint, Depth, Tape};
