//! Room on the disk, as the kernel is told about it.

/// A megabyte, as disks are sold.
pub const MB: u64 = 1_000_000;

/// How much of a disk is free, and how much of it has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskSpace {
    /// What is free for this user.
    pub free_bytes: u64,
    /// The least that has to be free for new work.
    pub reserve_bytes: u64,
}

/// Whether the disk has room for new work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// It has.
    Enough,
    /// Less is free than has to be.
    BelowReserve(DiskSpace),
}

impl DiskSpace {
    /// Whether that is room for new work.
    pub fn room(self) -> Room {
        if self.free_bytes < self.reserve_bytes { Room::BelowReserve(self) } else { Room::Enough }
    }
}
