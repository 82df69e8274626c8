//! How a request gets to whoever answers it.

use std::path::{Path, PathBuf};

use adjourn_server::connect_socket;
use anyhow::Context;
use axum::Router;
use axum::body::Body;
use axum::http::Response;
use hyper_util::rt::TokioIo;
use tower::ServiceExt;

use super::call::Call;
use super::owner::Owner;
use super::remote::Remote;

/// Whom a command talks to.
pub(super) enum Transport {
    /// To itself: this process owns the data directory.
    Here(Box<Owner>),
    /// To itself: this process only reads the data directory.
    Reading(Router),
    /// To the owner of the data directory, by this socket.
    Socket(PathBuf),
    /// To a server.
    Url(Remote),
}

impl Transport {
    /// The answer to `call`. An error means that there was none.
    pub(super) async fn send(&self, call: &Call) -> anyhow::Result<Response<Body>> {
        match self {
            Self::Here(owner) => ask(owner.router(), call).await,
            Self::Reading(router) => ask(router, call).await,
            Self::Socket(path) => by_socket(path, call).await,
            Self::Url(remote) => remote.send(call).await,
        }
    }
}

async fn ask(router: &Router, call: &Call) -> anyhow::Result<Response<Body>> {
    let Ok(response) = router.clone().oneshot(call.request()?).await;
    Ok(response)
}

/// A connection of its own for each request: they are few, and none is kept waiting by a stream.
async fn by_socket(path: &Path, call: &Call) -> anyhow::Result<Response<Body>> {
    let lost = || format!("the owner of the data directory does not answer on {}", path.display());
    let stream = connect_socket(path).await.with_context(lost)?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.with_context(lost)?;
    // It ends with the answer, or with the other side.
    tokio::spawn(connection);
    let response = sender.send_request(call.request()?).await.with_context(lost)?;
    Ok(response.map(Body::new))
}
