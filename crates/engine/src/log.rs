//! The raw output of an attempt, as files that are only ever appended to.

use std::io;
use std::path::{Path, PathBuf};

use adjourn_core::OutputStream;
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt;

/// One output of an attempt.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    /// How many bytes were there before: a repair goes on in the log of its attempt.
    pub(crate) bytes_before: u64,
}

impl Log {
    pub(crate) async fn open(folder: &Path, attempt: u32, stream: OutputStream) -> io::Result<Self> {
        tokio::fs::create_dir_all(folder).await?;
        let mut options = OpenOptions::new();
        // What agents print is nobody else's business.
        options.create(true).append(true).mode(0o600);
        let file = options.open(log_file(folder, attempt, stream)).await?;
        let bytes_before = file.metadata().await?.len();
        Ok(Self { file, bytes_before })
    }

    /// Appends, and returns when a reader of the file can see it.
    pub(crate) async fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        self.file.flush().await
    }
}

/// Where an output of an attempt is kept: `attempt-2.stdout`.
pub fn log_file(folder: &Path, attempt: u32, stream: OutputStream) -> PathBuf {
    folder.join(format!("attempt-{attempt}.{stream}"))
}
