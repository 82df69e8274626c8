//! Who is at the other end of a connection, found out before anything is read from it.
//!
//! Only processes of agents are let in, and each run has its own places: whatever somebody else on this machine does with
//! connections, and whatever one agent does with its own, the others find theirs free.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use adjourn_core::RunId;

use super::limits::CONNECTIONS_PER_RUN_MAX;
use crate::agent_processes::{AgentProcesses, Lineage};
use crate::peer_socket::find_peer_socket;

/// The process that a connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visitor {
    /// One of the agent of this run, with this socket.
    Agent { run_id: RunId, inode: u64 },
    /// Cannot be found out on this system: only the token says who it is.
    Untold,
}

/// Why a connection is closed without a look at what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TurnedAway {
    #[error("another user of this machine has no business here")]
    OtherUser,
    #[error("this is for the agents that adjourn has started, and for nobody else")]
    NotAnAgent,
    #[error("this agent has {CONNECTIONS_PER_RUN_MAX} connections already: close some")]
    TooMany,
}

/// Finds out who is at the other end.
pub(super) async fn recognize(
    agents: &AgentProcesses,
    peer: SocketAddr,
    local: SocketAddr,
) -> Result<Visitor, TurnedAway> {
    if !cfg!(target_os = "linux") {
        return Ok(Visitor::Untold);
    }
    let Ok(Some(socket)) = find_peer_socket(peer, local) else { return Err(TurnedAway::NotAnAgent) };
    if socket.uid != rustix::process::geteuid().as_raw() {
        return Err(TurnedAway::OtherUser);
    }
    match agents.lineage_of_agent_socket(socket.inode).await {
        Lineage::Agent(run_id) => Ok(Visitor::Agent { run_id, inode: socket.inode }),
        Lineage::NotOurs | Lineage::Unregistered | Lineage::Unknown => Err(TurnedAway::NotAnAgent),
    }
}

/// The connections of each run.
#[derive(Debug, Clone, Default)]
pub(super) struct Connections(Arc<Mutex<HashMap<Option<RunId>, usize>>>);

/// One connection, which gives its place back when it is dropped.
#[derive(Debug)]
pub(super) struct Held {
    connections: Connections,
    run_id: Option<RunId>,
}

impl Connections {
    /// A place for a connection of this visitor. Those whose run is not known share the places of one.
    pub(super) fn take(&self, visitor: Visitor) -> Result<Held, TurnedAway> {
        let run_id = match visitor {
            Visitor::Agent { run_id, .. } => Some(run_id),
            Visitor::Untold => None,
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(run_id).or_default();
        if *count >= CONNECTIONS_PER_RUN_MAX {
            return Err(TurnedAway::TooMany);
        }
        *count += 1;
        Ok(Held { connections: self.clone(), run_id })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut all = self.connections.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.run_id) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                all.remove(&self.run_id);
            }
        }
    }
}
