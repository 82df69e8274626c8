//! The cache of a stream: the journal is read once for all its readers.
//!
//! What was read and rendered last is kept for those who come next, up to a limit. A reader that is further behind than
//! that reads pages of its own until it has caught up. So an event is read and rendered once, however many readers it
//! has, and a slow one costs nothing but what is on its way to it.

use std::collections::VecDeque;
use std::sync::Arc;

use adjourn_store::Error;
use axum::body::Bytes;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::stream::sse::Events;

/// Events that are kept for the next reader: what comes within a second on a busy stream.
const KEPT_MAX: usize = 1024;

/// Bytes of events that are kept. A frame can hold a whole message of an agent; a reader that is behind such ones reads
/// them from the journal.
const KEPT_BYTES_MAX: usize = 128 * 1024;

/// Where the events of a stream come from.
pub(crate) trait StreamSource: Send + Sync + 'static {
    /// The next events after `after`, as many as are read at once. Blocks.
    fn read(&self, after: u64) -> Result<EventPage, Error>;
}

/// Some events of a stream, in order.
#[derive(Debug, Default)]
pub(crate) struct EventPage {
    pub(crate) events: Vec<RenderedEvent>,
    /// Up to where the stream was read, which can be further than the last of the events.
    pub(crate) upto: u64,
    /// There was nothing more.
    pub(crate) is_all: bool,
}

/// An event as it is sent to every reader.
#[derive(Debug, Clone)]
pub(crate) struct RenderedEvent {
    pub(crate) id: u64,
    pub(crate) bytes: Bytes,
    /// Nothing comes after it.
    pub(crate) is_last: bool,
}

impl RenderedEvent {
    /// A frame of a stream that ends with `terminal` in its `data`.
    pub(crate) fn of(seq: u64, frame: &impl Serialize, data: &Value) -> Result<Self, Error> {
        let mut events = Events::default();
        let written = events.message(seq, frame);
        written.map_err(|error| Error::Damaged { problem: format!("frame {seq}: {error}") })?;
        Ok(Self { id: seq, bytes: events.into_bytes(), is_last: data.get("terminal").is_some() })
    }
}

/// A stream with the events that were read from it last.
pub(crate) struct StreamCache<S> {
    source: Arc<S>,
    recent: Mutex<Recent>,
}

/// Every event after `begin` up to `end`.
struct Recent {
    begin: u64,
    end: u64,
    /// The commit at which there was nothing after `end`.
    commit: u64,
    events: VecDeque<RenderedEvent>,
    bytes: usize,
}

impl<S: StreamSource> StreamCache<S> {
    /// A stream of which nothing is kept yet. What comes after `end` will be.
    pub(crate) fn new(source: S, end: u64) -> Self {
        let recent = Recent { begin: end, end, commit: 0, events: VecDeque::new(), bytes: 0 };
        Self { source: Arc::new(source), recent: Mutex::new(recent) }
    }

    /// The next events after `after`, for a reader that knows of `commit` and the ones before it.
    pub(crate) async fn next(&self, after: u64, commit: u64) -> Result<EventPage, Error> {
        let mut recent = self.recent.lock().await;
        if after >= recent.end && recent.commit < commit {
            // Everybody who wants the same waits for the lock meanwhile, and finds it read.
            let page = self.read(recent.end).await?;
            recent.add(page, commit);
        }
        if after < recent.begin {
            drop(recent);
            return self.read(after).await;
        }
        Ok(recent.after(after, commit))
    }

    async fn read(&self, after: u64) -> Result<EventPage, Error> {
        let source = self.source.clone();
        let read = tokio::task::spawn_blocking(move || source.read(after)).await;
        read.unwrap_or_else(|error| Err(Error::Failed { doing: "be read", problem: error.to_string() }))
    }
}

impl Recent {
    fn add(&mut self, page: EventPage, commit: u64) {
        self.end = page.upto;
        if page.is_all {
            self.commit = commit;
        }
        self.bytes += page.events.iter().map(|event| event.bytes.len()).sum::<usize>();
        self.events.extend(page.events);
        while self.events.len() > KEPT_MAX || self.bytes > KEPT_BYTES_MAX {
            let Some(oldest) = self.events.pop_front() else { return };
            self.begin = oldest.id;
            self.bytes -= oldest.bytes.len();
        }
    }

