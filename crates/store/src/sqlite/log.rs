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

use rusqlite::Connection;

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

/// The length of the log up to the last frame that is committed, as the index of an open database has it.
pub(super) fn committed_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let page_bytes: u32 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
    // Does nothing and says how many frames there are; -1 where there is no log.
    let frames: i64 = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1))?;
    Ok(match u64::try_from(frames) {
        Ok(0) | Err(_) => 0,
        Ok(frames) => HEADER_BYTES + frames * (FRAME_HEADER_BYTES + u64::from(page_bytes)),
    })
}

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
