//! Room on the disk with the data directory.
//!
//! A disk that is full costs nobody their run, as long as what goes on can still be written down. So a part of it is kept
//! free: below this reserve no turn begins and no run is created. What goes on goes on, and answers and cancels are taken
//! for as long as the disk takes them. How much is free is asked about once a second on a thread of its own, because a file
//! system that hangs must not hold up the kernel.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use std::{fmt, io};

use adjourn_kernel::{DiskSpace, MB, Room};

use crate::runtime::WeakRuntime;

/// How often it is looked how much is free. An agent that writes 200 MB in this time uses up the default reserve.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is kept free when nobody says otherwise: the output of four agents at its limit.
const RESERVE_DEFAULT_BYTES: u64 = 256 * MB;

/// The same on a small disk: one part in this many.
const RESERVE_DEFAULT_PART: u64 = 20;

/// The disk with the data directory.
pub(crate) struct Disk {
    folder: PathBuf,
    /// The reserve that is configured; else it depends on the size of the disk.
    reserve_bytes: Option<u64>,
    space: Mutex<DiskSpace>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("folder", &self.folder).field("space", &self.space()).finish()
    }
}

impl Disk {
    /// The disk that `folder` is on, looked at once. One that cannot be asked has room.
    pub(crate) fn new(folder: &Path, reserve_mb: Option<u32>) -> Self {
        let reserve_bytes = reserve_mb.map(|mb| u64::from(mb) * MB);
        let disk = Self { folder: folder.to_owned(), reserve_bytes, space: Mutex::default() };
        disk.look();
        disk
    }

    /// How much was free when it was last looked.
    pub(crate) fn space(&self) -> DiskSpace {
        *self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks how much is free. A file system that cannot say so is taken to be as it was.
    fn look(&self) -> DiskSpace {
        if let Ok(found) = rustix::fs::statvfs(&self.folder) {
            let size_bytes = found.f_blocks.saturating_mul(found.f_frsize);
            let by_size = (size_bytes / RESERVE_DEFAULT_PART).min(RESERVE_DEFAULT_BYTES);
            let space = DiskSpace {
                free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
                reserve_bytes: self.reserve_bytes.unwrap_or(by_size),
            };
            *self.space.lock().unwrap_or_else(PoisonError::into_inner) = space;
        }
        self.space()
    }

    /// Looks again and again, and tells the runtime, until that has ended.
    pub(crate) fn watch(self: Arc<Self>, runtime: WeakRuntime) -> io::Result<()> {
        let mut told = self.space().room();
        let look = move || {
            loop {
                thread::sleep(LOOK_EVERY);
                let space = self.look();
                let Some(runtime) = runtime.upgrade() else { return };
                let room = space.room();
                if room == told {
                    continue;
                }
                match (told, room) {
                    (Room::Enough, Room::BelowReserve(_)) => tracing::warn!(
                        folder = %self.folder.display(), free_bytes = space.free_bytes,
                        reserve_bytes = space.reserve_bytes,
                        "the disk is almost full: no turn begins and no run is created until there is room"
                    ),
                    (Room::BelowReserve(_), Room::Enough) => tracing::info!(
                        folder = %self.folder.display(), free_bytes = space.free_bytes,
                        "the disk has room again: turns begin and runs are created"
                    ),
                    (Room::Enough, Room::Enough) | (Room::BelowReserve(_), Room::BelowReserve(_)) => {}
                }
                runtime.set_room(room);
                told = room;
            }
        };
        thread::Builder::new().name("adjourn-disk".to_owned()).spawn(look).map(drop)
    }
}
