//! Whether the threads that decide and commit get on.
//!
//! Each thread notes when it begins a step and when it is done with it. A thread that waits for work is well however long
//! that takes; one that is in the same step for seconds is stuck: in a computation, in a lock, or in a disk that does not
//! answer. Nothing is asked of the threads, so that a look at them costs them nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long one step may take. A step decides at most a thousand inputs or makes one sync, which takes milliseconds.
pub const STEP_MAX: Duration = Duration::from_secs(2);

/// Stands for a thread that waits for work.
const IDLE: u64 = 0;

/// When the current steps began.
#[derive(Debug)]
pub struct Pulse {
    began: Instant,
    deciding: AtomicU64,
    committing: AtomicU64,
}

/// A thread that is in the same step for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stuck {
    /// The one that decides: no command is answered.
    Deciding(Duration),
    /// The one that commits: the journal does not take anything.
    Committing(Duration),
}

impl Default for Pulse {
    fn default() -> Self {
        Self { began: Instant::now(), deciding: AtomicU64::new(IDLE), committing: AtomicU64::new(IDLE) }
    }
}

impl Pulse {
    /// The thread that has been in one step for longer than [`STEP_MAX`], if one has.
    pub fn stuck(&self) -> Option<Stuck> {
        let now = self.now();
        let too_long = |since: &AtomicU64| {
            let since = since.load(Ordering::Relaxed);
            let took = Duration::from_millis(now.saturating_sub(since));
            (since != IDLE && took >= STEP_MAX).then_some(took)
        };
        too_long(&self.deciding)
            .map(Stuck::Deciding)
            .or_else(|| too_long(&self.committing).map(Stuck::Committing))
    }

    /// The thread that decides begins a step.
    pub(crate) fn decides(&self) {
        self.deciding.store(self.now(), Ordering::Relaxed);
    }

    /// The thread that decides waits for work.
    pub(crate) fn waits(&self) {
        self.deciding.store(IDLE, Ordering::Relaxed);
    }

    /// The thread that commits does so during `commit`.
    pub(crate) fn commits<T>(&self, commit: impl FnOnce() -> T) -> T {
        self.committing.store(self.now(), Ordering::Relaxed);
        let committed = commit();
        self.committing.store(IDLE, Ordering::Relaxed);
        committed
    }

    /// Milliseconds since the beginning, from 1 on.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX - 1) + 1
    }
}
