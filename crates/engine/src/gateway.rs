//! The gateway: an MCP server on loopback that is offered to the agents which Adjourn starts.
//!
//! What a run's skill declares is served here, and so is the tool that asks the user: a call that an agent makes goes to the
//! [`Toolbox`] of its turn, where it is a contract like any other. There is one listener for all runs, started when the first
//! needs it. An agent process authenticates with its [`AccessToken`], and while it has a turn there is a [`TurnGuard`], by which
//! its calls find their toolbox. No call waits for a person: agents give up on a tool long before
//! people answer, so the agent is told to end its turn, and goes on with the answer in the next one.
//!
//! The gateway does **not** decide anything about a call, and keeps nothing about one. The types of the protocol, and of the
//! SDK that speaks it, do not leave this folder.

mod answer;
mod door;
mod handler;
mod limits;
mod listener;
mod offered;
mod sessions;
mod visitor;

use std::sync::Arc;

use adjourn_core::{ErrorCode, RunError, RunId};
use tokio::sync::OnceCell;

pub(crate) use offered::Offered;
pub(crate) use sessions::{AccessToken, TurnGuard};

use crate::agent_processes::AgentProcesses;
use listener::Listening;
use sessions::GatewaySessions;

/// What agents know the gateway by. They make it part of the names of its tools.
pub(crate) const NAME: &str = "adjourn";

/// The variable of an agent's environment that says where the gateway is.
const URL_VARIABLE: &str = "ADJOURN_MCP_URL";

/// The variable that has what the agent shows there. Presets refer to it.
pub(crate) const TOKEN_VARIABLE: &str = "ADJOURN_MCP_TOKEN";

/// Lets agents call the tools of their turns. Cheap to clone; all clones are the same gateway.
#[derive(Debug, Clone, Default)]
pub struct Gateway {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    places: Arc<GatewaySessions>,
    agents: AgentProcesses,
    /// Nobody listens before there is somebody to listen to.
    listening: OnceCell<Listening>,
}

impl Gateway {
    /// A gateway that nobody uses yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The processes of all agents that the engines of this gateway started.
    pub fn agents(&self) -> &AgentProcesses {
        &self.shared.agents
    }

    /// Access for a process of `run_id` that is about to be started.
    pub(crate) async fn admit(&self, run_id: RunId) -> Result<AccessToken, RunError> {
        let shared = &self.shared;
        let start = || Listening::start(shared.places.clone(), shared.agents.clone());
        let listening = shared.listening.get_or_try_init(start);
        let listening = listening.await.map_err(|error| failed(format!("it cannot listen: {error}")))?;
        let place =
            shared.places.add(run_id).map_err(|error| failed(format!("no token can be made: {error}")))?;
        Ok(AccessToken::new(place, listening.url()))
    }
}

fn failed(problem: String) -> RunError {
    RunError {
        code: ErrorCode::Internal,
        message: format!("the gateway for the tools of this run failed: {problem}"),
    }
}
