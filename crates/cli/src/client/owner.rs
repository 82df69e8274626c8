//! This process as the owner of a data directory: what it asks, it answers itself.

use std::path::Path;
use std::time::Duration;

use adjourn_kernel::Threads;
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_server::{Door, Server, Socket, serve_socket};
use adjourn_store::Error;
use axum::Router;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::style::{self, styled};

/// How long the journal may take to be closed. What is durable by then is durable; the rest of the time is for a disk that
/// is slow to sync.
const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// A data directory that this process works on. Others reach it by its socket meanwhile.
pub(super) struct Owner {
    service: Service,
    router: Router,
    threads: Threads,
    doors: CancellationToken,
    /// None where there is no socket.
    serving: Option<JoinHandle<()>>,
}

/// What goes on in a data directory when its owner ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GoesOn {
    /// Runs and roundtables that work or are about to.
    pub(super) now: bool,
    /// Those, and questions that are decided when their time is over.
    pub(super) later: bool,
}

impl Owner {
    /// Opens `data_dir`, takes up what was left there, and lets others in.
    pub(super) fn open(data_dir: &Path, config: Config) -> Result<Self, Error> {
        let (service, threads) = Service::open(data_dir, config)?;
        let doors = CancellationToken::new();
        let serving = match Socket::bind(data_dir) {
            Ok(socket) => {
                let serving = serve_socket(service.clone(), socket, doors.clone());
                Some(tokio::spawn(async move {
                    if let Err(error) = serving.await {
                        alone(&error);
                    }
                }))
            }
            Err(error) => {
                alone(&error);
                None
            }
        };
        let router = Server::new(service.clone(), doors.clone()).router(Door::Socket);
        Ok(Self { service, router, threads, doors, serving })
    }

    pub(super) fn router(&self) -> &Router {
        &self.router
    }

    /// Lets nobody in any more, and then lets go of the directory.
    pub(super) async fn close(self) -> Result<GoesOn, Error> {
        let Self { service, router, threads, doors, serving } = self;
        doors.cancel();
        if let Some(serving) = serving {
            // It ends with the requests that were under way: what they asked for is known below.
            let _ = serving.await;
        }
        let journal = service.journal();
        let goes_on = GoesOn { now: journal.is_at_work()?, later: journal.can_go_on()? };
        drop((service, router, journal));
        let closed = tokio::task::spawn_blocking(move || threads.join());
        let _ = tokio::time::timeout(CLOSE_WITHIN, closed).await;
        Ok(goes_on)
    }
}

/// Whoever cannot be reached by others still does its own work.
fn alone(error: &adjourn_server::Error) {
    anstream::eprintln!("{} no other command can reach this one: {error}", styled(style::ODD, "warning:"));
}
