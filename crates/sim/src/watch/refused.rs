//! What was refused is never there, whatever crashes.

use std::collections::BTreeMap;

use adjourn_core::{Item, StreamId};
use adjourn_store::{After, Store};

use crate::report::{Violation, ensure};

/// Items that were refused since the last crash, by their place.
#[derive(Default)]
pub(super) struct Refused(BTreeMap<(StreamId, u64), Vec<Vec<u8>>>);

impl Refused {
    pub(super) fn add(&mut self, items: &[Item]) {
        for item in items {
            self.0.entry((item.stream, item.expected_seq)).or_default().push(item.payload.clone());
        }
    }

    pub(super) fn remove(&mut self, items: &[Item]) {
        for item in items {
            self.0.remove(&(item.stream, item.expected_seq));
        }
    }

    pub(super) fn stays_away(&mut self, store: &dyn Store) -> Result<(), Violation> {
        for ((stream, before), payloads) in std::mem::take(&mut self.0) {
            let found = store.read(stream, After::Seq(before), 1).unwrap_or_default();
            let is_back = found.first().is_some_and(|entry| payloads.contains(&entry.payload));
            ensure(!is_back, "what was refused never happens", || format!("{stream} after event {before}"))?;
        }
        Ok(())
    }
}
