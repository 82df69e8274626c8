//! The life of a server: it listens, accepts connections, serves the routes on them, and drains before it ends.

pub(crate) mod background;
pub(crate) mod connection;
pub(crate) mod descriptors;
pub(crate) mod drain;
pub(crate) mod error;
mod http;
pub(crate) mod listen;
pub(crate) mod socket_path;

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use adjourn_kernel::Threads;
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use axum::serve::{Listener, ListenerExt};
use tokio_util::sync::CancellationToken;

use crate::auth::guard::{Door, OtherUsers};
use crate::auth::peer::HasOrigin;
use crate::auth::tokens::Tokens;
use crate::observe::journal_log;
use crate::observe::traces::Traces;
use crate::observe::watchdog;
use crate::serve::connection::{Bounded, Connections, Limits};
use crate::serve::descriptors::raise_descriptor_limit;
use crate::serve::drain::{Ending, drained};
use crate::serve::error::Error;
use crate::serve::listen::{Listeners, Socket};
use crate::server::Server;
use crate::webhooks::Webhooks;

/// How long requests may take to finish when the server ends. What is cut off then is durable or never happened.
const GRACE: Duration = Duration::from_secs(5);

/// What a server needs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The configuration.
    pub config: Config,
    /// Where to listen, besides the socket in the data directory.
    pub listen: SocketAddr,
    /// The file of tokens that clients at that address need.
    pub tokens: Option<PathBuf>,
    /// Whether other users of this machine come in without a token.
    pub other_users: OtherUsers,
    /// How long turns may take to finish when the server is told to end.
    pub grace: Duration,
}

/// Owns a data directory and serves it until it is told to end. Calls `ready` with the address once clients can come.
pub async fn run(options: Options, ending: Ending, ready: impl FnOnce(SocketAddr)) -> Result<(), Error> {
    let tokens = options.tokens.as_deref().map(Tokens::open).transpose()?;
    // Before anything is opened: nothing is made or driven for a server that does not start.
    listen::check(options.listen, tokens.as_ref())?;
    let webhooks = options.config.webhooks.as_ref().map(Webhooks::new).transpose()?;
    let (service, threads) = Service::open(&options.data_dir, options.config)?;
    let listeners = Listeners::bind(options.listen, tokens, &options.data_dir).await?;
    let listeners = listeners.other_users(options.other_users);
    ready(listeners.address());
    let doors = CancellationToken::new();
    let _closes = doors.clone().drop_guard();
    let deliveries = webhooks.map(|webhooks| tokio::spawn(webhooks.deliver(service.clone(), doors.clone())));
    let served = tokio::select! {
        served = serve(service.clone(), listeners, doors.clone()) => served,
        never = async {
            drained(&service, &ending, options.grace).await;
            doors.cancel();
            std::future::pending().await
        } => never,
        () = ending.now.cancelled() => return Ok(()),
    };
    if let Some(deliveries) = deliveries {
        // They end with the doors; one that panicked told nothing more, and what it did not is in the journal.
        let _ = deliveries.await;
    }
    drop(service);
    ended(threads).await;
    served
}

/// Waits for the threads of a service, which end when the last connection that was cut off is gone: that is not worth
/// waiting for any longer than for a request.
pub(crate) async fn ended(threads: Threads) {
    let (ended, end) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        threads.join();
        let _ = ended.send(());
    });
    let _ = tokio::time::timeout(GRACE, end).await;
}

/// Serves `service` until `shutdown`, and then lets requests finish that do so soon.
pub async fn serve(service: Service, listeners: Listeners, shutdown: CancellationToken) -> Result<(), Error> {
    let Listeners { tcp, door, socket: Socket { listener, file }, .. } = listeners;
    let limits = Limits::of(raise_descriptor_limit()?);
    // A frame is sent when it is there, not when more are.
    let tcp = tcp.tap_io(|connection| drop(connection.set_nodelay(true)));
    let (ended, sending) = Traces::begin(service.journal())?.unzip();
    let telling = tokio::spawn(journal_log::follow(service.journal(), ended, shutdown.clone()));
    let watching = tokio::spawn(watchdog::watch(service.downgrade(), shutdown.clone()));
    let server = Server::new(service, shutdown.clone());
    let doors = async {
        tokio::try_join!(
            open(Bounded::new(tcp, limits.port), server.clone(), door),
            open(Bounded::new(listener, limits.socket), server, Door::Socket),
        )
    };
    let served = until(doors, &shutdown).await;
    // What was committed up to here is told, and its traces are sent, if that is possible soon.
    let told = async {
        let _ = watching.await;
        let _ = telling.await;
        if let Some(sending) = sending {
            let _ = tokio::task::spawn_blocking(|| sending.join()).await;
        }
    };
    let _ = tokio::time::timeout(GRACE, told).await;
    drop(file);
    served
}

/// Serves `service` on the socket of its data directory alone.
pub async fn serve_socket(
    service: Service,
    socket: Socket,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let (serving, _) = serving_socket(service, socket, shutdown)?;
    serving.await
}

/// Serves `service` on the socket of its data directory, and tells whether somebody is connected.
pub(crate) fn serving_socket(
    service: Service,
    socket: Socket,
    shutdown: CancellationToken,
) -> Result<(impl Future<Output = Result<(), Error>>, Connections), Error> {
    let Socket { listener, file } = socket;
    let limits = Limits::of(raise_descriptor_limit()?);
    let server = Server::new(service, shutdown.clone());
    let listener = Bounded::new(listener, limits.socket);
    let connections = listener.connections();
    let serving = async move {
        let served = until(open(listener, server, Door::Socket), &shutdown).await;
        drop(file);
        served
    };
    Ok((serving, connections))
}

/// What came of `doors`, which close with `shutdown`: requests that finish soon after that do.
async fn until<T>(
    doors: impl Future<Output = std::io::Result<T>>,
    shutdown: &CancellationToken,
) -> Result<(), Error> {
    let late = async {
        shutdown.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    let served = tokio::select! {
        served = doors => served.map(drop),
        () = late => Ok(()),
    };
    // One door that fails takes the other with it, and the streams too.
    shutdown.cancel();
    Ok(served?)
}

async fn open<L: Listener<Io: HasOrigin>>(listener: L, server: Server, door: Door) -> std::io::Result<()> {
    let (agents, shutdown) = (server.service.agents().clone(), server.shutdown.clone());
    http::serve(listener, server.router(door), agents, shutdown).await
}
