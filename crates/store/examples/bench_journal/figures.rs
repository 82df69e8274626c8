//! How fast something was.

use std::fmt;
use std::time::Duration;

/// Events per second, and how long single commits took.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    events: u64,
    total: Duration,
    /// Sorted.
    commits: Vec<Duration>,
}

impl Figures {
    pub(crate) fn new(events: u64, total: Duration, mut commits: Vec<Duration>) -> Self {
        commits.sort_unstable();
        Self { events, total, commits }
    }

    /// The one in the middle by speed.
    pub(crate) fn median(mut all: Vec<Self>) -> Self {
        all.sort_by(|one, other| one.speed().total_cmp(&other.speed()));
        all.swap_remove(all.len() / 2)
    }

    /// Events per second.
    pub(crate) fn speed(&self) -> f64 {
        self.events as f64 / self.total.as_secs_f64()
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = self.commits.len() * percent / 100;
        self.commits.get(index.min(self.commits.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        write!(f, "{:>9.0} events/s, commit p50 {p50:>8.1?}, p99 {p99:>8.1?}", self.speed())
    }
}
