//! What a crash leaves: the store behind the kernel, with its two steps and its faults.

use std::path::Path;
use std::sync::Arc;

use adjourn_core::{Item, RunId};
use adjourn_store::{Error, Outcome, SqliteStore, Store};

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

    /// Removes a run that something still needs, where a bug wants that. Bugs are planted in memory only.
    fn remove_whatever_needs_it(&self, _run: RunId) {}

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

    fn remove_whatever_needs_it(&self, run: RunId) {
        self.0.remove_whatever_needs_it(run);
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

/// A disk with [`AcknowledgesEarly`](crate::Bug::AcknowledgesEarly): what it says is durable is only so after the next commit.
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
