//! Tells those who wait that something was committed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use adjourn_core::StreamId;
use tokio::sync::watch;

/// Streams that may be registered before the unwatched ones are first looked for.
///
/// An entry takes about 200 bytes with its channel, so this much garbage is of no interest.
const SWEEP_FIRST: usize = 64;

/// The last position of everything, and of each stream that somebody watches.
#[derive(Debug)]
pub(crate) struct Feed {
    all: watch::Sender<u64>,
    streams: Mutex<Streams>,
}

#[derive(Debug)]
struct Streams {
    senders: HashMap<StreamId, watch::Sender<u64>>,
    /// How many there may be before those without receivers are dropped. Doubles with the watched ones, so that
    /// sweeping costs a constant amount per registration and the map is never more than half garbage.
    sweep_at: usize,
}

impl Feed {
    /// A feed for a journal whose last event is at `head`.
    pub(crate) fn new(head: u64) -> Self {
        let streams = Streams { senders: HashMap::new(), sweep_at: SWEEP_FIRST };
        Self { all: watch::Sender::new(head), streams: Mutex::new(streams) }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.all.subscribe()
    }

    /// Watches one stream. `last` looks up the position of its last event, and is called after the registration, so
    /// that no commit falls between the two.
    pub(crate) fn watch_stream(&self, stream: StreamId, last: impl FnOnce() -> u64) -> watch::Receiver<u64> {
        let mut receiver = self.streams().register(stream);
        let found = last();
        if let Some(sender) = self.streams().senders.get(&stream) {
            sender.send_if_modified(|position| {
                let older = *position < found;
                *position = found.max(*position);
                older
            });
        }
        receiver.mark_unchanged();
        receiver
    }

    /// Announces a commit: the new head, and the last position of each stream in it.
    pub(crate) fn publish(&self, head: u64, committed: impl Iterator<Item = (StreamId, u64)>) {
        let mut streams = self.streams();
        if !streams.senders.is_empty() {
            for (stream, position) in committed {
                streams.publish(stream, position);
            }
        }
        drop(streams);
        self.all.send_replace(head);
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        // Nothing in here panics halfway through a change.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn register(&mut self, stream: StreamId) -> watch::Receiver<u64> {
        if self.senders.len() >= self.sweep_at {
            self.senders.retain(|_, sender| sender.receiver_count() > 0);
            self.sweep_at = SWEEP_FIRST.max(2 * self.senders.len());
        }
        self.senders.entry(stream).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    fn publish(&mut self, stream: StreamId, position: u64) {
        let Some(sender) = self.senders.get(&stream) else { return };
        if sender.receiver_count() == 0 {
            self.senders.remove(&stream);
        } else {
            sender.send_replace(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::{RunId, StreamId};

    use super::{Feed, SWEEP_FIRST};

    fn stream(n: u128) -> StreamId {
        StreamId::Run(RunId::from_bits(n))
    }

    #[test]
    fn streams_that_nobody_watches_any_more_are_forgotten() {
        let feed = Feed::new(0);
        let kept = feed.watch_stream(stream(0), || 3);
        for n in 1..10_000 {
            drop(feed.watch_stream(stream(n), || 0));
            assert!(feed.streams().senders.len() <= SWEEP_FIRST);
        }
        feed.publish(9, [(stream(0), 9)].into_iter());
        assert_eq!(*kept.borrow(), 9);

        drop(kept);
        feed.publish(10, [(stream(0), 10)].into_iter());
        assert!(!feed.streams().senders.contains_key(&stream(0)));
    }

    #[test]
    fn a_new_watcher_starts_with_what_is_there_and_does_not_disturb_the_others() {
        let feed = Feed::new(5);
        assert_eq!(*feed.watch().borrow(), 5);
        let first = feed.watch_stream(stream(1), || 4);
        let second = feed.watch_stream(stream(1), || 4);
        assert_eq!((*first.borrow(), *second.borrow()), (4, 4));
        assert!(!first.has_changed().unwrap() && !second.has_changed().unwrap());
    }

    #[test]
    fn a_commit_during_the_registration_is_not_taken_back() {
        let feed = Feed::new(0);
        let receiver = feed.watch_stream(stream(1), || {
            feed.publish(8, [(stream(1), 8)].into_iter());
            3
        });
        assert_eq!(*receiver.borrow(), 8);
    }
}
