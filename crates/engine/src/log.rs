//! The raw output of an attempt, as files that only ever grow.
//!
//! A log that cannot be written costs nobody their turn. What the disk does not take is left out: the file has a hole there,
//! so that every reference to what comes after still points to its bytes, and the hole begins with a line that says what is
//! missing. The turn's [`LostOutput`] knows of it, for a warning of the run.

use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use adjourn_core::{OutputStream, Warning, WarningCode};
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

use crate::turn::Turn;

/// One output of an attempt.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    /// None while it cannot be opened.
    file: Option<File>,
    /// How many bytes were there before: a repair goes on in the log of its attempt.
    pub(crate) bytes_before: u64,
    /// Where the next byte belongs.
    at: u64,
    /// The first byte of what is missing, until the file says so, and why.
    missing: Option<(u64, String)>,
    lost: LostOutput,
}

impl Log {
    /// The log of one output of a turn. Where it cannot be opened, that is tried again with each write.
    pub(crate) async fn open(turn: &Turn, stream: OutputStream) -> Self {
        let path = log_file(&turn.logs, turn.attempt, stream);
        let bytes_before = tokio::fs::metadata(&path).await.map_or(0, |found| found.len());
        let lost = turn.lost_output.clone();
        let mut log = Self { path, file: None, bytes_before, at: bytes_before, missing: None, lost };
        // A reader finds a log as soon as there is a turn; what stands in the way now may be gone by the first write.
        let _ = log.reopen().await;
        log
    }

    /// Adds to the log, and returns when a reader of the file can see it. What cannot be kept is left out.
    pub(crate) async fn append(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let at = self.at;
        let written = self.write(at, bytes).await;
        self.at += bytes.len() as u64;
        if let Err(error) = written {
            self.lost.add(bytes.len() as u64, &error);
            let (from, _) = self.missing.get_or_insert_with(|| (at, error.to_string()));
            if let Some(file) = self.file.take() {
                // A reader must not take half a line for a whole one. If that fails too, the note covers its beginning.
                let _ = file.set_len(*from).await;
            }
        }
    }

    async fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.reopen().await?;
        }
        let Some(file) = &mut self.file else { return Err(io::Error::other("the log is not open")) };
        if let Some((from, why)) = &self.missing {
            let missing = at - from;
            let note = format!("[adjourn: {missing} bytes of output could not be kept here: {why}]\n");
            let mut note = note.into_bytes();
            note.truncate(usize::try_from(missing).unwrap_or(usize::MAX));
            file.seek(SeekFrom::Start(*from)).await?;
            file.write_all(&note).await?;
            file.seek(SeekFrom::Start(at)).await?;
        }
        file.write_all(bytes).await?;
        file.flush().await?;
        self.missing = None;
        Ok(())
    }

    /// Opens the file at the place for the next byte.
    async fn reopen(&mut self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            tokio::fs::create_dir_all(folder).await?;
        }
        let mut options = OpenOptions::new();
        // What agents print is nobody else's business.
        options.create(true).write(true).truncate(false).mode(0o600);
        let mut file = options.open(&self.path).await?;
        file.seek(SeekFrom::Start(self.at)).await?;
        self.file = Some(file);
        Ok(())
    }
}

/// Output of a turn that could not be kept. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub struct LostOutput(Arc<Mutex<Option<Lost>>>);

#[derive(Debug)]
struct Lost {
    bytes: u64,
    /// Why, the first time.
    problem: String,
}

impl LostOutput {
    fn add(&self, bytes: u64, error: &io::Error) {
        let mut lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lost.get_or_insert_with(|| Lost { bytes: 0, problem: error.to_string() }).bytes += bytes;
    }

    /// What to tell of it; none where nothing was lost.
    pub fn warning(&self) -> Option<Warning> {
        let lost = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Lost { bytes, problem } = lost.as_ref()?;
        let message = format!(
            "{bytes} bytes of what the agent printed could not be kept in its log: {problem}. The turn went on without them"
        );
        Some(Warning { code: WarningCode::OutputNotKept, message })
    }
}

/// Where an output of an attempt is kept: `attempt-2.stdout`.
pub fn log_file(folder: &Path, attempt: u32, stream: OutputStream) -> PathBuf {
    folder.join(format!("attempt-{attempt}.{stream}"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn log(path: PathBuf) -> Log {
        Log { path, file: None, bytes_before: 0, at: 0, missing: None, lost: LostOutput::default() }
    }

    #[tokio::test]
    async fn what_cannot_be_kept_is_a_hole_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/attempt-1.stdout");
        let mut log = log(path.clone());
        log.append(b"one\n").await;
        // The file cannot be opened again: its place is taken by a folder.
        log.file = None;
        fs::rename(&path, folder.path().join("kept")).unwrap();
        fs::create_dir(&path).unwrap();
        let gone = [b'x'; 200];
        log.append(&gone).await;
        fs::remove_dir(&path).unwrap();
        fs::rename(folder.path().join("kept"), &path).unwrap();
        log.append(b"two\n").await;
        let text = fs::read(&path).unwrap();
        assert_eq!((&text[..4], &text[204..]), (&b"one\n"[..], &b"two\n"[..]));
        let hole = String::from_utf8(text[4..204].to_vec()).unwrap();
        assert!(
            hole.starts_with("[adjourn: 200 bytes of output could not be kept here: Is a directory"),
            "{hole}"
        );
        let warning = log.lost.warning().unwrap();
        assert_eq!(warning.code, WarningCode::OutputNotKept);
        assert!(warning.message.starts_with("200 bytes of what the agent printed"), "{warning:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[tokio::test]
    async fn a_log_goes_on_after_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("attempt-1.stdout");
        fs::write(&path, "before\n").unwrap();
        let mut log = Log { at: 7, ..log(path.clone()) };
        log.append(b"after\n").await;
        assert_eq!(fs::read_to_string(&path).unwrap(), "before\nafter\n");
        assert_eq!(log.lost.warning(), None);
    }
}
