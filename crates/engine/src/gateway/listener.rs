//! The listener of the gateway.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::door;
use super::limits::{HEAD_WITHIN, LOOKUPS_MAX, READ_AHEAD_BYTES_MAX};
use super::sessions::GatewaySessions;
use super::visitor::{Connections, Held, TurnedAway, Visitor, recognize};
use crate::agent_processes::AgentProcesses;

/// How long nothing is accepted after the system refused to: it has no descriptors left, and some are freed meanwhile.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// A listener at work, until dropped.
#[derive(Debug)]
pub(super) struct Listening {
    address: SocketAddr,
    _serving: AbortOnDropHandle<()>,
}

/// What every connection is served with.
#[derive(Clone)]
struct Host {
    address: SocketAddr,
    router: Router,
    agents: AgentProcesses,
    connections: Connections,
}

impl Listening {
    /// Listens on any free port of loopback.
    pub(super) async fn start(places: Arc<GatewaySessions>, agents: AgentProcesses) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = door::router(address, places, agents.clone());
        let host = Host { address, router, agents, connections: Connections::default() };
        let serving = tokio::spawn(host.serve(listener));
        Ok(Self { address, _serving: AbortOnDropHandle::new(serving) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, door::PATH)
    }
}

impl Host {
    /// Accepts connections for ever: what cannot be accepted is tried again.
    async fn serve(self, listener: TcpListener) {
        let lookups = Arc::new(Semaphore::new(LOOKUPS_MAX));
        // Cut off when this is dropped.
        let mut connections = JoinSet::new();
        loop {
            let Ok(lookup) = lookups.clone().acquire_owned().await else { return };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            };
            let host = self.clone();
            connections.spawn(async move {
                let entered = host.enter(peer).await;
                drop(lookup);
                match entered {
                    Ok((visitor, held)) => host.converse(stream, visitor, held).await,
                    Err(reason) => turn_away(&stream, reason),
                }
            });
        }
    }

    async fn enter(&self, peer: SocketAddr) -> Result<(Visitor, Held), TurnedAway> {
        let visitor = recognize(&self.agents, peer, self.address).await?;
        Ok((visitor, self.connections.take(visitor)?))
    }

    /// Serves one connection. How it ends is the agent's affair.
    async fn converse(self, stream: TcpStream, visitor: Visitor, _held: Held) {
        let router = self.router.layer(Extension(visitor));
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(READ_AHEAD_BYTES_MAX);
        let _ = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
    }
}

/// Says why the connection is closed, if that can be said at once: nobody is waited for.
fn turn_away(stream: &TcpStream, reason: TurnedAway) {
    let text = format!("{reason}\n");
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = stream.try_write(answer.as_bytes());
}
