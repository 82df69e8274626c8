//! Calls that fail.

use std::io;
use std::path::Path;

use rusqlite::ffi;

/// A kind of call to the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Reading.
    Read,
    /// Writing, making a folder or a link.
    Write,
    /// Cutting a file off.
    Truncate,
    /// Making something durable.
    Sync,
    /// Giving another name.
    Rename,
    /// Removing.
    Remove,
}

impl Call {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::Truncate, Self::Sync, Self::Rename, Self::Remove];
}

/// The files whose calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The database and its log.
    Database,
    /// The log of the database.
    Log,
    /// The database without its log.
    Pages,
    /// Everything else.
    Files,
}

impl On {
    fn has(self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match self {
            Self::Database => name.starts_with("adjourn.db"),
            Self::Log => name == "adjourn.db-wal",
            Self::Pages => name == "adjourn.db",
            Self::Files => !name.starts_with("adjourn.db"),
        }
    }
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The disk does not do it.
    Io,
    /// There is no space left. Of a write the first half is there.
    Full,
}

/// Calls that fail.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Of which files.
    pub on: On,
    /// Which kinds of calls.
    pub calls: &'static [Call],
    /// How many of them work before the first one that fails.
    pub spared: usize,
    /// How many fail then.
    pub times: usize,
    /// How they fail.
    pub how: Failure,
}

impl Fault {
    /// Whether this call fails, which is counted.
    pub(crate) fn strikes(&mut self, call: Call, path: &Path) -> Option<Failure> {
        if !self.on.has(path) || !self.calls.contains(&call) {
            return None;
        }
        if self.spared > 0 {
            self.spared -= 1;
            return None;
        }
        self.times = self.times.checked_sub(1)?;
        Some(self.how)
    }
}

impl Failure {
    pub(crate) fn as_io_error(self) -> io::Error {
        match self {
            Self::Io => io::Error::from_raw_os_error(5),
            Self::Full => io::Error::from_raw_os_error(28),
        }
    }

    pub(crate) fn as_sqlite_code(self, call: Call) -> i32 {
        match (self, call) {
            (Self::Full, Call::Write) => ffi::SQLITE_FULL,
            (_, Call::Read) => ffi::SQLITE_IOERR_READ,
            (_, Call::Write) => ffi::SQLITE_IOERR_WRITE,
            (_, Call::Truncate) => ffi::SQLITE_IOERR_TRUNCATE,
            (_, Call::Sync) => ffi::SQLITE_IOERR_FSYNC,
            (_, Call::Rename | Call::Remove) => ffi::SQLITE_IOERR_DELETE,
        }
    }
}
