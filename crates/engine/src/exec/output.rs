//! What an agent prints goes to its log first, and is then read. Memory stays bounded whatever it prints.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::interpret::Interpreter;
use crate::lines::{LINE_BYTES_MAX, Line, Lines};
use crate::log::Log;
use crate::secrets::MaskStream;
use crate::tail::Tail;
use crate::turn::{Seen, show};

/// What an attempt may print, stdout and stderr together.
///
/// The longest turns of coding agents that were seen print some MiB of events. 64 MiB is far beyond that, and a disk
/// survives a few of them.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// What is read at once: what a pipe holds on Linux.
pub(crate) const CHUNK_BYTES: usize = 64 << 10;

/// How long a pipe may stay open in silence once the whole tree is gone. What is in it is read at once; only a process
/// that escaped with a killed supervisor could keep it open.
const SILENCE_MAX: Duration = Duration::from_secs(1);

/// Why output is not read on.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The agent printed too much.
    TooMuch,
    /// The pipe cannot be read.
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What an attempt may still print.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    pub(crate) fn after(bytes: u64) -> Self {
        Self(AtomicU64::new(OUTPUT_BYTES_MAX.saturating_sub(bytes)))
    }

    fn spend(&self, bytes: usize) -> Result<(), Broken> {
        let left = self.0.load(Ordering::Relaxed).checked_sub(bytes as u64).ok_or(Broken::TooMuch)?;
        // Both readers live in one task, so nothing comes between.
        self.0.store(left, Ordering::Relaxed);
        Ok(())
    }
}

/// A pipe whose bytes are covered, counted and logged before anybody sees them.
pub(crate) struct Tap<'a, P> {
    pub(crate) pipe: P,
    /// Cancelled when the whole tree of the agent is gone.
    pub(crate) over: &'a CancellationToken,
    pub(crate) log: Log,
    pub(crate) budget: &'a Budget,
    pub(crate) masking: MaskStream,
}

impl<P: AsyncRead + Unpin> Tap<'_, P> {
    /// The next bytes; none when there are no more.
    async fn next(&mut self, buffer: &mut [u8]) -> Result<Option<Vec<u8>>, Broken> {
        let count = tokio::select! {
            biased;
            count = self.pipe.read(buffer) => count?,
            () = silence(self.over) => 0,
        };
        let bytes = if count == 0 { self.masking.finish() } else { self.masking.push(&buffer[..count]) };
        self.budget.spend(bytes.len())?;
        self.log.append(&bytes).await;
        Ok((count > 0 || !bytes.is_empty()).then_some(bytes))
    }

    /// Reads stdout to its end.
    pub(crate) async fn read_events(
        mut self,
        interpreter: &mut Interpreter,
        seen: &mpsc::Sender<Seen>,
    ) -> Result<(), Broken> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut lines = Lines::new(self.log.bytes_before, LINE_BYTES_MAX);
        while let Some(bytes) = self.next(&mut buffer).await? {
            for line in lines.push(&bytes) {
                read_line(interpreter, &line, seen).await?;
            }
        }
        match lines.finish() {
            Some(line) => read_line(interpreter, &line, seen).await,
            None => Ok(()),
        }
    }

    /// Reads stderr to its end, of which the last lines are kept.
    pub(crate) async fn read_complaints(mut self, tail: &mut Tail) -> Result<(), Broken> {
        let mut buffer = vec![0; CHUNK_BYTES];
        while let Some(bytes) = self.next(&mut buffer).await? {
            tail.push(&bytes);
        }
        Ok(())
    }
}

/// Ends when nothing more can be expected.
async fn silence(over: &CancellationToken) {
    over.cancelled().await;
    sleep(SILENCE_MAX).await;
}

async fn read_line(
    interpreter: &mut Interpreter,
    line: &Line,
    seen: &mpsc::Sender<Seen>,
) -> Result<(), Broken> {
    for one in interpreter.read(line) {
        show(seen, one).await;
    }
    if interpreter.is_too_long() { Err(Broken::TooMuch) } else { Ok(()) }
}
