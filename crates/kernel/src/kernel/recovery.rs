//! What a restart left behind, put right in the background.
//!
//! Runs that were running come first, then those that waited. A run that somebody asks for before its turn is put
//! right at once, and what was asked waits for that. Queued runs are put right when they get their slot.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use adjourn_core::{Command, RunId, RunRow, RunStatus, Survey};
use adjourn_store::{Error, RunFilter, Store};

use super::scheduler::Scheduler;

/// Runs that are looked at in one step: small enough that whoever asks something in between hardly waits.
const SWEEP_PAGE: usize = 64;

/// Rows that are read at once while the queue is filled after a restart.
const QUEUE_PAGE: usize = 1000;

/// What a restart left behind and is not put right yet.
pub(super) struct Recovery<T> {
    /// The newest run there was at the start: whatever is newer was created since.
    newest: Option<RunId>,
    /// Which statuses are still to be swept.
    sweep: VecDeque<RunStatus>,
    /// The last run of the current status that was looked at.
    after: Option<RunId>,
    /// Old runs that are right. Only needed as long as the sweep goes on.
    right: HashSet<RunId>,
    /// Runs whose surroundings are being looked at, and what was asked of them meanwhile.
    surveying: HashMap<RunId, Vec<(Command, T)>>,
    /// Runs that were queued at the start and did not get their slot yet.
    queued: HashSet<RunId>,
    /// Runs that could not be put right because the journal did not answer, and what was found of their surroundings.
    again: BTreeMap<RunId, Option<Survey>>,
}

impl<T> Recovery<T> {
    /// Finds out what there is, without loading any of it: fills the queue again, and has running runs keep their slots.
    pub(super) fn begin(store: &dyn Store, scheduler: &mut Scheduler) -> Result<Self, Error> {
        let newest = store.runs(&RunFilter::default(), 1)?.into_iter().next().map(|row| row.run_id);
        for row in all(store, RunStatus::Running)? {
            scheduler.hold(&row);
        }
        let mut queued = all(store, RunStatus::Queued)?;
        queued.sort_by_key(|row| (row.updated_at, row.run_id));
        for row in &queued {
            scheduler.enqueue(row);
        }
        Ok(Self {
            newest,
            sweep: VecDeque::from([RunStatus::Running, RunStatus::WaitingUser]),
            after: None,
            right: HashSet::new(),
            surveying: HashMap::new(),
            queued: queued.into_iter().map(|row| row.run_id).collect(),
            again: BTreeMap::new(),
        })
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        self.sweep.len() + self.right.len() + self.surveying.len() + self.queued.len() + self.again.len()
    }

    /// Whether there are runs that nobody looked at yet, and it is time to.
    pub(super) fn is_sweeping(&self) -> bool {
        !self.sweep.is_empty() && self.surveying.len() < SWEEP_PAGE
    }

    /// Whether a run is as the restart left it.
    pub(super) fn is_due(&self, id: RunId) -> bool {
        let is_unswept = !self.sweep.is_empty() && self.is_old(id) && !self.right.contains(&id);
        is_unswept || self.surveying.contains_key(&id) || self.queued.contains(&id)
    }

    /// The run is right, or there is no such run.
    pub(super) fn is_right(&mut self, id: RunId) {
        self.queued.remove(&id);
        if !self.sweep.is_empty() && self.is_old(id) {
            self.right.insert(id);
        }
    }

    /// Notes that a run's surroundings are being looked at; false where they are already.
    pub(super) fn begin_survey(&mut self, id: RunId) -> bool {
        match self.surveying.entry(id) {
            Entry::Occupied(_) => false,
            Entry::Vacant(vacant) => {
                vacant.insert(Vec::new());
                true
            }
        }
    }

    /// Whether a run's surroundings are being looked at.
    pub(super) fn is_surveying(&self, id: RunId) -> bool {
        self.surveying.contains_key(&id)
    }

    /// The journal did not answer: the run is put right later, and whatever is asked of it waits.
    pub(super) fn put_off(&mut self, id: RunId, survey: Option<Survey>) {
        self.surveying.entry(id).or_default();
        self.again.insert(id, survey);
    }

    /// Whether the run is to be put right later.
    pub(super) fn is_put_off(&self, id: RunId) -> bool {
        self.again.contains_key(&id)
    }

    /// The runs that were put off.
    pub(super) fn take_put_off(&mut self) -> BTreeMap<RunId, Option<Survey>> {
        std::mem::take(&mut self.again)
    }

    /// Keeps a request until its run is right.
    pub(super) fn hold(&mut self, id: RunId, command: Command, ticket: T) {
        self.surveying.entry(id).or_default().push((command, ticket));
    }

    /// The surroundings were looked at: here is what was asked meanwhile.
    pub(super) fn surveyed(&mut self, id: RunId) -> Vec<(Command, T)> {
        self.is_right(id);
        self.surveying.remove(&id).unwrap_or_default()
    }

    /// The next runs to look at.
    pub(super) fn next_page(&mut self, store: &dyn Store) -> Result<Vec<RunId>, Error> {
        while self.is_sweeping() {
            let Some(&status) = self.sweep.front() else { break };
            let filter = RunFilter { status: Some(status), before: self.after, ..RunFilter::default() };
            let rows = store.runs(&filter, SWEEP_PAGE)?;
            let Some(last) = rows.last() else {
                self.sweep.pop_front();
                self.after = None;
                continue;
            };
            self.after = Some(last.run_id);
            let due: Vec<_> = rows.iter().map(|row| row.run_id).filter(|id| self.is_due(*id)).collect();
            if !due.is_empty() {
                return Ok(due);
            }
        }
        if self.sweep.is_empty() {
            self.right = HashSet::new();
        }
        Ok(Vec::new())
    }

    /// Whether there was such a run at the start.
    pub(super) fn is_old(&self, id: RunId) -> bool {
        self.newest.is_some_and(|newest| id <= newest)
    }
}

/// All rows of one status, for the statuses that are bounded by the slots and by the queue.
fn all(store: &dyn Store, status: RunStatus) -> Result<Vec<RunRow>, Error> {
    let mut rows = Vec::new();
    let mut filter = RunFilter { status: Some(status), ..RunFilter::default() };
    loop {
        let page = store.runs(&filter, QUEUE_PAGE)?;
        filter.before = page.last().map(|row| row.run_id);
        let is_last = page.len() < QUEUE_PAGE;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}
