//! Power cuts and failing disks under the store: what is acknowledged is there, and what is refused never is.

// Whoever calls a function of a test wants it to fail right there.
#![allow(clippy::unwrap_used)]

mod failing_disk;
mod power_cut;
