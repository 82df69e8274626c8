//! What an agent prints goes to its log first, and is then read. Memory stays bounded whatever it prints.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::interpret::Interpreter;
use super::lines::{LINE_BYTES_MAX, Line, Lines};
use super::log::Log;
use crate::secrets::MaskStream;
use crate::turn::Seen;

/// What an attempt may print, stdout and stderr together.
///
/// The longest turns of coding agents that were seen print some MiB of events. 64 MiB is far beyond that, and a disk
/// survives a few of them.
pub(crate) const OUTPUT_BYTES_MAX: u64 = 64 << 20;

/// What is read at once: what a pipe holds on Linux.
const CHUNK_BYTES: usize = 64 << 10;

/// How long a pipe may stay open in silence once the whole tree is gone. What is in it is read at once; only a process
/// that escaped with a killed supervisor could keep it open.
const SILENCE_MAX: Duration = Duration::from_secs(1);

/// How much of the end of stderr is kept for an error message.
const TAIL_BYTES_MAX: usize = 2 << 10;

/// Why output is not read on.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The agent printed too much.
    TooMuch,
    /// The log cannot be written, or the pipe not be read.
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
        self.log.append(&bytes).await?;
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

/// Shows something. That nobody looks any more is no reason to stop: who wants that says so.
pub(crate) async fn show(seen: &mpsc::Sender<Seen>, one: Seen) {
    let _ = seen.send(one).await;
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES_MAX);
        self.cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// Its whole lines, as plain text.
    pub(crate) fn text(&self) -> String {
        let text = without_colours(&String::from_utf8_lossy(&self.bytes));
        let whole = match text.split_once('\n') {
            Some((_, whole)) if self.cut => whole,
            _ => &text,
        };
        whole.trim().to_owned()
    }
}

/// Takes out the sequences that colour text in a terminal (`ESC [ … letter`): not every agent looks whether there is one.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        plain.push_str(rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{TAIL_BYTES_MAX, Tail};

    #[test]
    fn the_tail_keeps_whole_last_lines() {
        let mut tail = Tail::default();
        tail.push(b"one\ntwo\n");
        assert_eq!(tail.text(), "one\ntwo");
        tail.push(b"\x1b[91m\x1b[1mError: \x1b[0mbad");
        assert_eq!(tail.text(), "one\ntwo\nError: bad");
        tail.push(&[b'x'; TAIL_BYTES_MAX]);
        tail.push(b"\nlast \xff\n");
        assert_eq!(tail.text(), "last \u{fffd}");
    }
}
