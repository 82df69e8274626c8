//! The pipes of an agent: what it says is in its log before anybody acts on it, and comes in messages of bounded length.
//!
//! The protocol's crate reads lines of any length into queues without bounds. So it is given messages that were read
//! here; and what an agent can send without being asked, its updates, does not go through it at all but through a
//! channel that makes an agent wait which is faster than its reader.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use adjourn_core::{OutputStream, RawRef, TooBig, check_depth};
use agent_client_protocol::v1::schema::SessionNotification;
use agent_client_protocol::{Channel, RawJsonRpcMessage, TransportFrame};
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use crate::exec::{CHUNK_BYTES, OUTPUT_BYTES_MAX};
use crate::lines::{LINE_BYTES_MAX, Lines};
use crate::log::Log;
use crate::secrets::Masker;
use crate::supervisor::Supervised;
use crate::tail::Tail;
use crate::turn::Turn;

/// Updates that may wait for their reader. A chunk of text has some hundred bytes.
const UPDATES_MAX: usize = 64;

/// Requests of an agent that may wait for an answer. Agents call a handful of tools at once.
const REQUESTS_OPEN_MAX: usize = 64;

/// How much of a line that cannot be read is told.
const EXCERPT_CHARS: usize = 80;

/// Why an agent is not listened to any more.
#[derive(Debug)]
pub(super) enum Broken {
    /// It printed more than an attempt may.
    TooMuch,
    /// It printed a message that is longer than one may be.
    TooLong,
    /// It printed something that begins like a message and is none.
    NotJson(String),
    /// It printed a message that is nested deeper than one may be.
    TooBig(TooBig),
    /// It asked more things at once than one may.
    TooManyRequests,
    /// The log cannot be written, or the pipe not be read.
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An update of a session, and where it stands in the raw output.
pub(super) struct Update {
    pub(super) notification: SessionNotification,
    pub(super) raw: RawRef,
}

/// What is known of an agent's output.
pub(super) struct Wire {
    masker: Masker,
    book: Mutex<Book>,
    /// The first thing that went wrong.
    broken: OnceLock<Broken>,
    /// Cancelled when something went wrong.
    failed: CancellationToken,
    /// Cancelled when the agent is told nothing more.
    closed: CancellationToken,
    /// What the agent asked and was not answered.
    requests: AtomicUsize,
    tail: std::sync::Mutex<Tail>,
}

/// The logs of the attempt that goes on, or went on last.
struct Book {
    attempt: u32,
    stdout: Log,
    stderr: Log,
    stdout_bytes: u64,
    /// What the attempt may still print.
    left: u64,
}

impl Book {
    async fn open(turn: &Turn) -> Self {
        let stdout = Log::open(turn, OutputStream::Stdout).await;
        let stderr = Log::open(turn, OutputStream::Stderr).await;
        let before = stdout.bytes_before + stderr.bytes_before;
        let left = OUTPUT_BYTES_MAX.saturating_sub(before);
        Self { attempt: turn.attempt, stdout_bytes: stdout.bytes_before, stdout, stderr, left }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Broken> {
        self.left = self.left.checked_sub(bytes as u64).ok_or(Broken::TooMuch)?;
        Ok(())
    }

    /// Appends a line to the log of stdout, and says where it is.
    async fn append_line(&mut self, line: &[u8]) -> Result<RawRef, Broken> {
        self.spend(line.len() + 1)?;
        self.stdout.append(&[line, b"\n"].concat()).await;
        let from = self.stdout_bytes;
        self.stdout_bytes += line.len() as u64 + 1;
        let (attempt, stream) = (self.attempt, OutputStream::Stdout);
        Ok(RawRef { attempt, stream, from, to: self.stdout_bytes - 1 })
    }
}

/// What the pipes of an agent lead to.
pub(super) struct Ends {
    /// For the protocol's crate.
    pub(super) channel: Channel,
    pub(super) updates: mpsc::Receiver<Update>,
}

impl Wire {
    /// Reads and writes the pipes of an agent until they are closed.
    pub(super) async fn open(supervised: &mut Supervised, turn: &Turn) -> io::Result<(Arc<Self>, Ends)> {
        let pipes = (supervised.stdin.take(), supervised.stdout.take(), supervised.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the agent was started without pipes"));
        };
        let wire = Arc::new(Self {
            masker: turn.masker.clone(),
            book: Mutex::new(Book::open(turn).await),
            broken: OnceLock::new(),
            failed: CancellationToken::new(),
            closed: CancellationToken::new(),
            requests: AtomicUsize::new(0),
            tail: std::sync::Mutex::default(),
        });
        let (channel, ours) = Channel::duplex();
        let (outgoing, incoming) = ours.into_parts();
        let (updated, updates) = mpsc::channel(UPDATES_MAX);
        tokio::spawn(write(wire.clone(), stdin, outgoing));
        tokio::spawn(watch(wire.clone(), {
            let wire = wire.clone();
            async move { wire.read(stdout, incoming, updated).await }
        }));
        tokio::spawn(watch(wire.clone(), {
            let wire = wire.clone();
            async move { wire.read_complaints(stderr).await }
        }));
        Ok((wire, Ends { channel, updates }))
    }

