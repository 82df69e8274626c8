//! The states that were used last.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use adjourn_core::{Run, RunId};

use super::batch::Decision;

/// A bounded memory of states. One that is not durable yet is never forgotten for space: it is nowhere else.
pub(super) struct Warm {
    durable_max: usize,
    runs: HashMap<RunId, Entry>,
    /// The durable ones by when they were last used: the first is the next to go.
    by_use: BTreeMap<u64, RunId>,
    uses: u64,
}

struct Entry {
    run: Arc<Run>,
    /// Changes that are not durable yet.
    undurable: u32,
    used: u64,
}

impl Warm {
    pub(super) fn new(durable_max: usize) -> Self {
        Self { durable_max, runs: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    pub(super) fn get(&mut self, id: RunId) -> Option<Arc<Run>> {
        let entry = self.runs.get_mut(&id)?;
        if entry.undurable == 0 {
            self.by_use.remove(&entry.used);
            self.uses += 1;
            entry.used = self.uses;
            self.by_use.insert(entry.used, id);
        }
        Some(entry.run.clone())
    }

    pub(super) fn put_durable(&mut self, id: RunId, run: Arc<Run>) {
        self.uses += 1;
        self.runs.insert(id, Entry { run, undurable: 0, used: self.uses });
        self.by_use.insert(self.uses, id);
        self.forget_oldest();
    }

    /// A state with one more change that is not durable yet.
    pub(super) fn put_undurable(&mut self, id: RunId, run: Arc<Run>) {
        match self.runs.get_mut(&id) {
            Some(entry) => {
                self.by_use.remove(&entry.used);
                entry.run = run;
                entry.undurable += 1;
            }
            None => {
                self.runs.insert(id, Entry { run, undurable: 1, used: 0 });
            }
        }
    }

    /// One change of the run became durable.
    pub(super) fn made_durable(&mut self, id: RunId) {
        let Some(entry) = self.runs.get_mut(&id) else { return };
        entry.undurable = entry.undurable.saturating_sub(1);
        if entry.undurable > 0 {
            return;
        }
        if entry.run.status().is_terminal() {
            // Hardly anybody asks anything of a run that ended.
            self.runs.remove(&id);
            return;
        }
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, id);
        self.forget_oldest();
    }

    pub(super) fn forget(&mut self, id: RunId) {
        if let Some(entry) = self.runs.remove(&id) {
            self.by_use.remove(&entry.used);
        }
    }

    /// Whether everything that is known of the run is durable.
    pub(super) fn is_durable(&self, id: RunId) -> bool {
        self.runs.get(&id).is_none_or(|entry| entry.undurable == 0)
    }

    pub(super) fn undurable_len(&self) -> usize {
        self.runs.len() - self.by_use.len()
    }

    /// Whether the state that an open decision stands on is still the one that is remembered.
    pub(super) fn knows<T>(&self, decision: &Decision<T>) -> bool {
        self.runs.get(&decision.request.run_id).is_some_and(|entry| entry.undurable > 0)
    }

    fn forget_oldest(&mut self) {
        while self.by_use.len() > self.durable_max {
            let Some((_, id)) = self.by_use.pop_first() else { return };
            self.runs.remove(&id);
        }
    }
}
