//! The streams that somebody reads, each of them once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use adjourn_core::{RoundtableId, RunId};
use adjourn_store::{Error, Store};

use crate::api::all_events::Changes;
use crate::api::events::Reader;
use crate::api::roundtables::RoundtableReader;
use crate::stream::cache::{Shared, Source};

/// Streams that may be registered before those that nobody reads any more are first looked for.
const SWEEP_FIRST: usize = 64;

/// The streams that somebody reads. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Inside>);

#[derive(Default)]
struct Inside {
    runs: Registry<RunId, Reader>,
    roundtables: Registry<RoundtableId, RoundtableReader>,
    /// Of everything: kept from the first reader on, because the next one is never far.
    all: OnceLock<Arc<Shared<Changes>>>,
}

impl Streams {
    /// The stream of a run, whose last frame so far is `end`.
    pub(crate) fn run(&self, reader: Reader, end: u64) -> Arc<Shared<Reader>> {
        self.0.runs.stream(reader.id, reader, end)
    }

    /// The stream of a roundtable, whose last frame so far is `end`.
    pub(crate) fn roundtable(&self, reader: RoundtableReader, end: u64) -> Arc<Shared<RoundtableReader>> {
        self.0.roundtables.stream(reader.id, reader, end)
    }

    /// The stream of all state changes.
    pub(crate) fn all(&self, store: &Arc<dyn Store>) -> Result<Arc<Shared<Changes>>, Error> {
        if let Some(shared) = self.0.all.get() {
            return Ok(shared.clone());
        }
        let head = store.head()?;
        Ok(self.0.all.get_or_init(|| Arc::new(Shared::new(Changes::new(store.clone()), head))).clone())
    }
}

/// The streams of one kind that somebody reads.
struct Registry<K, S>(Mutex<Registered<K, S>>);

struct Registered<K, S> {
    streams: HashMap<K, Weak<Shared<S>>>,
    /// How many there may be before those without readers are dropped: twice those that have some, so that sweeping
    /// costs a constant amount per registration.
    sweep_at: usize,
}

impl<K, S> Default for Registry<K, S> {
    fn default() -> Self {
        Self(Mutex::new(Registered { streams: HashMap::new(), sweep_at: 0 }))
    }
}

impl<K: Eq + Hash, S: Source> Registry<K, S> {
    fn stream(&self, id: K, source: S, end: u64) -> Arc<Shared<S>> {
        let mut registered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = registered.streams.get(&id).and_then(Weak::upgrade) {
            return shared;
        }
        if registered.streams.len() >= registered.sweep_at {
            registered.streams.retain(|_, shared| shared.strong_count() > 0);
            registered.sweep_at = SWEEP_FIRST.max(2 * registered.streams.len());
        }
        let shared = Arc::new(Shared::new(source, end));
        registered.streams.insert(id, Arc::downgrade(&shared));
        shared
    }
}
