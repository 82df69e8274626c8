//! The state that all routes share.

use adjourn_runtime::Service;
use tokio_util::sync::CancellationToken;

use crate::observe::metrics::Metrics;
use crate::problem::Problem;
use crate::stream::registry::StreamRegistry;

/// The service, and what all routes to it share. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) service: Service,
    /// Ends every stream: an open one would keep the server from ending.
    pub(crate) shutdown: CancellationToken,
    pub(crate) metrics: Metrics,
    pub(crate) streams: StreamRegistry,
}

impl Server {
    /// A server of `service` whose streams end with `shutdown`.
    pub fn new(service: Service, shutdown: CancellationToken) -> Self {
        Self { service, shutdown, metrics: Metrics::default(), streams: StreamRegistry::default() }
    }

    /// Reads from the journal or the disk, on a thread that may wait.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.service.clone();
        let done = tokio::task::spawn_blocking(move || read(&service)).await;
        done.unwrap_or_else(|_| Err(Problem::internal("reading stopped halfway")))
    }
}
