//! The registry of stream caches: one cache for each stream that has readers.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use adjourn_core::{RoundtableId, RunId};
use adjourn_runtime::Journal;
use adjourn_store::Error;

use crate::stream::all_events::AllEventsReader;
use crate::stream::cache::{StreamCache, StreamSource};
use crate::stream::roundtable_reader::RoundtableReader;
use crate::stream::run_reader::RunReader;

/// Caches that may be registered before those without readers are dropped for the first time.
const SWEEP_FIRST: usize = 64;

/// The caches of all streams that have readers. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct StreamRegistry(Arc<Caches>);

#[derive(Default)]
struct Caches {
    runs: CachesById<RunId, RunReader>,
    roundtables: CachesById<RoundtableId, RoundtableReader>,
    /// The stream of all events: kept from the first reader on, because the next one is never far.
    all: OnceLock<Arc<StreamCache<AllEventsReader>>>,
}

impl StreamRegistry {
    /// The stream of a run, whose last frame so far is `end`.
    pub(crate) fn run(&self, reader: RunReader, end: u64) -> Arc<StreamCache<RunReader>> {
        self.0.runs.stream(reader.id, reader, end)
    }

    /// The stream of a roundtable, whose last frame so far is `end`.
    pub(crate) fn roundtable(
        &self,
        reader: RoundtableReader,
        end: u64,
    ) -> Arc<StreamCache<RoundtableReader>> {
        self.0.roundtables.stream(reader.id, reader, end)
    }

    /// The stream of all state changes.
    pub(crate) fn all(&self, journal: Journal) -> Result<Arc<StreamCache<AllEventsReader>>, Error> {
        if let Some(cache) = self.0.all.get() {
            return Ok(cache.clone());
        }
        let head = journal.head()?;
        Ok(self.0.all.get_or_init(|| Arc::new(StreamCache::new(AllEventsReader::new(journal), head))).clone())
    }
}

/// The caches of one kind of stream.
struct CachesById<K, S>(Mutex<Registered<K, S>>);

struct Registered<K, S> {
    streams: HashMap<K, Weak<StreamCache<S>>>,
    /// How many there may be before those without readers are dropped: twice those that have some, so that sweeping
    /// costs a constant amount per registration.
    sweep_at: usize,
}

impl<K, S> Default for CachesById<K, S> {
    fn default() -> Self {
        Self(Mutex::new(Registered { streams: HashMap::new(), sweep_at: 0 }))
    }
}

impl<K: Eq + Hash, S: StreamSource> CachesById<K, S> {
    fn stream(&self, id: K, source: S, end: u64) -> Arc<StreamCache<S>> {
        let mut registered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = registered.streams.get(&id).and_then(Weak::upgrade) {
            return cache;
        }
        if registered.streams.len() >= registered.sweep_at {
            registered.streams.retain(|_, cache| cache.strong_count() > 0);
            registered.sweep_at = SWEEP_FIRST.max(2 * registered.streams.len());
        }
        let cache = Arc::new(StreamCache::new(source, end));
        registered.streams.insert(id, Arc::downgrade(&cache));
        cache
    }
}
