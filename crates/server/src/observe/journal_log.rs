//! The log of what was committed: follows the journal, writes a line per event and reports the runs that ended.
//!
//! Lines are durable, in order and complete, and include what happened by itself: deadlines, recovery. The first line is
//! for the first commit after the server started.

use std::sync::Arc;

use adjourn_core::{Event, Record, RunId, StreamId, WarningCode};
use adjourn_runtime::Journal;
use adjourn_store::Error;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

/// Entries of the journal that are read at once: they come as fast as they are committed, in batches of some hundred.
const PAGE_ENTRIES: usize = 256;

/// Told of each run that ends.
pub(crate) trait RunEndListener: Send + Sync + 'static {
    /// A run has ended. Must return at once.
    fn run_ended(&self, run_id: RunId);
}

/// Logs everything that is committed, until `shutdown`.
pub(crate) async fn follow(
    journal: Journal,
    listener: Option<Arc<dyn RunEndListener>>,
    shutdown: CancellationToken,
) {
    let mut commits = journal.watch();
    let mut after = *commits.borrow_and_update();
    let mut is_over = false;
    loop {
        let read = {
            let (journal, listener) = (journal.clone(), listener.clone());
            tokio::task::spawn_blocking(move || log_next(&journal, after, listener.as_deref()))
        };
        match read.await {
            Ok(Ok(upto)) if upto > after => {
                after = upto;
                continue;
            }
            Ok(Ok(_)) => {}
            Ok(Err(problem)) => warn!(%problem, "the log does not show what was committed just now"),
            Err(panic) => warn!(%panic, "the log does not show what was committed just now"),
        }
        tokio::select! {
            () = shutdown.cancelled(), if !is_over => is_over = true,
            changed = commits.changed(), if !is_over => is_over = changed.is_err(),
            else => return,
        }
    }
}

/// Logs the next entries, and returns the position of the last one.
fn log_next(journal: &Journal, after: u64, listener: Option<&dyn RunEndListener>) -> Result<u64, Error> {
    let entries = journal.all_entries(after, PAGE_ENTRIES)?;
    for entry in &entries {
        let StreamId::Run(run_id) = entry.stream else { continue };
        let record = match Record::of(entry) {
            Ok(record) => record,
            Err(problem) => {
                error!(%run_id, position = entry.position, %problem, "an entry of the journal cannot be read and is left out");
                continue;
            }
        };
        let mut attempt = record.place.attempt;
        for event in &record.events {
            if let Event::TurnStarted { attempt: started, .. } = event {
                attempt = *started;
            }
            log(run_id, attempt, event);
            if matches!(event, Event::StatusChanged { to, .. } if to.is_terminal())
                && let Some(listener) = listener
            {
                listener.run_ended(run_id);
            }
        }
    }
    Ok(entries.last().map_or(after, |entry| entry.position))
}

/// One line for one event: its kind, and never what anybody said or wrote.
fn log(run_id: RunId, attempt: u32, event: &Event) {
    let run_id = tracing::field::display(run_id);
    match event {
        Event::Created(spec) => {
            let (skill, engine) = (spec.skill.as_deref().unwrap_or_default(), &spec.engine);
            debug!(run_id, attempt, skill, engine, mode = %spec.execution_mode, "run created");
        }
        Event::StatusChanged { from, to, trigger, error } => {
            let error = error.as_ref().map(|error| error.code.to_string());
            let error = error.as_deref();
            match (to.is_terminal(), error) {
                (true, Some(_)) => warn!(run_id, attempt, %from, %to, %trigger, error, "run ended"),
                (true, None) => info!(run_id, attempt, %from, %to, %trigger, "run ended"),
                (false, _) => debug!(run_id, attempt, %from, %to, %trigger, error, "run changed"),
            }
        }
        Event::TurnStarted { reason, .. } => debug!(run_id, attempt, %reason, "turn started"),
        Event::RepairStarted { repair, .. } => info!(run_id, attempt, repair, "output is repaired"),
        Event::Warned(warning) if warning.code == WarningCode::AgentRefused => {
            warn!(run_id, attempt, warning = %warning.code, "run warned");
        }
        Event::Warned(warning) => info!(run_id, attempt, warning = %warning.code, "run warned"),
        Event::InteractionOpened { id, subject, .. } => {
            debug!(run_id, attempt, interaction_id = id.0, source = %subject.source(), "question opened");
        }
        Event::InteractionAnswered { id, by, .. } => {
            debug!(run_id, attempt, interaction_id = id.0, by = %by.kind, "question answered");
        }
        Event::InteractionExpired { id, .. } => {
            info!(run_id, attempt, interaction_id = id.0, "question expired");
        }
        Event::DeadlineMoved { id, deadline_at, by_ms, .. } => {
            info!(run_id, attempt, interaction_id = id.0, %deadline_at, by_ms, "deadline moved with the clock");
        }
        Event::InteractionWithdrawn { id, .. } => {
            debug!(run_id, attempt, interaction_id = id.0, "question withdrawn");
        }
        Event::ContractCreated(spec) => {
            let execution_id = tracing::field::display(spec.execution_id);
            debug!(run_id, attempt, execution_id, irreversible = spec.irreversible, "contract created");
        }
        Event::ContractChanged { id, from, to, trigger, actor, .. } => {
            let execution_id = tracing::field::display(id);
            debug!(run_id, attempt, execution_id, %from, %to, %trigger, %actor, "contract changed");
        }
        Event::ContractSettled { id, happened, .. } => {
            info!(run_id, attempt, execution_id = %id, happened, "contract settled");
        }
        // What the agent wrote stays in the journal: a log is read by others.
        Event::CallRefused(_) => info!(run_id, attempt, "call refused"),
        Event::ToolsListed(_) => debug!(run_id, attempt, "tools listed"),
        Event::ToolChanged { id, .. } => {
            warn!(run_id, attempt, execution_id = %id, "the tool of a call changed: it is asked about again");
        }
        Event::ProcessLost => warn!(run_id, attempt, "the agent's process is gone"),
        Event::SetAside(set_aside) => {
            let problem = &set_aside.problem;
            error!(
                run_id,
                attempt, problem, "a part of the run's journal cannot be read: the run ends, others go on"
            );
        }
        Event::EndRequested(_) => debug!(run_id, attempt, "run is to end"),
        Event::TurnOver => debug!(run_id, attempt, "turn is over, its process is not"),
        Event::Observed(_) | Event::ResultRecorded(_) => {}
    }
}
