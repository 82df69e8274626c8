//! The SQLite store keeps every promise of a store.

use adjourn_store::conformance::Fixture;
use adjourn_store::{SqliteStore, Store};
use tempfile::TempDir;

struct InDirectory {
    /// None only while it is opened again.
    store: Option<SqliteStore>,
    dir: TempDir,
}

impl InDirectory {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { store: Some(SqliteStore::open(dir.path()).unwrap()), dir }
    }
}

impl Fixture for InDirectory {
    fn store(&self) -> &dyn Store {
        self.store.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.store = None;
        self.store = Some(SqliteStore::open(self.dir.path()).unwrap());
    }
}

adjourn_store::store_conformance!(InDirectory::new());