    /// From now on output belongs to this attempt.
    pub(super) async fn turn_over(&self, turn: &Turn) {
        let mut book = self.book.lock().await;
        if book.attempt != turn.attempt {
            *book = Book::open(turn).await;
        }
    }

    /// Closes the agent's stdin, which tells it that the conversation is over.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    /// Waits until something goes wrong.
    pub(super) async fn failed(&self) {
        self.failed.cancelled().await;
    }

    pub(super) fn broken(&self) -> Option<&Broken> {
        self.broken.get()
    }

    /// What the agent complained about last.
    pub(super) fn complaints(&self) -> String {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).text()
    }

    fn fail(&self, broken: Broken) {
        // The first cause counts; the rest follows from it.
        let _ = self.broken.set(broken);
        self.failed.cancel();
    }

    async fn read(
        &self,
        mut stdout: ChildStdout,
        incoming: UnboundedSender<TransportFrame>,
        updates: mpsc::Sender<Update>,
    ) -> Result<(), Broken> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut lines = Lines::new(0, LINE_BYTES_MAX);
        loop {
            let count = stdout.read(&mut buffer).await?;
            if count == 0 {
                return Ok(());
            }
            for line in lines.push(&buffer[..count]) {
                let bytes = line.bytes.ok_or(Broken::TooLong)?;
                // A whole line at once: a secret has no line feed within JSON, and no message may be held back.
                let bytes = self.masker.bytes(&bytes);
                let raw = self.book.lock().await.append_line(&bytes).await?;
                self.take(&bytes, raw, &incoming, &updates).await?;
            }
        }
    }

    async fn take(
        &self,
        line: &[u8],
        raw: RawRef,
        incoming: &UnboundedSender<TransportFrame>,
        updates: &mpsc::Sender<Update>,
    ) -> Result<(), Broken> {
        match read_message(line)? {
            Message::Ignored => {}
            Message::Update(notification) => {
                // Nobody listens any more: the agent is about to be ended.
                let _ = updates.send(Update { notification: *notification, raw }).await;
            }
            Message::Protocol { message, is_request } => {
                if is_request && self.requests.fetch_add(1, Ordering::Relaxed) >= REQUESTS_OPEN_MAX {
                    return Err(Broken::TooManyRequests);
                }
                if let Ok(message) = serde_json::from_value::<RawJsonRpcMessage>(message) {
                    let _ = incoming.unbounded_send(TransportFrame::Single(message));
                }
            }
        }
        Ok(())
    }

    async fn read_complaints(&self, mut stderr: ChildStderr) -> Result<(), Broken> {
        let mut buffer = vec![0; CHUNK_BYTES];
        let mut masking = self.masker.stream();
        loop {
            let count = stderr.read(&mut buffer).await?;
            let bytes = if count == 0 { masking.finish() } else { masking.push(&buffer[..count]) };
            self.tail.lock().unwrap_or_else(PoisonError::into_inner).push(&bytes);
            let mut book = self.book.lock().await;
            book.spend(bytes.len())?;
            book.stderr.append(&bytes).await;
            if count == 0 {
                return Ok(());
            }
        }
    }
}

/// A line that an agent printed.
pub(super) enum Message {
    /// A warning of some program, or an update of a kind that is not known yet.
    Ignored,
    /// An update of the session.
    Update(Box<SessionNotification>),
    /// Any other message, which is for the protocol's crate.
    Protocol { message: Value, is_request: bool },
}

/// Reads a line that an agent printed.
pub(super) fn read_message(line: &[u8]) -> Result<Message, Broken> {
    // Agents and what they start print warnings; what does not begin like a message stays in the log.
    if !matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Ok(Message::Ignored);
    }
    let mut message: Value = serde_json::from_slice(line).map_err(|_| Broken::NotJson(excerpt(line)))?;
    check_depth(&message).map_err(Broken::TooBig)?;
    let method = message.get("method").and_then(Value::as_str);
    let has_id = message.get("id").is_some();
    if method == Some("session/update") && !has_id {
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        return Ok(match SessionNotification::deserialize(params) {
            Ok(notification) => Message::Update(Box::new(notification)),
            Err(_) => Message::Ignored,
        });
    }
    let is_request = method.is_some() && has_id;
    Ok(Message::Protocol { message, is_request })
}

async fn watch(wire: Arc<Wire>, reading: impl Future<Output = Result<(), Broken>>) {
    if let Err(broken) = reading.await {
        wire.fail(broken);
    }
}

/// Gives the agent what the protocol has for it. One that does not read will be missed when it does not answer.
async fn write(wire: Arc<Wire>, mut stdin: ChildStdin, mut outgoing: UnboundedReceiver<TransportFrame>) {
    while let Some(Some(frame)) = wire.closed.run_until_cancelled(outgoing.next()).await {
        if let TransportFrame::Single(RawJsonRpcMessage::Response(_)) = &frame {
            let _ =
                wire.requests.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| open.checked_sub(1));
        }
        let Ok(mut line) = frame.to_json() else { continue };
        line.push('\n');
        match wire.closed.run_until_cancelled(stdin.write_all(line.as_bytes())).await {
            Some(Ok(())) => {}
            Some(Err(_)) | None => return,
        }
    }
}

fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(line).chars().take(EXCERPT_CHARS).collect()
}
