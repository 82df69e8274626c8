//! A store in memory that loses what was not synced.
//!
//! A commit has two steps: [`write`](MemoryStore::write) hands the batch over, [`sync`](MemoryStore::sync) makes it
//! durable and visible. A [crash](MemoryStore::crash) between the two loses the batch, or keeps it although nobody was
//! told; whoever uses a store has to be right in both cases.

mod tables;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, Item, OpenInteraction, RoundtableId, RoundtableRow,
    RunId, RunRow, RunStatus, StreamId, Timestamp,
};
use adjourn_store::{
    After, Error, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter, Settled, Store,
};
use tokio::sync::watch;

use self::tables::Tables;

/// What becomes of a batch that was written and not synced when everything stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsynced {
    /// It is gone.
    Lost,
    /// It is there, and nobody was told.
    Kept,
}

/// A store in memory.
#[derive(Default)]
pub struct MemoryStore {
    /// Held by whoever commits, for as long as that takes.
    commits: Mutex<()>,
    /// Held for moments only.
    inside: Mutex<Inside>,
}

/// Items that are committed in place. More of them are committed to a copy, so that readers need not wait; for fewer,
/// the copy would take longer than the commit.
const IN_PLACE_MAX: usize = 256;

#[derive(Default)]
struct Inside {
    /// What is durable, and what readers see.
    tables: Tables,
    /// What was written and not synced.
    written: Option<Vec<Item>>,
    all: watch::Sender<u64>,
    streams: HashMap<StreamId, watch::Sender<u64>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first step of a commit. Nobody sees anything of it yet.
    pub fn write(&self, batch: &[Item]) {
        self.inside().written = Some(batch.to_vec());
    }

    /// The second step: what was written is durable, and everybody sees it.
    pub fn sync(&self) -> Vec<Outcome> {
        let written = self.inside().written.take();
        written.map_or_else(Vec::new, |batch| self.apply(&batch))
    }

    /// Gives up what was written, as a failed sync does.
    pub fn discard(&self) {
        self.inside().written = None;
    }

    /// What is left when everything stops just now.
    #[must_use]
    pub fn crash(&self, unsynced: Unsynced) -> Self {
        let written = self.inside().written.take();
        if let (Unsynced::Kept, Some(batch)) = (unsynced, written) {
            self.apply(&batch);
        }
        let tables = self.inside().tables.clone();
        let all = watch::Sender::new(tables.head());
        Self { inside: Mutex::new(Inside { tables, all, ..Inside::default() }), commits: Mutex::default() }
    }

    /// Makes the last entry of a stream unreadable, as a bad disk does.
    pub fn damage(&self, stream: StreamId) {
        self.inside().tables.damage(stream);
    }

    /// Removes a run that something still needs: what a planted bug does.
    pub(crate) fn remove_whatever_needs_it(&self, run: RunId) {
        self.inside().tables.remove_whatever_needs_it(run);
    }

    fn apply(&self, batch: &[Item]) -> Vec<Outcome> {
        let _alone = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        for item in batch {
            tables::assert_well_formed(item);
        }
        if batch.len() <= IN_PLACE_MAX {
            let mut inside = self.inside();
            let outcomes = inside.tables.commit_all(batch);
            inside.announce(batch, &outcomes);
            return outcomes;
        }
        let mut tables = self.inside().tables.clone();
        let outcomes = tables.commit_all(batch);
        let mut inside = self.inside();
        inside.tables = tables;
        inside.announce(batch, &outcomes);
        outcomes
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        // A panic is an assertion about a batch, before anything of it was applied.
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inside {
    /// Tells whoever watches what a batch came to.
    fn announce(&self, batch: &[Item], outcomes: &[Outcome]) {
        for (item, outcome) in batch.iter().zip(outcomes) {
            if let Outcome::Accepted { position } = outcome
                && let Some(sender) = self.streams.get(&item.stream)
            {
                sender.send_replace(*position);
            }
        }
        if self.tables.head() > *self.all.borrow() {
            self.all.send_replace(self.tables.head());
        }
    }
}

impl Store for MemoryStore {
    fn commit(&self, batch: &[Item]) -> Result<Vec<Outcome>, Error> {
        Ok(self.apply(batch))
    }

    fn read(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.inside().tables.read(stream, after, limit))
    }

    fn read_all(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.inside().tables.read_all(position, limit))
    }

    fn head(&self) -> Result<u64, Error> {
        Ok(self.inside().tables.head())
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.inside().all.subscribe()
    }

    fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64> {
        let mut inside = self.inside();
        let last = inside.tables.last_position(stream);
        inside.streams.entry(stream).or_insert_with(|| watch::Sender::new(last)).subscribe()
    }

    fn run(&self, id: RunId) -> Result<Option<RunRow>, Error> {
        Ok(self.inside().tables.run(id))
    }

    fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
        Ok(self.inside().tables.runs(filter, limit))
    }

    fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        Ok(self.inside().tables.run_counts())
    }

    fn roundtable_counts(&self) -> Result<Vec<(RoundtableStatus, u64)>, Error> {
        Ok(self.inside().tables.roundtable_counts())
    }

    fn roundtable(&self, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
        Ok(self.inside().tables.roundtable(id))
    }

    fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error> {
        Ok(self.inside().tables.roundtables(filter, limit))
    }

    fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error> {
        Ok(self.inside().tables.open_interactions(after, limit))
    }

    fn deadlines(&self, limit: usize) -> Result<Vec<OpenInteraction>, Error> {
        Ok(self.inside().tables.deadlines(limit))
    }

    fn contract(&self, id: ExecutionId) -> Result<Option<ContractRow>, Error> {
        Ok(self.inside().tables.contract(id))
    }

    fn holder(&self, key: &ClaimKey) -> Result<Option<Holder>, Error> {
        Ok(self.inside().tables.holder(key))
    }

    fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error> {
        Ok(self.inside().tables.notices(limit))
    }

    fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error> {
        let mut inside = self.inside();
        settled.iter().for_each(|settled| inside.tables.settle_notice(*settled));
        Ok(())
    }

    fn remove(&self, stream: StreamId) -> Result<Removal, Error> {
        Ok(match stream {
            StreamId::Run(id) => self.inside().tables.remove(id),
            StreamId::Roundtable(id) => self.inside().tables.remove_roundtable(id),
        })
    }

    fn forget_keys(&self, made_before: Timestamp) -> Result<u64, Error> {
        Ok(self.inside().tables.forget_keys(made_before))
    }
}
