//! Attempts of agents that were refused, as warnings in the journals of their runs.

use adjourn_core::{Command, Warning, WarningCode};
use adjourn_engine::agent_processes::RefusedAttempt;
use tokio::sync::mpsc;

use super::WeakService;

/// Writes down each attempt until the service has ended.
pub(super) async fn write_down(service: WeakService, mut attempts: mpsc::Receiver<RefusedAttempt>) {
    while let Some(RefusedAttempt { run_id, what }) = attempts.recv().await {
        let Some(service) = service.upgrade() else { return };
        let warning = Warning { code: WarningCode::AgentRefused, message: format!("the agent {what}") };
        // A journal that cannot be written now loses the warning. What was refused stays refused.
        let _ = service.runtime().ask(run_id, Command::Warn(warning)).await;
    }
}