    fn after(&self, after: u64, commit: u64) -> EventPage {
        let first = self.events.partition_point(|event| event.id <= after);
        let events = self.events.range(first..).cloned().collect();
        EventPage { events, upto: self.end.max(after), is_all: self.commit >= commit }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

    use adjourn_store::Error;
    use axum::body::Bytes;

    use super::{EventPage, KEPT_BYTES_MAX, KEPT_MAX, RenderedEvent, StreamCache, StreamSource};

    /// So many events, numbered from 1 and of one size; counts how often it is read.
    struct Numbers {
        last: AtomicU64,
        bytes: usize,
        reads: Mutex<Vec<u64>>,
    }

    const PAGE: u64 = 64;

    impl StreamSource for Numbers {
        fn read(&self, after: u64) -> Result<EventPage, Error> {
            self.reads.lock().unwrap().push(after);
            let last = self.last.load(Ordering::SeqCst);
            let upto = last.min(after + PAGE);
            let event = |id| RenderedEvent { id, bytes: Bytes::from(vec![b'x'; self.bytes]), is_last: false };
            Ok(EventPage { events: (after + 1..=upto).map(event).collect(), upto, is_all: upto == last })
        }
    }

    fn numbers(last: u64, bytes: usize) -> StreamCache<Numbers> {
        StreamCache::new(Numbers { last: AtomicU64::new(last), bytes, reads: Mutex::default() }, last)
    }

    impl StreamCache<Numbers> {
        fn grow(&self, by: u64) -> u64 {
            self.source.last.fetch_add(by, Ordering::SeqCst) + by
        }

        fn reads(&self) -> Vec<u64> {
            std::mem::take(&mut *self.source.reads.lock().unwrap())
        }

        /// Everything after `after` up to this commit, as a reader takes it.
        async fn all(&self, mut after: u64, commit: u64) -> Vec<u64> {
            let mut ids = Vec::new();
            loop {
                let page = self.next(after, commit).await.unwrap();
                assert!(page.upto >= after);
                after = page.upto;
                ids.extend(page.events.iter().map(|event| event.id));
                if page.events.is_empty() && page.is_all {
                    return ids;
                }
            }
        }
    }

    #[tokio::test]
    async fn readers_of_the_same_events_share_one_reading() {
        let cache = numbers(7, 10);
        let commit = cache.grow(3);
        for _ in 0..100 {
            assert_eq!(cache.all(7, commit).await, [8, 9, 10]);
        }
        assert_eq!(cache.reads(), [7]);
        // Whoever begins in the middle of it shares it too.
        assert_eq!(cache.all(9, commit).await, [10]);
        assert_eq!(cache.reads(), [0; 0]);
    }

    #[tokio::test]
    async fn a_reader_that_is_behind_reads_for_itself_until_it_has_caught_up() {
        let cache = numbers(200, 10);
        let commit = cache.grow(1);
        assert_eq!(cache.all(200, commit).await, [201]);
        assert_eq!(cache.reads(), [200]);
        assert_eq!(cache.all(0, commit).await, (1..=201).collect::<Vec<_>>());
        assert_eq!(cache.reads(), [0, 64, 128, 192]);
    }

    #[tokio::test]
    async fn what_is_kept_has_a_limit_in_events_and_in_bytes_and_nobody_misses_any() {
        for bytes in [1, KEPT_BYTES_MAX / 3, KEPT_BYTES_MAX * 2] {
            let cache = numbers(0, bytes);
            for _ in 0..2 * KEPT_MAX / 100 {
                let before = cache.source.last.load(Ordering::SeqCst);
                let commit = cache.grow(100);
                assert_eq!(cache.all(before, commit).await, (before + 1..=commit).collect::<Vec<_>>());
                let recent = cache.recent.lock().await;
                assert!(recent.events.len() <= KEPT_MAX && recent.bytes <= KEPT_BYTES_MAX);
                assert_eq!(recent.bytes, recent.events.iter().map(|event| event.bytes.len()).sum::<usize>());
            }
            let commit = cache.source.last.load(Ordering::SeqCst);
            assert_eq!(cache.all(0, commit).await, (1..=commit).collect::<Vec<_>>());
        }
    }
}
