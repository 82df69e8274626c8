//! Processes that stay with their runs between turns: each is watched, so that its end is written down at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::{Command, Process, Run, RunId};
use adjourn_engine::Engine;

use super::Inner;

/// The processes that stay.
#[derive(Default)]
pub(super) struct Staying(Mutex<HashMap<RunId, Stays>>);

/// A process that stays, and who it belongs to.
struct Stays {
    process: Process,
    engine: Arc<dyn Engine>,
}

impl Staying {
    fn all(&self) -> MutexGuard<'_, HashMap<RunId, Stays>> {
        // Whoever panicked while it held the lock left a map that is still a map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Watches the process that a turn left, if it left one and nobody does yet.
    pub(super) fn keep(self: &Arc<Self>, run: &Arc<Run>, engine: &Arc<dyn Engine>) {
        let Some(process) = run.process() else { return };
        let stays = Stays { process, engine: engine.clone() };
        let before = self.staying.all().insert(run.id(), stays);
        if before.is_some_and(|before| before.process == process) {
            return;
        }
        let (inner, run, engine) = (self.clone(), run.clone(), engine.clone());
        self.tasks.spawn(async move {
            engine.gone(run.id()).await;
            inner.is_gone(run, process).await;
        });
    }

    /// A process that stayed is gone, whatever ended it.
    async fn is_gone(self: Arc<Self>, run: Arc<Run>, process: Process) {
        {
            let mut staying = self.staying.all();
            if staying.get(&run.id()).is_some_and(|stays| stays.process == process) {
                staying.remove(&run.id());
            }
        }
        let run_id = run.id();
        let loadable = self.look(run).await.is_some_and(|survey| survey.handle);
        // Refused only where the run has moved on without it.
        let _ = self.tell(run_id, Command::ReportProcessEnded { process, loadable }).await;
    }

    /// Ends the process that stays with a run. That it is gone is told by whoever watches it.
    pub(super) fn end_staying(&self, run_id: RunId) {
        let engine = self.staying.all().get(&run_id).map(|stays| stays.engine.clone());
        if let Some(engine) = engine {
            self.tasks.spawn(async move { engine.end(run_id).await });
        }
    }
}
