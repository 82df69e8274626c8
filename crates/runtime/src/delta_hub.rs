//! The delta hub: text that an agent is writing, for those who watch its run.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use adjourn_core::RunId;
use tokio::sync::broadcast;

use crate::driver::Delta;

/// Deltas that a slow watcher of one run may lag behind before it misses some: a second of an agent that writes fast.
/// Room for them is taken for each run that is watched.
const LAG_MAX: usize = 32;

/// Runs that may be registered before those that nobody watches any more are first looked for.
const SWEEP_FIRST: usize = 64;

/// Channels of the runs that are being watched.
#[derive(Debug, Default)]
pub(crate) struct DeltaHub(Mutex<Runs>);

#[derive(Debug, Default)]
struct Runs {
    senders: HashMap<RunId, broadcast::Sender<Delta>>,
    /// How many there may be before those without watchers are dropped: twice the watched ones, so that sweeping costs
    /// a constant amount per registration.
    sweep_at: usize,
}

impl DeltaHub {
    pub(crate) fn watch(&self, run_id: RunId) -> broadcast::Receiver<Delta> {
        let mut runs = self.runs();
        if runs.senders.len() >= runs.sweep_at {
            runs.senders.retain(|_, sender| sender.receiver_count() > 0);
            runs.sweep_at = SWEEP_FIRST.max(2 * runs.senders.len());
        }
        runs.senders.entry(run_id).or_insert_with(|| broadcast::Sender::new(LAG_MAX)).subscribe()
    }

    pub(crate) fn tell(&self, delta: &Delta) {
        let mut runs = self.runs();
        let Some(sender) = runs.senders.get(&delta.run_id) else { return };
        if sender.send(delta.clone()).is_err() {
            runs.senders.remove(&delta.run_id);
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        // Nothing in here panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use adjourn_core::RunId;

    use super::{DeltaHub, SWEEP_FIRST};
    use crate::driver::Delta;

    fn delta(run: u128) -> Delta {
        Delta { run_id: RunId::from_bits(run), text: "a word".into() }
    }

    #[test]
    fn a_watcher_sees_its_run_and_no_other() {
        let watched = DeltaHub::default();
        let mut one = watched.watch(RunId::from_bits(1));
        watched.tell(&delta(2));
        assert!(one.is_empty());
        watched.tell(&delta(1));
        assert_eq!(one.try_recv().unwrap().run_id, RunId::from_bits(1));
    }

    #[test]
    fn runs_that_nobody_watches_any_more_are_forgotten() {
        let watched = DeltaHub::default();
        for run in 0..10_000 {
            drop(watched.watch(RunId::from_bits(run)));
            assert!(watched.runs().senders.len() <= SWEEP_FIRST);
        }
        let kept = watched.watch(RunId::from_bits(1));
        drop(kept);
        watched.tell(&delta(1));
        assert!(!watched.runs().senders.contains_key(&RunId::from_bits(1)));
    }
}
