//! Power cuts at every write and sync of what users do, and disks that fail in the middle of it.
//!
//! A real run is recorded once: the real runtime, SQLite, a tool server in a process of its own, a scripted model. Then the
//! data directory is rebuilt as a power cut could leave it at each point, and the real runtime is started on that: what was
//! acknowledged before holds, the run goes on to the same end, and nothing irreversible happens twice.
//!
//! `cargo xtask powercut` tries these states, `cargo xtask powercut --full` all of them.

mod failing_disk;
mod life;
mod prune;
mod story;
mod table;
