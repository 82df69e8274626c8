//! All tool servers that were declared.

use std::collections::BTreeMap;

use adjourn_core::{ToolCall, ToolDigest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::catalogue::Tool;
use super::error::ToolError;
use super::options::ServerOptions;
use super::outcome::Called;
use super::policy::Policy;
use super::server::{PreparedCall, Server};
use super::unfinished::Unfinished;
use crate::supervisor::Supervisor;

/// All tool servers that were declared, each started on its first use and shared from then on.
///
/// Dropped, it ends them; who wants to know that they are gone calls [`close`](Self::close).
#[derive(Debug)]
pub struct ToolServers {
    servers: BTreeMap<String, Server>,
    tasks: TaskTracker,
    closed: CancellationToken,
}

impl ToolServers {
    /// The servers of these names. Nothing is started yet.
    pub fn new(supervisor: Supervisor, declared: impl IntoIterator<Item = (String, ServerOptions)>) -> Self {
        let (tasks, closed) = (TaskTracker::new(), CancellationToken::new());
        let server = |(name, options): (String, ServerOptions)| {
            let server =
                Server::new(name.clone(), options, supervisor.clone(), tasks.clone(), closed.clone());
            (name, server)
        };
        Self {
            servers: declared.into_iter().map(server).collect(),
            tasks: tasks.clone(),
            closed: closed.clone(),
        }
    }

    /// The tools of a server, by name, as they are now.
    pub async fn tools(&self, server: &str, stop: &CancellationToken) -> Result<Vec<Tool>, ToolError> {
        self.server(server)?.tools(stop).await
    }

    /// What was declared about the tools of a server.
    pub fn policy(&self, server: &str) -> Result<&Policy, ToolError> {
        Ok(&self.server(server)?.options().policy)
    }

    /// Makes a call, or goes on with one that was `unfinished` and whose questions are all answered.
    ///
    /// Arguments are held against the tool's schema first, and the tool's definition against `definition` where that is known:
    /// what was allowed for another tool is an [error](ToolError::Changed), and not made. If `stop` is cancelled before the server was given the call, that
    /// is an error; afterwards the call is [lost](Called::Lost).
    pub async fn call(
        &self,
        call: &ToolCall,
        definition: Option<&ToolDigest>,
        unfinished: Option<Unfinished>,
        stop: &CancellationToken,
    ) -> Result<Called, ToolError> {
        self.prepare(call, definition, unfinished, stop).await?.make(stop).await
    }

    /// Does everything of [`call`](Self::call) that comes before the server is given it: starts the server, and checks the
    /// call. So whoever has to announce a call announces only one that can be made.
    pub async fn prepare(
        &self,
        call: &ToolCall,
        definition: Option<&ToolDigest>,
        unfinished: Option<Unfinished>,
        stop: &CancellationToken,
    ) -> Result<PreparedCall<'_>, ToolError> {
        self.server(&call.service)?.prepare(call, definition, unfinished, stop).await
    }

    /// Ends all servers, and returns when nothing of them is left. Calls that are being made are lost, and no more can be.
    pub async fn close(&self) {
        self.closed.cancel();
        for server in self.servers.values() {
            server.close().await;
        }
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn server(&self, name: &str) -> Result<&Server, ToolError> {
        self.servers.get(name).ok_or_else(|| ToolError::UnknownServer {
            server: name.to_owned(),
            known: self.servers.keys().cloned().collect(),
        })
    }
}
