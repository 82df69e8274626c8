//! `adjourn mcp`: an MCP server on stdio.
//!
//! It knows nothing of MCP but how a message travels: each line of stdin is passed on to `/mcp` of whoever owns the data
//! directory, and the answer is a line of stdout. So there is one MCP server, whichever way a client comes, and a client
//! on stdio shares the runs with everybody else instead of shutting them out. Messages are passed on side by side: one
//! that waits for a change keeps no other waiting.

mod message;
mod owner;
mod passing;

use std::sync::Arc;

use anyhow::bail;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use self::owner::Owner;
use self::passing::Passing;
use crate::data::Global;
use crate::exit::Exit;

/// Bytes of a message: what the server takes as a body.
const MESSAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Answers that wait to be written. A client that does not read is not read from.
const ANSWERS_MAX: usize = 64;

/// Let other agents start runs, read them and answer: an MCP server on stdin and stdout
///
/// To be started by an MCP client, not by hand. It works through whoever owns the data directory (`adjourn serve`), and
/// starts an owner where there is none. Ends when its client closes stdin.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let owner = Owner::new(global);
        // Before the first message: a data directory that cannot be used is said where a person sees it.
        owner.ensure().await?;
        let mut terminate = signal(SignalKind::terminate())?;
        let (answers, written) = mpsc::channel(ANSWERS_MAX);
        let passing = Arc::new(Passing::new(owner, answers));
        let writing = tokio::spawn(write(written));
        let passed = tokio::select! {
            passed = pass(BufReader::new(tokio::io::stdin()), &passing) => passed,
            _ = terminate.recv() => Ok(()),
        };
        passing.owner.end().await;
        drop(passing);
        writing.await??;
        passed.map(|()| Exit::Done)
    }
}

/// Passes every line on, and returns when the last is answered.
async fn pass(mut lines: impl AsyncBufRead + Unpin, passing: &Arc<Passing>) -> anyhow::Result<()> {
    let mut under_way = JoinSet::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut lines).take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line).await?;
        if read == 0 {
            break;
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == MESSAGE_BYTES_MAX {
            bail!("a message has at most {MESSAGE_BYTES_MAX} bytes");
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (passing, line) = (passing.clone(), line.clone());
        under_way.spawn(async move { passing.pass(&line).await });
        while under_way.try_join_next().is_some() {}
    }
    under_way.join_all().await;
    Ok(())
}

/// Writes answers, a line each. Nothing else is ever written to stdout.
async fn write(mut answers: mpsc::Receiver<String>) -> std::io::Result<()> {
    let mut stdout = tokio::io::stdout();
    while let Some(mut answer) = answers.recv().await {
        answer.push('\n');
        stdout.write_all(answer.as_bytes()).await?;
        stdout.flush().await?;
    }
    Ok(())
}
