//! The store in memory keeps every promise of a store, and forgets what was not synced.

use adjourn_sim::{MemoryStore, Unsynced};
use adjourn_store::conformance::Fixture;
use adjourn_store::conformance::items::Script;
use adjourn_store::{Outcome, Store};

struct InMemory(MemoryStore);

impl Fixture for InMemory {
    fn store(&self) -> &dyn Store {
        &self.0
    }

    fn reopen(&mut self) {
        self.0 = self.0.crash(Unsynced::Lost);
    }
}

adjourn_store::store_conformance!(InMemory(MemoryStore::new()));

#[test]
fn a_crash_between_the_two_steps_loses_the_batch_or_keeps_it() {
    for (unsynced, head) in [(Unsynced::Lost, 0), (Unsynced::Kept, 2)] {
        let store = MemoryStore::new();
        store.write(&[Script::run(1).next(2, 1, "written")]);
        assert_eq!(store.head().unwrap(), 0, "nobody sees what is not synced");
        assert_eq!(store.crash(unsynced).head().unwrap(), head);
    }
}

#[test]
fn what_was_synced_survives_and_what_was_given_up_does_not() {
    let store = MemoryStore::new();
    let mut run = Script::run(1);
    store.write(&[run.next(2, 1, "synced")]);
    assert_eq!(store.sync(), [Outcome::Accepted { position: 2 }]);
    store.write(&[run.next(1, 1, "given up")]);
    store.discard();
    assert_eq!(store.sync(), []);
    assert_eq!(store.crash(Unsynced::Kept).head().unwrap(), 2);
}
