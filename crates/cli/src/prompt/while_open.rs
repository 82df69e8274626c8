//! Asks a question at the terminal for as long as it is open.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use adjourn_core::{By, ByKind, InteractionId};
use anyhow::{Context, bail};
use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use super::asking_process::{Asks, Outcome, SUBCOMMAND};
use super::{Asked, OnTerminal};
use crate::attach::Signals;
use crate::client::Client;
use crate::output::value_text;
use crate::tail::{News, Streamed, Tail};
use crate::text::one_line;

/// How long the process of a prompt may take to leave the terminal. It has nothing to wait for.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

/// Characters of an answer that are shown to a person who was about to give another one.
const ANSWER_CHARS_MAX: usize = 200;

/// What is watched while a question is asked.
pub(crate) struct Watching<'a, 'g, T: Streamed> {
    pub(crate) client: &'a mut Client<'g>,
    pub(crate) tail: &'a mut Tail<T>,
    pub(crate) signals: &'a mut Signals,
}

/// Asks until there is an answer, or until `is_open` says of the state that nobody has to answer any more. What came
/// meanwhile is not shown, because the question is on the screen; it comes back.
pub(crate) async fn ask_while_open<T: Streamed, A: DeserializeOwned>(
    asks: &Asks,
    is_open: impl Fn(&T) -> bool,
    watching: Watching<'_, '_, T>,
) -> anyhow::Result<(OnTerminal<Asked<A>>, Vec<News<T::Frame>>)> {
    let Watching { client, tail, signals } = watching;
    let mut prompt = Prompt::start(asks).await?;
    let mut unseen = Vec::new();
    loop {
        tokio::select! {
            asked = prompt.asked() => return Ok((asked?, unseen)),
            news = tail.next(client) => {
                match news {
                    Ok(News::Frames(frames)) => unseen.push(News::Frames(frames)),
                    // Text in the making is replaced by the message that it becomes.
                    Ok(News::Delta(_)) => {}
                    Err(error) => {
                        prompt.withdraw().await;
                        return Err(error);
                    }
                }
                if !is_open(tail.now()) {
                    prompt.withdraw().await;
                    return Ok((OnTerminal::Withdrawn, unseen));
                }
            }
            _ = signals.next() => {
                prompt.withdraw().await;
                return Ok((OnTerminal::Ended, unseen));
            }
        }
    }
}

/// A question at the terminal, asked by a process of its own.
struct Prompt {
    process: Child,
    wire: UnixStream,
    received: Vec<u8>,
    /// The terminal as it was.
    before: Option<Termios>,
}

impl Prompt {
    async fn start(asks: &Asks) -> anyhow::Result<Self> {
        let before = tcgetattr(stdin()).ok();
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let process = Command::new(this_binary()?)
            .arg(SUBCOMMAND)
            .stdout(Stdio::from(OwnedFd::from(theirs)))
            .kill_on_drop(true)
            .spawn()
            .context("the process that asks at the terminal cannot be started")?;
        let mut wire = UnixStream::from_std(ours)?;
        let mut line = serde_json::to_vec(asks)?;
        line.push(b'\n');
        wire.write_all(&line).await?;
        Ok(Self { process, wire, received: Vec::new(), before })
    }

    /// What the person did. May be dropped while it waits: nothing is lost.
    async fn asked<A: DeserializeOwned>(&mut self) -> anyhow::Result<OnTerminal<Asked<A>>> {
        while self.wire.read_buf(&mut self.received).await? > 0 {}
        let status = self.process.wait().await?;
        if self.received.is_empty() {
            return ended(status);
        }
        let outcome: Outcome<A> = serde_json::from_slice(&self.received)?;
        match outcome {
            Ok(asked) => Ok(OnTerminal::Done(asked)),
            Err(problem) => bail!("{problem}"),
        }
    }

    /// Takes the question off the terminal. Keys that were pressed for it are for nothing else.
    async fn withdraw(mut self) {
        // One that has just ended by itself has nothing to be told.
        let _ = self.wire.shutdown().await;
        if tokio::time::timeout(LEAVES_WITHIN, self.process.wait()).await.is_err() {
            let _ = self.process.kill().await;
        }
        if let Some(before) = &self.before {
            // A terminal that is gone needs nothing.
            let _ = tcsetattr(stdin(), OptionalActions::Now, before);
        }
        let _ = tcflush(stdin(), QueueSelector::IFlush);
    }
}

/// This binary, also if another version was put in its place since this process was started.
fn this_binary() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Ok(running) } else { std::env::current_exe() }
}

/// The outcome of a prompt that ended without an answer: closing a terminal ends every process at it.
fn ended<T>(status: ExitStatus) -> anyhow::Result<OnTerminal<T>> {
    match status.signal() {
        Some(_) => Ok(OnTerminal::Ended),
        None => bail!("the process that asks at the terminal ended without an answer ({status})"),
    }
}

/// How a question was resolved without this terminal, from the data of the frames that came meanwhile.
pub(crate) fn resolution_text<'f>(id: InteractionId, data: impl IntoIterator<Item = &'f Value>) -> String {
    let resolved =
        data.into_iter().find(|data| data["interaction_id"] == id.0 && data.get("resolved_by").is_some());
    let Some(data) = resolved else { return "the question was withdrawn".to_owned() };
    let answer = match (&data["action"], &data["response"]) {
        (Value::String(action), _) => action.clone(),
        (_, Value::Null) => "no".to_owned(),
        (_, response) => format!("`{}`", one_line(&value_text(response), ANSWER_CHARS_MAX)),
    };
    match serde_json::from_value(data["resolved_by"].clone()) {
        Ok(By { kind: ByKind::User, name, via }) => {
            let who = name.map_or_else(|| "somebody".to_owned(), |name| one_line(&name, ANSWER_CHARS_MAX));
            let way = via.map(|via| format!(" (by {via})")).unwrap_or_default();
            format!("{who} answered {answer}{way}")
        }
        Ok(By { kind: ByKind::AutoDecide | ByKind::System, .. }) => {
            format!("nobody answered in time, and {answer} was decided")
        }
        Err(_) => format!("it was answered {answer}"),
    }
}
