//! One server: started when it is needed, shared, started again when it died.

use std::sync::Arc;

use adjourn_core::{ToolCall, ToolDigest};
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::catalogue::Tool;
use super::connection::{Connection, Handed, Ready};
use super::error::ToolError;
use super::midcall::InFlight;
use super::options::ServerOptions;
use super::outcome::Called;
use super::restart::Starts;
use super::unfinished::Unfinished;
use crate::supervisor::Supervisor;

/// How often a server is started for one use. Together with the delays this is patience for a second; a server that is
/// restarted just now is back by then.
const STARTS_MAX: u32 = 3;

/// A call that only has to be handed to its server. Dropped, it was not made.
#[derive(Debug)]
pub struct PreparedCall<'a> {
    server: &'a Server,
    connection: Arc<Connection>,
    ready: Ready,
    /// The call's place among those that the server is asked for at the same time.
    turn: InFlight,
}

impl PreparedCall<'_> {
    /// Makes the call. An error means that the server was not given it; if `stop` is cancelled afterwards, it is
    /// [lost](Called::Lost).
    pub async fn make(self, stop: &CancellationToken) -> Result<Called, ToolError> {
        let Self { server, connection, ready, turn } = self;
        if stop.is_cancelled() {
            return Err(ToolError::Stopped);
        }
        match connection.call(&ready, turn, stop).await {
            Handed::Over(called) => Ok(called),
            Handed::NotOver(problem) => {
                // Whoever comes next finds out whether it is back.
                connection.end();
                Err(server.unavailable(problem))
            }
        }
    }
}

/// One server.
#[derive(Debug)]
pub(super) struct Server {
    name: String,
    options: ServerOptions,
    supervisor: Supervisor,
    tasks: TaskTracker,
    /// Cancelled when no server is to be used any more.
    closed: CancellationToken,
    /// Locked while it is started, so that it is started once.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    connection: Option<Arc<Connection>>,
    starts: Starts,
}

impl Server {
    pub(super) fn new(
        name: String,
        options: ServerOptions,
        supervisor: Supervisor,
        tasks: TaskTracker,
        closed: CancellationToken,
    ) -> Self {
        Self { name, options, supervisor, tasks, closed, state: Mutex::default() }
    }

    pub(super) fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// All its tools, by name.
    pub(super) async fn tools(&self, stop: &CancellationToken) -> Result<Vec<Tool>, ToolError> {
        self.unless_stopped(stop, async {
            let connection = self.connection().await?;
            let tools = connection.tools().await.map_err(|problem| self.unavailable(problem))?;
            Ok(tools.values().cloned().collect())
        })
        .await
    }

    /// Does everything that comes before a call: the server is started, and the call checked.
    pub(super) async fn prepare(
        &self,
        call: &ToolCall,
        definition: Option<&ToolDigest>,
        unfinished: Option<Unfinished>,
        stop: &CancellationToken,
    ) -> Result<PreparedCall<'_>, ToolError> {
        self.unless_stopped(stop, async {
            let connection = self.connection().await?;
            let ready = self.check(&connection, call, definition, unfinished).await?;
            let turn = connection.begin(ready.unfinished.as_ref()).await;
            Ok(PreparedCall { server: self, connection, ready, turn })
        })
        .await
    }

    /// Holds a call against the tool's own schema, and the tool against the definition that it was asked for with.
    async fn check(
        &self,
        connection: &Connection,
        call: &ToolCall,
        definition: Option<&ToolDigest>,
        unfinished: Option<Unfinished>,
    ) -> Result<Ready, ToolError> {
        let tools = connection.tools().await.map_err(|problem| self.unavailable(problem))?;
        let tool = tools.get(&call.method).ok_or_else(|| ToolError::UnknownTool {
            server: self.name.clone(),
            tool: call.method.clone(),
            known: tools.keys().cloned().collect(),
        })?;
        if definition.is_some_and(|definition| *definition != tool.digest) {
            return Err(ToolError::Changed { server: self.name.clone(), tool: tool.name.clone() });
        }
        tool.check(&call.arguments)?;
        Ok(Ready {
            tool: tool.name.clone(),
            arguments: call.arguments.as_object().cloned().unwrap_or_default(),
            unfinished,
            call_max: self.options.call_max,
        })
    }

    /// The connection that everybody shares, a new one if there is none that lives.
    async fn connection(&self) -> Result<Arc<Connection>, ToolError> {
        let mut state = self.state.lock().await;
        if let Some(connection) = state.connection.take_if(|connection| !connection.is_alive()) {
            connection.end();
            state.starts.ended(Instant::now());
        }
        if let Some(connection) = &state.connection {
            return Ok(Arc::clone(connection));
        }
        let mut attempts = 1;
        loop {
            if let Some(until) = state.starts.not_before() {
                tokio::time::sleep_until(until).await;
            }
            state.starts.begin(Instant::now());
            match Connection::open(&self.options.place, &self.supervisor, &self.tasks).await {
                Ok(connection) => {
                    let connection = Arc::new(connection);
                    state.connection = Some(Arc::clone(&connection));
                    return Ok(connection);
                }
                Err(problem) => {
                    state.starts.ended(Instant::now());
                    if attempts == STARTS_MAX {
                        return Err(self.unavailable(problem));
                    }
                }
            }
            attempts += 1;
        }
    }

    /// Does what may be given up at any time, because nothing has been asked of the server yet that has an effect.
    async fn unless_stopped<T>(
        &self,
        stop: &CancellationToken,
        what: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(self.unavailable("tool servers are being closed".to_owned())),
            () = stop.cancelled() => Err(ToolError::Stopped),
            done = what => done,
        }
    }

    /// Ends the server. Whoever is in the middle of a call loses it.
    pub(super) async fn close(&self) {
        if let Some(connection) = self.state.lock().await.connection.take() {
            connection.end();
        }
    }

    fn unavailable(&self, problem: String) -> ToolError {
        ToolError::Unavailable { server: self.name.clone(), problem }
    }
}
