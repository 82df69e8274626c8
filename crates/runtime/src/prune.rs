//! Removing old runs, and keeping everything that something else still refers to.
//!
//! A run that ended is kept while
//!
//! - another run continues it: that run needs its conversation, its keys and its working folder, and so does every run
//!   that continues that one later;
//! - a person has to say what became of one of its calls;
//! - the roundtable that it belongs to is active.
//!
//! A roundtable that was closed goes after its runs: it is kept while one of them is there.
//!
//! Keys that reach further than a chain of runs are never removed. The key that a run was created with is kept for
//! [`CREATE_KEY_DAYS`], so that a request that is sent again does not create a second run. A version of a skill goes
//! with the last run that reads it.

use std::collections::HashSet;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::Roundtable;
use adjourn_core::{Event, Record, RoundtableId, RunId, RunSpec, RunStatus, StreamId, Timestamp, named};
use adjourn_kernel::load_readable;
use adjourn_store::{After, Error, KeptBecause, Removal, RoundtableFilter, RunFilter, Store};
use serde::{Serialize, Serializer};

use crate::workspace::{WorkspaceError, Workspaces};

/// How long a key that created a run holds, in days from the creation: also when the run is removed before that.
///
/// Clients that send a request again do so within minutes or hours; a week also covers a queue that was stuck over a
/// weekend. A key is some hundred bytes.
pub const CREATE_KEY_DAYS: u32 = 7;

const DAY_SECONDS: i64 = 86_400;

/// Rows that are read at once.
const PAGE: usize = 1000;

/// What became of the runs that were old enough to be removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Runs that are gone.
    pub removed: Vec<RunId>,
    /// Runs that something still needs.
    pub kept: Vec<KeptRun>,
    /// Roundtables that are gone.
    pub removed_roundtables: Vec<RoundtableId>,
    /// Roundtables that are closed, old enough, and have a run that is still there.
    pub kept_roundtables: Vec<KeptRoundtable>,
}

/// A roundtable that was old enough to be removed, and a run of it that is not gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KeptRoundtable {
    /// The roundtable.
    pub roundtable_id: RoundtableId,
    /// A run that belongs to it.
    pub run_id: RunId,
}

impl std::fmt::Display for KeptRoundtable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is kept: its run {} is there", self.roundtable_id, self.run_id)
    }
}

/// A run that was old enough to be removed, and is still needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KeptRun {
    /// The run.
    pub run_id: RunId,
    /// Why it is needed.
    pub reason: KeepReason,
    /// The run or the roundtable that needs it.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub needed_by: Option<StreamId>,
}

fn as_text<S: Serializer>(id: &Option<StreamId>, serializer: S) -> Result<S::Ok, S::Error> {
    id.map(|id| id.to_string()).serialize(serializer)
}

named! {
    /// Why a run is not removed.
    pub enum KeepReason {
        /// Another run continues it.
        Continued = "continued",
        /// A person has to say what became of one of its calls.
        CallInDoubt = "call_in_doubt",
        /// The roundtable that it belongs to is active.
        RoundtableActive = "roundtable_active",
    }
}

impl std::fmt::Display for KeptRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run_id, reason, needed_by } = self;
        let by = needed_by.map_or_else(String::new, |by| by.to_string());
        match reason {
            KeepReason::Continued => write!(f, "{run_id} is kept: {by} continues it"),
            KeepReason::CallInDoubt => {
                write!(
                    f,
                    "{run_id} is kept: it is not known whether one of its calls happened; say it with `adjourn settle`"
                )
            }
            KeepReason::RoundtableActive => write!(f, "{run_id} is kept: its roundtable {by} is active"),
        }
    }
}

/// Why old runs could not be removed. Those that were removed before are gone.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Store(#[from] Error),
    /// The folder of a run cannot be removed.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// Removes the runs and roundtables that ended before `ended_before` and that nothing needs any more, with their folders. Has
/// to be called while nothing works on the data directory.
pub fn prune(
    store: &dyn Store,
    workspaces: &Workspaces,
    ended_before: Timestamp,
    now: Timestamp,
) -> Result<Pruned, PruneError> {
    let mut pruned = Pruned::default();
    let mut candidates = ended(store, ended_before)?;
    // A run that continues another is mostly the newer one, so that one pass removes whole chains.
    candidates.sort_unstable_by(|one, other| other.cmp(one));
    loop {
        let mut kept = Vec::new();
        let removed_before = pruned.removed.len();
        for &run_id in &candidates {
            if let Some(needed) = needed(store, run_id)? {
                kept.push(needed);
                continue;
            }
            match store.remove(run_id.into())? {
                Removal::Removed => {
                    // The folder afterwards: one without a run is found by the next start, and a run without its
                    // folder would not be.
                    workspaces.remove(run_id)?;
                    pruned.removed.push(run_id);
                }
                Removal::Kept(because) => kept.extend(kept_run(run_id, because)),
                Removal::NotThere => {}
            }
        }
        if pruned.removed.len() == removed_before {
            pruned.kept = kept;
            break;
        }
        candidates = kept.iter().map(|kept| kept.run_id).collect();
    }
    prune_roundtables(store, ended_before, &mut pruned)?;
    let days_ago = now.millis().saturating_sub(i64::from(CREATE_KEY_DAYS) * DAY_SECONDS * 1000);
    store.forget_keys(Timestamp::from_millis(days_ago))?;
    workspaces.prune_versions(|skill| versions_read(store, skill))?;
    Ok(pruned)
}

