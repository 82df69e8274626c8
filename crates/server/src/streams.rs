//! The streams that somebody reads, each of them once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use adjourn_core::RunId;
use adjourn_store::{Error, Store};

use crate::events::Reader;
use crate::feed::Changes;
use crate::shared::Shared;

/// Streams that may be registered before those that nobody reads any more are first looked for.
const SWEEP_FIRST: usize = 64;

/// The streams that somebody reads. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Inside>);

#[derive(Default)]
struct Inside {
    runs: Mutex<Runs>,
    /// Of all runs: kept from the first reader on, because the next one is never far.
    all: OnceLock<Arc<Shared<Changes>>>,
}

#[derive(Default)]
struct Runs {
    streams: HashMap<RunId, Weak<Shared<Reader>>>,
    /// How many there may be before those without readers are dropped: twice those that have some, so that sweeping
    /// costs a constant amount per registration.
    sweep_at: usize,
}

impl Streams {
    /// The stream of a run, whose last frame so far is `end`.
    pub(crate) fn run(&self, reader: Reader, end: u64) -> Arc<Shared<Reader>> {
        let mut runs = self.0.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = runs.streams.get(&reader.id).and_then(Weak::upgrade) {
            return shared;
        }
        if runs.streams.len() >= runs.sweep_at {
            runs.streams.retain(|_, shared| shared.strong_count() > 0);
            runs.sweep_at = SWEEP_FIRST.max(2 * runs.streams.len());
        }
        let id = reader.id;
        let shared = Arc::new(Shared::new(reader, end));
        runs.streams.insert(id, Arc::downgrade(&shared));
        shared
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
