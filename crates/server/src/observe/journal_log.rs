//! The log of what was committed: follows the journal, writes a line per event and reports what ended.
//!
//! Lines are durable, in order and complete, and include what happened by itself: deadlines, recovery. The first line is
//! for the first commit after the server started.

use std::sync::Arc;

use adjourn_core::{BadEntry, Entry, Event, Record, RoundtableId, RunId, StreamId, WarningCode, roundtable};
use adjourn_runtime::Journal;
use adjourn_store::Error;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

/// Entries of the journal that are read at once: they come as fast as they are committed, in batches of some hundred.
const PAGE_ENTRIES: usize = 256;

/// Told of each run and roundtable that ends.
pub(crate) trait StreamEndListener: Send + Sync + 'static {
    /// A run or a roundtable has ended. Must return at once.
    fn stream_ended(&self, stream: StreamId);
}

/// Logs everything that is committed, until `shutdown`.
pub(crate) async fn follow(
    journal: Journal,
    listener: Option<Arc<dyn StreamEndListener>>,
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
fn log_next(journal: &Journal, after: u64, listener: Option<&dyn StreamEndListener>) -> Result<u64, Error> {
    let entries = journal.all_entries(after, PAGE_ENTRIES)?;
    for entry in &entries {
        let logged = match entry.stream {
            StreamId::Run(run_id) => log_run(run_id, entry, listener),
            StreamId::Roundtable(id) => log_roundtable(id, entry, listener),
        };
        if let Err(problem) = logged {
            let stream = tracing::field::display(entry.stream);
            error!(stream, position = entry.position, %problem, "an entry of the journal cannot be read and is left out");
        }
    }
    Ok(entries.last().map_or(after, |entry| entry.position))
}

fn log_run(run_id: RunId, entry: &Entry, listener: Option<&dyn StreamEndListener>) -> Result<(), BadEntry> {
    let record = Record::<Event>::of(entry)?;
    let mut attempt = record.place.attempt;
    for event in &record.events {
        if let Event::TurnStarted { attempt: started, .. } = event {
            attempt = *started;
        }
        log(run_id, attempt, event);
        if matches!(event, Event::StatusChanged { to, .. } if to.is_terminal())
            && let Some(listener) = listener
        {
            listener.stream_ended(run_id.into());
        }
    }
    Ok(())
}

fn log_roundtable(
    id: RoundtableId,
    entry: &Entry,
    listener: Option<&dyn StreamEndListener>,
) -> Result<(), BadEntry> {
    let record = Record::<roundtable::Event>::of(entry)?;
    let mut round = record.place.attempt;
    for event in &record.events {
        if let roundtable::Event::RoundOpened { number, .. } = event {
            round = *number;
        }
        log_roundtable_event(id, round, event);
        if matches!(event, roundtable::Event::Closed(_))
            && let Some(listener) = listener
        {
            listener.stream_ended(id.into());
        }
    }
    Ok(())
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

/// The same for a roundtable.
fn log_roundtable_event(roundtable_id: RoundtableId, round: u32, event: &roundtable::Event) {
    use roundtable::Event as E;
    let roundtable_id = tracing::field::display(roundtable_id);
    match event {
        E::Opened(spec) => {
            let (workflow, strategy) = (&spec.workflow, &spec.strategy);
            debug!(roundtable_id, workflow, strategy, "roundtable opened");
        }
        E::RoundOpened { phase, .. } => debug!(roundtable_id, round, phase, "round began"),
        E::ActivationStarted { purpose, run_id, .. } => {
            debug!(roundtable_id, round, role = %purpose.role(), %run_id, "agent activated");
        }
        E::ResumeFellBack { .. } => {
            info!(roundtable_id, round, "an agent could not take up its conversation");
        }
        E::FacilitatorLost { run_id, .. } => {
            warn!(roundtable_id, round, %run_id, "the facilitator said nothing that can be used");
        }
        E::ParticipantMissing { run_id, missing } => {
            warn!(roundtable_id, round, %run_id, role = %missing.role, "a participant is missing");
        }
        E::FocusRecorded { run_id, .. } => debug!(roundtable_id, round, %run_id, "question recorded"),
        E::AnswerRecorded { run_id, role, .. } => {
            debug!(roundtable_id, round, %run_id, %role, "answer recorded");
        }
        E::ResponsesCollected => debug!(roundtable_id, round, "all answers are in"),
        E::SynthesisRecorded { run_id, .. } => debug!(roundtable_id, round, %run_id, "synthesis recorded"),
        E::RoundRecorded { refused } => {
            info!(roundtable_id, round, refused = refused.len(), "round recorded");
        }
        E::NextDecided(decision) => debug!(roundtable_id, round, next = %decision.next, "next step decided"),
        E::EscalationRequested(_) => info!(roundtable_id, round, "a person asked to be asked"),
        E::EscalationRaised(_) => info!(roundtable_id, round, "escalation raised"),
        E::InteractionOpened { id, .. } => {
            debug!(roundtable_id, round, interaction_id = id.0, "question opened");
        }
        E::InteractionAnswered { id, by, .. } => {
            debug!(roundtable_id, round, interaction_id = id.0, by = %by.kind, "question answered");
        }
        E::InteractionWithdrawn { id } => {
            debug!(roundtable_id, round, interaction_id = id.0, "question withdrawn");
        }
        E::Closed(closing) => match &closing.problem {
            Some(problem) => {
                warn!(roundtable_id, round, reason = %closing.reason, problem, "roundtable closed");
            }
            None => info!(roundtable_id, round, reason = %closing.reason, "roundtable closed"),
        },
        E::SetAside(set_aside) => {
            let problem = &set_aside.problem;
            error!(roundtable_id, problem, "a part of the roundtable's journal cannot be read: it is closed");
        }
        // What they are about is what agents and people said, and stays in the journal.
        E::ArtifactCreated(_)
        | E::ArtifactChanged { .. }
        | E::ConflictOpened(_)
        | E::ConflictResolved { .. }
        | E::QuestionOpened(_)
        | E::QuestionResolved { .. }
        | E::TopicChanged { .. } => {}
    }
}
