//! The process at the other end of a connection: looked up once, when the connection is accepted.
//!
//! People come in by the socket of the data directory or by a port of this machine, and are known by the user that the kernel
//! names. Agents run as the same user. So the process is looked at as well: one that descends from an agent is that agent,
//! whatever user or token it shows. Whatever cannot be found out is not taken for a person.

use std::io;
use std::net::{SocketAddr, UdpSocket};

use adjourn_core::RunId;
use adjourn_engine::agent_processes::{AgentProcesses, Lineage};
use adjourn_engine::find_peer_socket;
use tokio::net::{TcpStream, UnixStream};

/// Who is at the other end of a connection. Every request of the connection carries it as an extension; one without it was
/// made by this process itself, which calls its own routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process of this user of this machine that is none of ours.
    User(u32),
    /// A process of the agent of this run.
    Agent(RunId),
    /// A process on this machine that may be an agent.
    Doubtful(Doubt),
    /// A process of this machine, on a system that does not say whose.
    Untold,
    /// Another machine.
    Elsewhere,
}

/// Why a process may be an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Doubt {
    #[error("it was started by this server, and is no person")]
    Started,
    #[error("its process has ended, or closed the connection, before it could be looked up")]
    Gone,
    #[error("which process it comes from cannot be found out while agents are at work")]
    Hidden,
}

/// What a connection says about its other end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    Tcp { peer: SocketAddr, local: SocketAddr },
    Unix { uid: u32, pid: Option<u32> },
}

/// A connection whose other end can be asked for.
pub(crate) trait HasOrigin {
    fn origin(&self) -> io::Result<Origin>;
}

impl HasOrigin for TcpStream {
    fn origin(&self) -> io::Result<Origin> {
        Ok(Origin::Tcp { peer: self.peer_addr()?, local: self.local_addr()? })
    }
}

impl HasOrigin for UnixStream {
    fn origin(&self) -> io::Result<Origin> {
        let credentials = self.peer_cred()?;
        // A process that this one cannot see has the number 0.
        let pid = credentials.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0);
        Ok(Origin::Unix { uid: credentials.uid(), pid })
    }
}

impl Peer {
    /// Finds out who is at the other end.
    pub(crate) async fn find(origin: io::Result<Origin>, agents: &AgentProcesses) -> Self {
        match origin {
            Err(_) => Self::Doubtful(Doubt::Gone),
            Ok(Origin::Unix { uid, pid }) => by_socket(uid, pid, agents),
            Ok(Origin::Tcp { peer, local }) => by_port(peer, local, agents).await,
        }
    }
}

fn by_socket(uid: u32, pid: Option<u32>, agents: &AgentProcesses) -> Peer {
    // Agents run where this process can see them, so one that it cannot see is none of them.
    let Some(pid) = pid.filter(|_| cfg!(target_os = "linux")) else { return Peer::User(uid) };
    match agents.lineage_of_process(pid) {
        Lineage::NotOurs => Peer::User(uid),
        Lineage::Agent(run_id) => Peer::Agent(run_id),
        Lineage::Unregistered => Peer::Doubtful(Doubt::Started),
        Lineage::Unknown => Peer::Doubtful(Doubt::Gone),
    }
}

async fn by_port(peer: SocketAddr, local: SocketAddr, agents: &AgentProcesses) -> Peer {
    if !cfg!(target_os = "linux") {
        return if is_of_this_machine(peer) { Peer::Untold } else { Peer::Elsewhere };
    }
    let socket = match find_peer_socket(peer, local) {
        Ok(Some(socket)) => socket,
        Ok(None) if is_of_this_machine(peer) => return Peer::Doubtful(Doubt::Gone),
        Ok(None) => return Peer::Elsewhere,
        Err(_) if is_of_this_machine(peer) => return Peer::Doubtful(Doubt::Hidden),
        Err(_) => return Peer::Elsewhere,
    };
    let own = rustix::process::geteuid();
    // Files of other users can be looked at by root only. An agent is another user only where it could become one, and root's
    // can.
    if socket.uid != own.as_raw() && !own.is_root() {
        return Peer::User(socket.uid);
    }
    match agents.lineage_of_socket(socket.inode, socket.uid).await {
        Lineage::NotOurs => Peer::User(socket.uid),
        Lineage::Agent(run_id) => Peer::Agent(run_id),
        Lineage::Unregistered => Peer::Doubtful(Doubt::Started),
        Lineage::Unknown => Peer::Doubtful(Doubt::Hidden),
    }
}

/// Whether this is an address of this machine: the system lets nobody listen at another one.
fn is_of_this_machine(peer: SocketAddr) -> bool {
    let ip = peer.ip().to_canonical();
    ip.is_loopback() || UdpSocket::bind((ip, 0)).is_ok()
}
