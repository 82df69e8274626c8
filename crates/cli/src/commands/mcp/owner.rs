//! Whoever owns the data directory: somebody else, or a server that is started for as long as it is needed.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use adjourn_server::SOCKET_FILE;
use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use crate::data::Global;

/// How long a server may take to end: longer than it lets requests finish.
const END_WITHIN: Duration = Duration::from_secs(10);

pub(super) struct Owner {
    data: PathBuf,
    config: Option<PathBuf>,
    socket: PathBuf,
    /// The server that was started; none where somebody else is the owner.
    server: Mutex<Option<Child>>,
}

impl Owner {
    pub(super) fn new(global: &Global) -> Self {
        let socket = global.data.join(SOCKET_FILE);
        Self { data: global.data.clone(), config: global.config.clone(), socket, server: Mutex::new(None) }
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Sees to it that somebody answers on the socket.
    pub(super) async fn ensure(&self) -> anyhow::Result<()> {
        let mut server = self.server.lock().await;
        if UnixStream::connect(&self.socket).await.is_ok() {
            return Ok(());
        }
        let mut command = Command::new(std::env::current_exe().context("cannot find its own program")?);
        command.arg("--data").arg(&self.data);
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        // The socket is enough: the port is whichever is free, and nobody is told.
        command.args(["serve", "--listen", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().context("cannot start a server")?;
        let mut lines = BufReader::new(child.stderr.take().context("its stderr is piped")?).lines();
        // It says where it listens once clients can come; before that, only why they cannot.
        let mut said = Vec::new();
        while let Some(line) = lines.next_line().await? {
            if line.starts_with("listening on ") {
                tokio::spawn(async move {
                    while let Ok(Some(line)) = lines.next_line().await {
                        anstream::eprintln!("{line}");
                    }
                });
                *server = Some(child);
                return Ok(());
            }
            said.push(line);
        }
        bail!("{}", said.join("\n").trim_start_matches("error: "));
    }

    /// Ends the server that was started.
    pub(super) async fn end(&self) {
        let Some(mut child) = self.server.lock().await.take() else { return };
        if let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) {
            // One that has ended already need not be told.
            let _ = kill_process(pid, Signal::TERM);
            let _ = tokio::time::timeout(END_WITHIN, child.wait()).await;
        }
    }
}
