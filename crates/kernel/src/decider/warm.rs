//! The states that were used last.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use adjourn_core::Stream;

use super::batch::Decision;

/// A bounded memory of states. One that is not durable yet is never forgotten for space: it is nowhere else.
pub(super) struct Warm<S: Stream> {
    durable_max: usize,
    states: HashMap<S::Id, Entry<S>>,
    /// The durable ones by when they were last used: the first is the next to go.
    by_use: BTreeMap<u64, S::Id>,
    uses: u64,
}

struct Entry<S> {
    state: Arc<S>,
    /// Changes that are not durable yet.
    undurable: u32,
    used: u64,
}

impl<S: Stream> Warm<S> {
    pub(super) fn new(durable_max: usize) -> Self {
        Self { durable_max, states: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }

    pub(super) fn get(&mut self, id: S::Id) -> Option<Arc<S>> {
        let entry = self.states.get_mut(&id)?;
        if entry.undurable == 0 {
            self.by_use.remove(&entry.used);
            self.uses += 1;
            entry.used = self.uses;
            self.by_use.insert(entry.used, id);
        }
        Some(entry.state.clone())
    }

    pub(super) fn put_durable(&mut self, id: S::Id, state: Arc<S>) {
        self.uses += 1;
        self.states.insert(id, Entry { state, undurable: 0, used: self.uses });
        self.by_use.insert(self.uses, id);
        self.forget_oldest();
    }

    /// A state with one more change that is not durable yet.
    pub(super) fn put_undurable(&mut self, id: S::Id, state: Arc<S>) {
        match self.states.get_mut(&id) {
            Some(entry) => {
                self.by_use.remove(&entry.used);
                entry.state = state;
                entry.undurable += 1;
            }
            None => {
                self.states.insert(id, Entry { state, undurable: 1, used: 0 });
            }
        }
    }

    /// One change of the stream became durable.
    pub(super) fn made_durable(&mut self, id: S::Id) {
        let Some(entry) = self.states.get_mut(&id) else { return };
        entry.undurable = entry.undurable.saturating_sub(1);
        if entry.undurable > 0 {
            return;
        }
        if entry.state.is_over() {
            // Hardly anybody asks anything of a stream that is over.
            self.states.remove(&id);
            return;
        }
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, id);
        self.forget_oldest();
    }

    pub(super) fn forget(&mut self, id: S::Id) {
        if let Some(entry) = self.states.remove(&id) {
            self.by_use.remove(&entry.used);
        }
    }

    /// Whether everything that is known of the stream is durable.
    pub(super) fn is_durable(&self, id: S::Id) -> bool {
        self.states.get(&id).is_none_or(|entry| entry.undurable == 0)
    }

    pub(super) fn undurable_len(&self) -> usize {
        self.states.len() - self.by_use.len()
    }

    /// Whether the state that an open decision stands on is still the one that is remembered.
    pub(super) fn knows<T>(&self, decision: &Decision<T, S>) -> bool {
        self.states.get(&decision.request.id).is_some_and(|entry| entry.undurable > 0)
    }

    fn forget_oldest(&mut self) {
        while self.by_use.len() > self.durable_max {
            let Some((_, id)) = self.by_use.pop_first() else { return };
            self.states.remove(&id);
        }
    }
}
