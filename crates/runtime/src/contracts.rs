//! What Adjourn does to the world: every call is a contract, recorded before it is made and ended once.
//!
//! [`Contracts`] is shared by all runs and holds the tool servers. [`TurnTools`] is what one turn may call: it checks a call,
//! has it recorded, asks a person where that is due, makes it and has its result written down. Which calls may be made, and
//! what their ends mean, is decided by the core.

mod approval;
mod ask_user;
mod execution;
mod history;
mod offers;
mod refused;
mod turn;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{KeyScope, ToolCall};
use adjourn_engine::Protected;
use adjourn_engine::supervisor::Supervisor;
use adjourn_engine::tools::{Place, Policy, ServerOptions, ToolError, ToolServers};
use tokio_util::sync::CancellationToken;

use crate::config::{Config, ToolConfig, ToolServer};

pub use turn::{Toolset, TurnTools};

/// The tool servers of a data directory, and what was declared about them. Nothing is started before its first use.
#[derive(Debug)]
pub struct Contracts {
    servers: ToolServers,
    declared: BTreeMap<String, Declared>,
}

/// What was declared about a tool server, besides how it is reached.
#[derive(Debug, Clone, Copy)]
struct Declared {
    scope: KeyScope,
    timeout_sec: u32,
}

impl Contracts {
    /// The servers that `config` declares; those that are started work in `folder`.
    pub fn new(config: &Config, folder: &Path, protected: &Protected, supervisor: Supervisor) -> Arc<Self> {
        let servers =
            config.tools.iter().map(|(name, tool)| (name.clone(), options(tool, folder, protected)));
        let declared = config.tools.iter().map(|(name, tool)| {
            (name.clone(), Declared { scope: tool.scope, timeout_sec: tool.timeout_sec })
        });
        Arc::new(Self { servers: ToolServers::new(supervisor, servers), declared: declared.collect() })
    }
}

impl Contracts {
    /// Holds a call against the schema of its tool, as it is now. Asks the tool server, and starts it for that.
    pub(crate) async fn check(&self, call: &ToolCall) -> Result<(), ToolError> {
        let tools = self.servers.tools(&call.service, &CancellationToken::new()).await?;
        let Some(tool) = tools.iter().find(|tool| tool.name == call.method).cloned() else {
            let known = tools.into_iter().map(|tool| tool.name).collect();
            return Err(ToolError::UnknownTool {
                server: call.service.clone(),
                tool: call.method.clone(),
                known,
            });
        };
        let arguments = call.arguments.clone();
        // A schema may take its time, and nothing else waits for it.
        let checked = tokio::task::spawn_blocking(move || tool.check(&arguments)).await;
        checked.unwrap_or(Err(ToolError::Stopped))
    }
}

fn options(tool: &ToolConfig, folder: &Path, protected: &Protected) -> ServerOptions {
    let place = match &tool.server {
        ToolServer::Command { command, env, pass_env, sandbox } => Place::Command {
            command: command.clone(),
            folder: folder.to_owned(),
            sandbox: sandbox.options(protected, None),
            env: env.clone(),
            pass_env: pass_env.clone(),
        },
        ToolServer::Url(url) => Place::Url(url.clone()),
    };
    ServerOptions {
        place,
        call_max: Duration::from_secs(tool.timeout_sec.into()),
        policy: Policy { irreversible: tool.irreversible.clone(), approve: tool.approve.clone() },
    }
}
