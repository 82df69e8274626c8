//! Who owns a data directory.
//!
//! One process at a time, by an advisory lock on the directory itself and on a file in it. The kernel lets go of a lock when
//! its holder dies, however it dies, so a file that was left behind never keeps anybody out. The lock on the directory holds
//! when the file is removed. What is written in the file is only for the message that the second one gets.
//!
//! Not on the database: on some systems a lock of this kind and those of SQLite on the same file exclude each other.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use adjourn_core::Timestamp;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::Pid;

use crate::Error;
use crate::directory;

/// The file in a data directory that says who owns it.
pub const LOCK_FILE: &str = "adjourn.lock";

/// What is read of somebody else's lock file: a path and a few words fit.
const OWNER_BYTES_MAX: u64 = 512;

/// How long the lock of a dead owner may outlive it.
///
/// A process that the owner was just starting has a copy of the lock until it is another program. That takes a few
/// milliseconds, and whoever starts us again after a crash may be faster.
const DEAD_OWNER_MAX: Duration = Duration::from_secs(1);

/// How often it is looked whether it let go.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The ownership of a data directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    dir: PathBuf,
    /// The directory itself. Unlike a file in it, nobody can take it away without taking the journal along.
    folder: File,
    /// The file that says who the owner is. Earlier versions lock only this one.
    file: File,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the files is not enough: a process that is just being started has a copy of them.
        for file in [&self.file, &self.folder] {
            let _ = rustix::fs::flock(file, FlockOperation::Unlock);
        }
    }
}

impl Lock {
    /// Takes the ownership of `dir`, or says who has it.
    pub(crate) fn take(dir: &Path) -> Result<Self, Error> {
        let unusable = |error: io::Error| directory::unusable(dir, &error);
        let folder = File::open(dir).map_err(unusable)?;
        let mut file = open_file(dir).map_err(unusable)?;
        let began = Instant::now();
        for of in [Of::Folder, Of::File] {
            let locked = match of {
                Of::Folder => &folder,
                Of::File => &file,
            };
            while let Err(error) = rustix::fs::flock(locked, FlockOperation::NonBlockingLockExclusive) {
                match (error, of) {
                    (Errno::WOULDBLOCK, _) => {}
                    // Some file systems lock files and no folders. The file keeps others out as long as it is there.
                    (_, Of::Folder) => break,
                    (error, Of::File) => return Err(unusable(error.into())),
                }
                let owner = owner(dir);
                if !is_dead(&owner) || began.elapsed() > DEAD_OWNER_MAX {
                    return Err(Error::Owned { path: dir.to_owned(), owner });
                }
                std::thread::sleep(LOOK_AGAIN);
            }
        }
        introduce(&mut file);
        Ok(Self { dir: dir.to_owned(), folder, file })
    }

    /// Puts the lock file back if somebody removed it: the next owner is to be told about this one, and one of an earlier
    /// version is to be kept out. Fails if such a one is there already.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        let unusable = |error: io::Error| directory::unusable(&self.dir, &error);
        if self.file.metadata().map_err(unusable)?.nlink() > 0 {
            return Ok(());
        }
        let mut file = open_file(&self.dir).map_err(unusable)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            Errno::WOULDBLOCK => Error::Owned { path: self.dir.clone(), owner: owner(&self.dir) },
            error => unusable(error.into()),
        })?;
        introduce(&mut file);
        self.file = file;
        Ok(())
    }
}

/// What is locked.
#[derive(Clone, Copy)]
enum Of {
    Folder,
    File,
}

fn open_file(dir: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(dir.join(LOCK_FILE))
}

/// Writes down who we are. The lock is ours whether or not that can be written: a full disk must not keep us out.
fn introduce(file: &mut File) {
    let _ = file.set_len(0).and_then(|()| file.write_all(introduction().as_bytes()));
}

/// Who we are, for whoever comes second.
///
/// Only the name of the program and its first argument, where that is a word: the others may be a prompt or a secret.
fn introduction() -> String {
    let mut arguments = std::env::args();
    let program = arguments.next().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let command = arguments.next().filter(|word| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
    let command = command.map(|word| format!(" {word}")).unwrap_or_default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp::from_millis(i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    format!("process {} ({program}{command}) since {now}\n", std::process::id())
}

/// Whether the owner that the note names is no more.
fn is_dead(owner: &str) -> bool {
    let pid = owner.strip_prefix("process ").and_then(|rest| rest.split_once(' ')?.0.parse().ok());
    let Some(pid) = pid.and_then(Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) == Err(Errno::SRCH)
}

/// What an owner is called that has not written down who it is, or never could.
pub const UNNAMED_OWNER: &str = "another process";

/// Who owns the data directory `dir`, as the lock describes it. Whoever is named may have ended since.
pub fn owner(dir: &Path) -> String {
    let mut text = String::new();
    let read =
        File::open(dir.join(LOCK_FILE)).and_then(|file| file.take(OWNER_BYTES_MAX).read_to_string(&mut text));
    match text.lines().next() {
        Some(line) if read.is_ok() && line.starts_with("process ") => line.escape_debug().to_string(),
        // It was locked but not yet, or never, written.
        _ => UNNAMED_OWNER.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LOCK_FILE, Lock};
    use crate::Error;

    #[test]
    fn the_second_owner_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = Lock::take(dir.path()).unwrap();
        let error = Lock::take(dir.path()).unwrap_err();
        assert!(matches!(error, Error::Owned { .. }));
        let message = error.to_string();
        let us = format!("is in use by process {} (adjourn_store", std::process::id());
        assert!(message.contains(&us), "{message}");
        assert!(message.contains(" since 2"), "{message}");
        drop(first);
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_lock_file_that_was_removed_lets_nobody_else_in_and_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Lock::take(dir.path()).unwrap();
        fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
        assert!(matches!(Lock::take(dir.path()), Err(Error::Owned { .. })));
        fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
        first.check().unwrap();
        let message = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    }

    #[test]
    fn an_owner_of_an_earlier_version_that_took_the_place_of_a_removed_file_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Lock::take(dir.path()).unwrap();
        fs::remove_file(dir.path().join(LOCK_FILE)).unwrap();
        let file = super::open_file(dir.path()).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        assert!(matches!(first.check(), Err(Error::Owned { .. })));
    }

    #[test]
    fn who_lets_go_lets_go_for_copies_too() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        let _copies = (lock.file.try_clone().unwrap(), lock.folder.try_clone().unwrap());
        drop(lock);
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn what_a_dead_owner_left_behind_keeps_nobody_out() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(LOCK_FILE), "process 1 (init) since ever\n").unwrap();
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn what_a_dead_owner_was_just_starting_keeps_nobody_out_for_long() {
        let dir = tempfile::tempdir().unwrap();
        let copy = Lock::take(dir.path()).unwrap();
        // No process has the largest number there is.
        fs::write(dir.path().join(LOCK_FILE), format!("process {} (adjourn) since ever\n", i32::MAX))
            .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(10 * super::LOOK_AGAIN);
                drop(copy);
            });
            Lock::take(dir.path()).unwrap();
        });
    }

    #[test]
    fn an_unreadable_note_does_not_hide_that_there_is_an_owner() {
        let dir = tempfile::tempdir().unwrap();
        let _lock = Lock::take(dir.path()).unwrap();
        for note in [&b""[..], b"\xff\xfe", b"hello"] {
            fs::write(dir.path().join(LOCK_FILE), note).unwrap();
            let message = Lock::take(dir.path()).unwrap_err().to_string();
            assert!(message.contains("is in use by another process"), "{message}");
        }
    }
}
