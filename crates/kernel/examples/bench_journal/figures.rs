//! How fast something was.

use std::fmt;
use std::time::{Duration, Instant};

/// Events per second, and how long single commits took.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    events: u64,
    total: Duration,
    /// Time on a processor: the figure that a busy disk spoils least.
    cpu: Duration,
    /// Sorted.
    commits: Vec<Duration>,
}

/// Measures from its making on.
pub(crate) struct Stopwatch {
    started: Instant,
    cpu: Duration,
    commits: Vec<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), cpu: cpu_time(), commits: Vec::new() }
    }

    /// One commit, timed.
    pub(crate) fn commit<T>(&mut self, commit: impl FnOnce() -> T) -> T {
        let before = Instant::now();
        let done = commit();
        self.commits.push(before.elapsed());
        done
    }

    /// Commits that were timed elsewhere.
    pub(crate) fn add(&mut self, commits: Vec<Duration>) {
        self.commits.extend(commits);
    }

    pub(crate) fn stop(mut self, events: u64) -> Figures {
        let (total, cpu) = (self.started.elapsed(), cpu_time().saturating_sub(self.cpu));
        self.commits.sort_unstable();
        Figures { events, total, cpu, commits: self.commits }
    }
}

/// What this thread has used of a processor; nothing where Linux does not tell.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

impl Figures {
    /// The one in the middle by speed.
    pub(crate) fn median(mut all: Vec<Self>) -> Self {
        all.sort_by(|one, other| one.speed().total_cmp(&other.speed()));
        all.swap_remove(all.len() / 2)
    }

    /// Events per second.
    pub(crate) fn speed(&self) -> f64 {
        self.events as f64 / self.total.as_secs_f64()
    }

    /// Time on a processor for each event.
    pub(crate) fn cpu_per_event(&self) -> Duration {
        self.cpu.div_f64(self.events as f64)
    }

    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let index = self.commits.len() * percent / 100;
        self.commits.get(index.min(self.commits.len().saturating_sub(1))).copied().unwrap_or_default()
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (p50, p99) = (self.percentile(50), self.percentile(99));
        let (speed, cpu) = (self.speed(), self.cpu_per_event());
        write!(f, "{speed:>9.0} events/s, {cpu:>6.2?} CPU each, commit p50 {p50:>8.1?}, p99 {p99:>8.1?}")
    }
}
