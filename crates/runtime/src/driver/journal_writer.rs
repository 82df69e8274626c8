//! The journal writer: repeats a command until the journal has taken it.

use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{Command, RunId};
use adjourn_store::Store;

use crate::runtime::WeakRuntime;
use adjourn_kernel::{Answer, Denied};

/// How long it is waited before the journal is told again what it could not take.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Sends commands to the runtime, again and again while the journal does not answer. Cheap to clone; does not keep the runtime
/// going.
#[derive(Clone)]
pub(crate) struct JournalWriter(WeakRuntime);

impl std::fmt::Debug for JournalWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JournalWriter").finish_non_exhaustive()
    }
}

impl JournalWriter {
    pub(crate) fn new(runtime: WeakRuntime) -> Self {
        Self(runtime)
    }

    /// Has a command decided and committed. Fails only if the rules refuse it, or the runtime has ended.
    pub(crate) async fn tell(&self, run_id: RunId, command: Command) -> Answer {
        loop {
            let Some(runtime) = self.0.upgrade() else { return Err(Denied::stopped()) };
            let answer = runtime.ask(run_id, command.clone()).await;
            drop(runtime);
            match answer {
                Err(Denied::Failed(_)) => tokio::time::sleep(RETRY_AFTER).await,
                answer => return answer,
            }
        }
    }

    /// The journal, for reading; none when there is nobody left to ask.
    pub(crate) fn store(&self) -> Option<Arc<dyn Store>> {
        self.0.store()
    }
}
