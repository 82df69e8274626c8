//! The write-ahead log around commits that fail.
//!
//! A commit is frames that are appended to the log, and a sync. When the sync fails, SQLite rolls the transaction back: its
//! index in memory does not count the frames. But they are in the file, whole, and the next process that opens the database
//! finds them by their checksums and takes them for committed. So what was refused would be there after a kill. The log is
//! therefore cut off behind the last frame that the index counts, before anything else is accepted. That is the last frame
//! that was acknowledged: frames are only counted after their sync.
//!
//! The cut is synced. Until that succeeds the frames may be on the disk, and nobody can say whether a power cut brings them
//! back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, ffi};

use super::open;

use crate::files;

/// Bytes before the first frame of a log, and before the page of each frame: SQLite's file format.
const HEADER_BYTES: u64 = 32;
const FRAME_HEADER_BYTES: u64 = 24;

/// The log of the database at `path`.
pub(super) fn path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Makes what is in a log durable, before anybody reads it.
///
/// A process that was killed between writing and syncing leaves frames that are only in the memory of the system, and a sync
/// that failed leaves some that no later sync writes. SQLite counts both as committed, and so will we: a power cut must not
/// take them back after somebody acted on them.
pub(super) fn make_durable(log: &Path) -> io::Result<()> {
    match length(log)? {
        None | Some(0) => Ok(()),
        Some(_) => files::write_again(log).and_then(|()| files::sync_file(log)),
    }
}

/// How many frames of the log are committed, as the index of an open database has it, and how many of them are copied into
/// the database.
pub(super) fn frames(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    // Does nothing and says how many there are; -1 where there is no log.
    let count = |row: &Row<'_>, index| row.get(index).map(|count: i64| u64::try_from(count).unwrap_or(0));
    let mut statement = connection.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
    statement.query_row([], |row| Ok((count(row, 1)?, count(row, 2)?)))
}

/// The length of the log up to the last frame that is committed.
pub(super) fn committed_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let page_bytes: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(match frames(connection)? {
        (0, _) => 0,
        (frames, _) => HEADER_BYTES + frames * (FRAME_HEADER_BYTES + u64::from(page_bytes)),
    })
}

/// Copies a log that has become long into the database, as far as readers let it.
pub(super) fn copy_if_long(connection: &Connection) -> Result<(), NotCopied> {
    let is_long = frames(connection).is_ok_and(|(frames, _)| frames >= open::WAL_PAGES);
    if !is_long {
        return Ok(());
    }
    match connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
        Err(rusqlite::Error::SqliteFailure(failure, _))
            if failure.extended_code == ffi::SQLITE_IOERR_FSYNC =>
        {
            Err(NotCopied)
        }
        // What could not be written stays in the log, and the next commit tries again.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The database could not be synced.
///
/// The system may have dropped pages that earlier copies wrote into it, and takes them for written. SQLite has noted that
/// they are copied and would not copy them again, and then the log that has them is written over.
#[derive(Debug)]
pub(super) struct NotCopied;

/// Removes everything behind `bytes` from a log, durably.
pub(super) fn cut_off(log: &Path, bytes: u64) -> io::Result<()> {
    let Some(length) = length(log)? else { return Ok(()) };
    if length > bytes {
        files::truncate(log, bytes)?;
    }
    files::sync_file(log)
}

/// None where there is no log.
fn length(log: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(log) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
