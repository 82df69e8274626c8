//! Who is told that a roundtable needs somebody.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::RoundtableId;
use tokio::sync::watch;

/// A bell, and somebody who hears it.
pub(crate) fn bell() -> (Bell, Listener) {
    let (ring, rung) = watch::channel(());
    let waiting = Waiting::default();
    (Bell { waiting: waiting.clone(), ring }, Listener { waiting, rung })
}

/// Rings for roundtables. However often it rings for one before somebody hears it, that is once; so what waits is
/// bounded by the roundtables there are. When it is gone, the listener stops.
pub(crate) struct Bell {
    waiting: Waiting,
    ring: watch::Sender<()>,
}

/// Hears a [`Bell`].
pub(crate) struct Listener {
    waiting: Waiting,
    rung: watch::Receiver<()>,
}

#[derive(Clone, Default)]
struct Waiting(Arc<Mutex<BTreeSet<RoundtableId>>>);

impl Waiting {
    fn roundtables(&self) -> MutexGuard<'_, BTreeSet<RoundtableId>> {
        // Nothing in here panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bell {
    pub(crate) fn ring(&self, roundtable: RoundtableId) {
        self.waiting.roundtables().insert(roundtable);
        self.ring.send_replace(());
    }
}

impl Listener {
    /// The roundtables that it rang for; none when nobody can ring any more.
    pub(super) async fn hear(&mut self) -> Option<BTreeSet<RoundtableId>> {
        self.rung.changed().await.ok()?;
        Some(std::mem::take(&mut *self.waiting.roundtables()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use adjourn_core::RoundtableId;

    use super::bell;

    #[tokio::test]
    async fn every_roundtable_is_heard_once_until_the_bell_is_gone() {
        let (bell, mut listener) = bell();
        let [one, two] = [1, 2].map(RoundtableId::from_bits);
        for roundtable in [one, two, one] {
            bell.ring(roundtable);
        }
        assert_eq!(listener.hear().await, Some(BTreeSet::from([one, two])));
        bell.ring(two);
        assert_eq!(listener.hear().await, Some(BTreeSet::from([two])));
        drop(bell);
        assert_eq!(listener.hear().await, None);
    }
}