/// Removes the roundtables that were closed before `ended_before` and whose runs are gone.
fn prune_roundtables(store: &dyn Store, ended_before: Timestamp, pruned: &mut Pruned) -> Result<(), Error> {
    let mut filter = RoundtableFilter { status: Some(RoundtableStatus::Closed), before: None };
    loop {
        let page = store.roundtables(&filter, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        filter.before = Some(last.roundtable_id);
        for row in page.iter().filter(|row| row.updated_at <= ended_before) {
            let roundtable_id = row.roundtable_id;
            match run_of(store, roundtable_id)? {
                Some(run_id) => pruned.kept_roundtables.push(KeptRoundtable { roundtable_id, run_id }),
                None if store.remove(roundtable_id.into())? == Removal::Removed => {
                    pruned.removed_roundtables.push(roundtable_id);
                }
                None => {}
            }
        }
    }
}

/// A run that a roundtable announced and that is there. Anybody can write a label, and the journal says whose run it is.
fn run_of(store: &dyn Store, id: RoundtableId) -> Result<Option<RunId>, Error> {
    let Some(roundtable) = load_readable::<Roundtable>(store, id)? else { return Ok(None) };
    let announced = roundtable.rounds().iter().flat_map(|round| &round.activations);
    let announced =
        announced.map(|activation| activation.run_id).chain(roundtable.abandoned().iter().copied());
    for run_id in announced {
        if store.run(run_id)?.is_some() {
            return Ok(Some(run_id));
        }
    }
    Ok(None)
}

fn kept_run(run_id: RunId, because: KeptBecause) -> Option<KeptRun> {
    let (reason, needed_by) = match because {
        // It was not a candidate then.
        KeptBecause::NotEnded => return None,
        KeptBecause::CallInDoubt => (KeepReason::CallInDoubt, None),
        KeptBecause::ContinuedBy(by) => (KeepReason::Continued, Some(by.into())),
    };
    Some(KeptRun { run_id, reason, needed_by })
}

/// The need for a run that only its own request tells of: a store knows nothing of roundtables' members.
fn needed(store: &dyn Store, run_id: RunId) -> Result<Option<KeptRun>, Error> {
    let Some(roundtable) = spec(store, run_id)?.and_then(|spec| spec.roundtable) else { return Ok(None) };
    let row = store.roundtable(roundtable)?;
    let is_active = row.is_some_and(|row| match row.status {
        RoundtableStatus::Active => true,
        RoundtableStatus::Closed => false,
    });
    let needed_by = Some(roundtable.into());
    Ok(is_active.then_some(KeptRun { run_id, reason: KeepReason::RoundtableActive, needed_by }))
}

/// The request that a run was created by; none where it cannot be read.
fn spec(store: &dyn Store, run_id: RunId) -> Result<Option<RunSpec>, Error> {
    let first = store.read(run_id.into(), After::START, 1)?;
    let record = first.first().and_then(|entry| Record::of(entry).ok());
    Ok(record.and_then(|record| {
        record.events.into_iter().find_map(|event| match event {
            Event::Created(spec) => Some(*spec),
            _ => None,
        })
    }))
}

fn ended(store: &dyn Store, before: Timestamp) -> Result<Vec<RunId>, Error> {
    let mut ended = Vec::new();
    for &status in RunStatus::ALL.iter().filter(|status| status.is_terminal()) {
        let mut filter = RunFilter { status: Some(status), ..RunFilter::default() };
        loop {
            let page = store.runs(&filter, PAGE)?;
            let Some(last) = page.last() else { break };
            filter.before = Some(last.run_id);
            ended.extend(page.iter().filter(|row| row.updated_at <= before).map(|row| row.run_id));
        }
    }
    Ok(ended)
}

/// The versions of a skill that the runs which are left read.
fn versions_read(store: &dyn Store, skill: &str) -> Result<HashSet<String>, PruneError> {
    let mut filter = RunFilter { skill: Some(skill.to_owned()), ..RunFilter::default() };
    let mut versions = HashSet::new();
    loop {
        let page = store.runs(&filter, PAGE)?;
        let Some(last) = page.last() else { return Ok(versions) };
        filter.before = Some(last.run_id);
        for row in &page {
            versions.extend(spec(store, row.run_id)?.and_then(|spec| spec.skill_version));
        }
    }
}
