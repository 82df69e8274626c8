//! A scripted tool server, and where its effects can be seen.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use adjourn_core::ToolCall;
use adjourn_engine::secrets::Secret;
use adjourn_engine::tools::{Called, Place, ServerOptions, ToolError, ToolServers, Unfinished};
use adjourn_testkit::mcp;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::{self, supervisor};

/// All ways in which the scripted server can be talked to: its arguments, as one text.
pub(crate) const WAYS: [&str; 4] = ["", mcp::OLDER, mcp::HTTP, "--older --http"];

/// The program that serves.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/mcp_server");
    assert!(program.exists(), "cargo builds it with the tests, unless told to build only some of them");
    program
}

pub(crate) fn call(server: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { service: server.to_owned(), method: tool.to_owned(), arguments }
}

/// A server under the name `scripted`, that keeps its files in a folder of its own.
pub(crate) struct Stage {
    pub(crate) servers: ToolServers,
    marked: agent::Stage,
    /// The server, where it is not for us to start.
    listening: Option<Child>,
}

impl Stage {
    pub(crate) fn new(way: &str) -> Self {
        Self::with(way, |_| {})
    }

    /// A server with other options.
    pub(crate) fn with(way: &str, change: impl FnOnce(&mut ServerOptions)) -> Self {
        let marked = agent::Stage::new();
        let folder = marked.path().display().to_string();
        let flags = way.split_whitespace();
        let (listening, mut options) = if way.contains(mcp::HTTP) {
            let mut server = Command::new(program());
            server.arg(&folder).args(flags).stdin(Stdio::null()).stdout(Stdio::piped());
            let mut server = server.spawn().unwrap();
            let mut url = String::new();
            BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
            (Some(server), ServerOptions::url(url.trim()))
        } else {
            let command =
                [program().display().to_string(), folder].into_iter().chain(flags.map(str::to_owned));
            let mut options = ServerOptions::command(command, marked.path());
            if let Place::Command { env, .. } = &mut options.place {
                let mark = marked.mark();
                env.extend([("GIVEN".to_owned(), Secret::new("x")), (mark.0, Secret::new(mark.1))]);
            }
            (None, options)
        };
        options.call_max = agent::PATIENCE;
        change(&mut options);
        let servers = ToolServers::new(supervisor(), [("scripted".to_owned(), options)]);
        Self { servers, marked, listening }
    }

    pub(crate) fn path(&self) -> &Path {
        self.marked.path()
    }

    /// The lines of a file of the server.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join(file)).unwrap_or_default();
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// Waits until the server had so many effects.
    pub(crate) async fn until_effects(&self, count: usize) {
        self.marked.lines_in("effects", count).await;
    }

    /// Waits until a tool is in the list.
    pub(crate) async fn until_there_is(&self, tool: &str) {
        let stop = CancellationToken::new();
        let has = async {
            while !self.servers.tools("scripted", &stop).await.unwrap().iter().any(|one| one.name == tool) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(agent::PATIENCE, has).await.expect("the server says that its list has changed");
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Called, ToolError> {
        self.go_on(tool, arguments, None).await
    }

    pub(crate) async fn go_on(
        &self,
        tool: &str,
        arguments: Value,
        unfinished: Option<Unfinished>,
    ) -> Result<Called, ToolError> {
        let call = call("scripted", tool, arguments);
        self.servers.call(&call, None, unfinished, &CancellationToken::new()).await
    }

    /// Ends the server that listens, as a crash would.
    pub(crate) fn kill_listening(&mut self) {
        if let Some(mut server) = self.listening.take() {
            server.kill().unwrap();
            server.wait().unwrap();
        }
    }

    /// Ends everything, and looks whether anything is left.
    pub(crate) async fn close(mut self) {
        self.servers.close().await;
        assert_eq!(self.marked.processes(), [0; 0]);
        self.kill_listening();
    }

    /// The number of the server's processes, with its supervisor.
    pub(crate) fn processes(&self) -> usize {
        self.marked.processes().len()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.kill_listening();
    }
}
