//! What was measured.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

/// What was measured.
pub(super) struct Figures {
    runs: u64,
    took: Duration,
    /// From reply to end, sorted.
    replies: Vec<Duration>,
    commits: u64,
    rss_bytes: u64,
    disk_bytes: u64,
}

impl Figures {
    pub(super) fn new(
        runs: u64,
        took: Duration,
        mut replies: Vec<Duration>,
        commits: u64,
        dir: &Path,
    ) -> Result<Self> {
        replies.sort_unstable();
        let disk_bytes = std::fs::metadata(dir.join("adjourn.db"))?.len();
        Ok(Self { runs, took, replies, commits, rss_bytes: peak_rss_bytes(), disk_bytes })
    }

    fn percentile(&self, percent: usize) -> Duration {
        let index = (self.replies.len() * percent / 100).min(self.replies.len().saturating_sub(1));
        self.replies.get(index).copied().unwrap_or_default()
    }

    fn per_second(&self) -> f64 {
        self.runs as f64 / self.took.as_secs_f64()
    }

    fn commits_per_run(&self) -> f64 {
        self.commits as f64 / self.runs as f64
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "runs": self.runs,
            "runs_per_second": self.per_second(),
            "reply_to_done_p50_us": u64::try_from(self.percentile(50).as_micros()).unwrap_or(u64::MAX),
            "reply_to_done_p99_us": u64::try_from(self.percentile(99).as_micros()).unwrap_or(u64::MAX),
            "commits_per_run": self.commits_per_run(),
            "peak_rss_bytes": self.rss_bytes,
            "disk_bytes_per_run": self.disk_bytes / self.runs,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} runs that paused once in {:.2?}", self.runs, self.took)?;
        writeln!(f, "  runs per second    {:>10.0}", self.per_second())?;
        writeln!(f, "  reply to done p50  {:>10.1?}", self.percentile(50))?;
        writeln!(f, "  reply to done p99  {:>10.1?}", self.percentile(99))?;
        writeln!(f, "  commits per run    {:>10.3}   each is one sync", self.commits_per_run())?;
        writeln!(f, "  peak memory        {:>7} MB", self.rss_bytes / 1_000_000)?;
        write!(f, "  disk per run       {:>6} bytes", self.disk_bytes / self.runs)
    }
}

/// The most memory that this process ever had; 0 where the system does not tell.
fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|kb| kb.trim().parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}
