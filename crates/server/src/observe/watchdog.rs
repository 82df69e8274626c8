//! The watchdog: logs when the threads that decide and commit are stuck, and when they go on.

use std::time::Duration;

use adjourn_kernel::Stuck;
use adjourn_runtime::WeakService;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

/// How often the threads are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Watches until `shutdown`. Each time that a thread gets stuck is told once, and so is its end.
pub(crate) async fn watch(service: WeakService, shutdown: CancellationToken) {
    let mut was_stuck = false;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
        let Some(stuck) = service.upgrade().map(|service| service.stuck()) else { return };
        match stuck {
            Some(stuck) if !was_stuck => error!(problem = described(stuck), "the server does not get on"),
            None if was_stuck => info!("the server gets on again"),
            Some(_) | None => {}
        }
        was_stuck = stuck.is_some();
    }
}

/// What is wrong, for people.
pub(crate) fn described(stuck: Stuck) -> String {
    match stuck {
        Stuck::Deciding(took) => {
            format!("no command is decided: the same step goes on for {} s", took.as_secs())
        }
        Stuck::Committing(took) => format!(
            "the journal does not take anything: a commit goes on for {} s; see whether the disk is busy or the \
             database is locked",
            took.as_secs()
        ),
    }
}
