//! HTTP on connections: how long a client may take to say what it wants, and how much it may say.

use std::io;
use std::time::Duration;

use adjourn_engine::agent_processes::AgentProcesses;
use axum::Router;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::auth::peer::{HasOrigin, Peer};

/// How long a client may take for the head of a request, and how long a connection may stay open without one. A head
/// that is dribbled would hold its place for ever; a client that keeps its connections opens another.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

/// Bytes that are read ahead on a connection, and so the longest head: eight times what browsers send with all their
/// cookies.
const READ_AHEAD_BYTES_MAX: usize = 64 * 1024;

/// Serves every connection of `listener` until `shutdown`, and then until each has finished what it was asked.
pub(crate) async fn serve<L: Listener<Io: HasOrigin>>(
    mut listener: L,
    router: Router,
    agents: AgentProcesses,
    shutdown: CancellationToken,
) -> io::Result<()> {
    // Cut off when this is dropped: nobody waits any longer then.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => break,
            (io, _) = listener.accept() => {
                let (router, agents, shutdown) = (router.clone(), agents.clone(), shutdown.clone());
                connections.spawn(async move {
                    let peer = Peer::find(io.origin(), &agents).await;
                    converse(io, peer, router, shutdown).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
    Ok(())
}

/// Serves one connection. How it ends is the client's affair.
async fn converse<I>(io: I, peer: Peer, router: Router, shutdown: CancellationToken)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(READ_AHEAD_BYTES_MAX);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(io), service));
    tokio::select! {
        _ = connection.as_mut() => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::post;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, sleep};
    use tokio_util::sync::CancellationToken;

    use super::{HEAD_WITHIN, converse};
    use crate::auth::peer::Peer;
    use crate::extract::body;

    fn client() -> DuplexStream {
        let router = Router::new().route(
            "/",
            post(async |body::Json(document): body::Json<serde_json::Value>| document.to_string()),
        );
        let (client, server) = duplex(1024);
        tokio::spawn(converse(server, Peer::Elsewhere, router, CancellationToken::new()));
        client
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_is_dribbled_does_not_hold_its_place() {
        let (mut client, began) = (client(), Instant::now());
        let mut sent = 0;
        while client.write_all(b"x").await.is_ok() {
            sent += 1;
            sleep(HEAD_WITHIN / 100).await;
        }
        assert!((99..=102).contains(&sent), "{sent} of 100 bytes, after {:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_is_closed() {
        let (mut client, began) = (client(), Instant::now());
        assert_eq!(client.read_to_end(&mut Vec::new()).await.unwrap(), 0);
        assert_eq!(began.elapsed().as_secs(), HEAD_WITHIN.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_answered() {
        let mut client = client();
        client.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("BODY_TOO_SLOW"), "{answer}");
    }
}
