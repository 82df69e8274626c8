//! What a crash leaves: the store behind the kernel, with its two steps and its faults.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, Item, OpenInteraction, RunId, RunRow, RunStatus,
    StreamId,
};
use adjourn_store::{After, Error, OpenCursor, Outcome, RunFilter, SqliteStore, Store};
use tokio::sync::watch;

use crate::bug::Bug;
use crate::memory::{MemoryStore, Unsynced};

/// A store that can be stopped at any moment.
pub(crate) trait Disk {
    /// Everything that would be there if everything stopped now.
    fn durable(&self) -> Arc<dyn Store>;

    /// What readers see. The same, unless a bug was planted.
    fn visible(&self) -> Arc<dyn Store> {
        self.durable()
    }

    /// The first step of a commit.
    fn write(&mut self, items: &[Item]);

    /// The second step.
    fn sync(&mut self) -> Result<Vec<Outcome>, Error>;

    /// Gives up what was written.
    fn discard(&mut self);

    /// Stops, and starts again with what is left. Nobody else has a handle to the store by now.
    fn crash(&mut self, unsynced: Unsynced);
}

/// A disk in memory.
#[derive(Default)]
pub(crate) struct MemoryDisk(Arc<MemoryStore>);

impl Disk for MemoryDisk {
    fn durable(&self) -> Arc<dyn Store> {
        self.0.clone()
    }

    fn write(&mut self, items: &[Item]) {
        self.0.write(items);
    }

    fn sync(&mut self) -> Result<Vec<Outcome>, Error> {
        Ok(self.0.sync())
    }

    fn discard(&mut self) {
        self.0.discard();
    }

    fn crash(&mut self, unsynced: Unsynced) {
        self.0 = Arc::new(self.0.crash(unsynced));
    }
}

/// The real store, in a directory. What is written but not synced is kept here: SQLite itself has no such moment that
/// could be stopped at from inside the process.
pub(crate) struct SqliteDisk {
    /// None only while it is opened again.
    store: Option<Arc<SqliteStore>>,
    written: Option<Vec<Item>>,
    dir: tempfile::TempDir,
}

impl SqliteDisk {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let dir = tempfile::tempdir()?;
        let store = open(dir.path())?;
        Ok(Self { store: Some(store), written: None, dir })
    }

    fn open_store(&self) -> &Arc<SqliteStore> {
        self.store.as_ref().expect("it is only gone while it is opened again")
    }
}

fn open(dir: &Path) -> Result<Arc<SqliteStore>, Error> {
    SqliteStore::open(dir).map(Arc::new)
}

impl Disk for SqliteDisk {
    fn durable(&self) -> Arc<dyn Store> {
        self.open_store().clone()
    }

    fn write(&mut self, items: &[Item]) {
        self.written = Some(items.to_vec());
    }

    fn sync(&mut self) -> Result<Vec<Outcome>, Error> {
        let written = self.written.take().unwrap_or_default();
        self.open_store().commit(&written)
    }

    fn discard(&mut self) {
        self.written = None;
    }

    fn crash(&mut self, unsynced: Unsynced) {
        match unsynced {
            Unsynced::Kept => _ = self.sync(),
            Unsynced::Lost => self.discard(),
        }
        // Dropped before it is opened again: one process at a time owns a directory, and one store of ours too.
        self.store = None;
        self.store = Some(open(self.dir.path()).expect("what a crash left of a store can be opened"));
    }
}

/// A disk with [`Bug::AcknowledgesEarly`]: what it says is durable is only so after the next commit.
#[derive(Default)]
pub(crate) struct HastyDisk {
    visible: MemoryDisk,
    durable: MemoryDisk,
    /// Acknowledged, and not durable.
    owed: Vec<Vec<Item>>,
    written: Vec<Item>,
}

impl Disk for HastyDisk {
    fn durable(&self) -> Arc<dyn Store> {
        self.durable.durable()
    }

    fn visible(&self) -> Arc<dyn Store> {
        self.visible.durable()
    }

    fn write(&mut self, items: &[Item]) {
        self.written = items.to_vec();
        self.visible.write(items);
    }

    fn sync(&mut self) -> Result<Vec<Outcome>, Error> {
        for items in self.owed.drain(..) {
            self.durable.write(&items);
            self.durable.sync()?;
        }
        self.owed.push(std::mem::take(&mut self.written));
        self.visible.sync()
    }

    fn discard(&mut self) {
        self.visible.discard();
    }

    fn crash(&mut self, unsynced: Unsynced) {
        self.durable.crash(unsynced);
        self.owed.clear();
        self.visible = MemoryDisk(Arc::new(self.durable.0.crash(Unsynced::Lost)));
    }
}

/// What the kernel is given: a store whose reads can fail, and that may have a planted bug.
pub(crate) struct Flaky {
    pub(crate) inner: Arc<dyn Store>,
    /// Reads that fail before the next one that does not.
    pub(crate) failing: Arc<AtomicU32>,
    pub(crate) bug: Option<Bug>,
}

impl Flaky {
    fn check(&self) -> Result<(), Error> {
        let fails = self.failing.load(Ordering::Relaxed);
        if fails == 0 {
            return Ok(());
        }
        self.failing.store(fails - 1, Ordering::Relaxed);
        Err(Error::Failed { doing: "read", problem: "the disk does not answer".to_owned() })
    }
}

impl Store for Flaky {
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

    fn remove(&self, run: RunId) -> Result<bool, Error> {
        self.inner.remove(run)
    }
}
