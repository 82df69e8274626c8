//! `adjourn mcp`: an MCP server on stdio.
//!
//! It knows nothing of MCP but how a message travels: each line of stdin is passed on to `/mcp` of whoever owns the data
//! directory, and the answer is a line of stdout. So there is one MCP server, whichever way a client comes, and a client
//! on stdio shares the runs with everybody else instead of shutting them out. Messages are passed on side by side: one
//! that waits for a change keeps no other waiting.

mod message;
mod passing;

use anyhow::bail;
use futures::{TryStreamExt, stream};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Stdin};

use self::passing::Passing;
use crate::client::{Client, Close, Role};
use crate::data::Global;
use crate::exit::Exit;

/// Bytes of a message: what the server takes as a body.
const MESSAGE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Messages that are passed on at once. Clients ask a few things side by side; one that asks more waits.
const UNDER_WAY_MAX: usize = 64;

/// Let other agents start runs, read them and answer: an MCP server on stdin and stdout
///
/// To be started by an MCP client, not by hand. It works through whoever owns the data directory, and is the owner itself
/// where there is none. Ends when its client closes stdin; what is going on then goes on in the background.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        // Before the first message: a data directory that cannot be used is said where a person sees it.
        let passing = Passing::new(Client::connect(global, Role::Works).await?);
        let lines = stream::try_unfold(BufReader::new(tokio::io::stdin()), line);
        let passed = lines.try_for_each_concurrent(UNDER_WAY_MAX, async |line| {
            passing.pass(&line).await;
            Ok(())
        });
        let passed = passed.await;
        passing.into_client().close(Close::InBackground).await?;
        passed.map(|()| Exit::Done)
    }
}

type Next = anyhow::Result<Option<(Vec<u8>, BufReader<Stdin>)>>;

/// The next line, and the rest.
async fn line(mut lines: BufReader<Stdin>) -> Next {
    let mut line = Vec::new();
    let read = (&mut lines).take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line).await?;
    if line.last() != Some(&b'\n') && line.len() as u64 == MESSAGE_BYTES_MAX {
        bail!("a message has at most {MESSAGE_BYTES_MAX} bytes");
    }
    Ok((read > 0).then_some((line, lines)))
}
