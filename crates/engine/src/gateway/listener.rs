//! The listener of the gateway.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::connection::Bounded;
use super::door;
use super::limits::CONNECTIONS_MAX;
use super::places::Places;

/// A listener at work, until dropped.
#[derive(Debug)]
pub(super) struct Listening {
    address: SocketAddr,
    _serving: AbortOnDropHandle<()>,
}

impl Listening {
    /// Listens on any free port of loopback.
    pub(super) async fn start(places: Arc<Places>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let listener = Bounded::new(listener, CONNECTIONS_MAX);
        let router = door::router(address, places);
        let serving = tokio::spawn(async move {
            // It never ends by itself: what cannot be accepted is tried again.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, _serving: AbortOnDropHandle::new(serving) })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, door::PATH)
    }
}
