//! Draining: before the server ends, turns that are nearly done may finish.
//!
//! Once it is told to end, no turn begins any more, and those that are going on get a grace period. Meanwhile it goes on
//! to serve: watchers see how the turns end, and answers, cancels and new runs are accepted, because they are durable
//! like any other and the next owner takes them up. Then the doors close. What was still at work is cut off and left to
//! recovery.

use std::time::Duration;

use adjourn_runtime::Service;
use tokio_util::sync::CancellationToken;

/// How long turns may take to finish unless somebody says otherwise: less than the 30 s after which container platforms
/// kill what they told to end.
pub const GRACE_DEFAULT: Duration = Duration::from_secs(20);

/// How a server is told to end.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// When the turns that are going on have finished, or their grace is over.
    pub soon: CancellationToken,
    /// At once.
    pub now: CancellationToken,
}

/// Waits until the server should end, and then until nothing is thrown away by it, but no longer than `grace`.
pub(crate) async fn drained(service: &Service, ending: &Ending, grace: Duration) {
    ending.soon.cancelled().await;
    // What takes longer is left to recovery.
    let _ = tokio::time::timeout(grace, service.drain()).await;
}
