//! A store that does not always answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, Item, OpenInteraction, RoundtableId, RoundtableRow,
    RunId, RunRow, RunStatus, StreamId, Timestamp,
};
use adjourn_store::{
    After, Error, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter, Settled, Store,
};
use tokio::sync::watch;

use crate::bug::Bug;

/// Another store, whose reads fail when they are told to.
pub struct FlakyStore {
    inner: Arc<dyn Store>,
    /// Reads that work before the first that does not.
    spared: AtomicU32,
    /// Reads that fail after those, before the next one that works.
    failing: Arc<AtomicU32>,
    bug: Option<Bug>,
}

impl FlakyStore {
    /// A store over `inner`. Nothing fails yet.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self::with(inner, Arc::default(), None)
    }

    /// A store over `inner`, some of whose reads fail as `failing` says, and that may have a planted bug.
    pub(crate) fn with(inner: Arc<dyn Store>, failing: Arc<AtomicU32>, bug: Option<Bug>) -> Self {
        Self { inner, spared: AtomicU32::new(0), failing, bug }
    }

    /// Has `count` reads fail after the next `spared`.
    pub fn fail_reads_after(&self, spared: u32, count: u32) {
        self.spared.store(spared, Ordering::Relaxed);
        self.failing.store(count, Ordering::Relaxed);
    }

    fn check(&self) -> Result<(), Error> {
        let fails = self.failing.load(Ordering::Relaxed);
        let spared = self.spared.load(Ordering::Relaxed);
        if fails == 0 {
            return Ok(());
        }
        if spared > 0 {
            self.spared.store(spared - 1, Ordering::Relaxed);
            return Ok(());
        }
        self.failing.store(fails - 1, Ordering::Relaxed);
        Err(Error::Failed { doing: "read", problem: "the disk does not answer".to_owned() })
    }
}

impl Store for FlakyStore {
    fn commit(&self, batch: &[Item]) -> Result<Vec<Outcome>, Error> {
        self.inner.commit(batch)
    }

    fn read(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error> {
        self.check()?;
        self.inner.read(stream, after, limit)
    }

    fn read_all(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        self.check()?;
        self.inner.read_all(position, limit)
    }

    fn head(&self) -> Result<u64, Error> {
        self.check()?;
        self.inner.head()
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.inner.watch()
    }

    fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64> {
        self.inner.watch_stream(stream)
    }

    fn run(&self, id: RunId) -> Result<Option<RunRow>, Error> {
        self.check()?;
        self.inner.run(id)
    }

    fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
        self.check()?;
        if self.bug == Some(Bug::ForgetsRunning) && filter.status == Some(RunStatus::Running) {
            return Ok(Vec::new());
        }
        self.inner.runs(filter, limit)
    }

    fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.check()?;
        self.inner.run_counts()
    }

    fn roundtable_counts(&self) -> Result<Vec<(RoundtableStatus, u64)>, Error> {
        self.check()?;
        self.inner.roundtable_counts()
    }

    fn roundtable(&self, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
        self.check()?;
        self.inner.roundtable(id)
    }

    fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error> {
        self.check()?;
        if self.bug == Some(Bug::ForgetsRoundtables) {
            return Ok(Vec::new());
        }
        self.inner.roundtables(filter, limit)
    }

    fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error> {
        self.check()?;
        self.inner.open_interactions(after, limit)
    }

    fn deadlines(&self, limit: usize) -> Result<Vec<OpenInteraction>, Error> {
        self.check()?;
        self.inner.deadlines(limit)
    }

    fn contract(&self, id: ExecutionId) -> Result<Option<ContractRow>, Error> {
        self.check()?;
        self.inner.contract(id)
    }

    fn holder(&self, key: &ClaimKey) -> Result<Option<Holder>, Error> {
        self.check()?;
        self.inner.holder(key)
    }

    fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error> {
        self.check()?;
        self.inner.notices(limit)
    }

    fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error> {
        self.inner.settle_notices(settled)
    }

    fn remove(&self, stream: StreamId) -> Result<Removal, Error> {
        self.inner.remove(stream)
    }

    fn forget_keys(&self, made_before: Timestamp) -> Result<u64, Error> {
        self.inner.forget_keys(made_before)
    }
}
