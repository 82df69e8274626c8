//! What was measured.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::percentiles::Percentiles;

/// What was measured while it went on.
pub(super) struct Measured {
    pub(super) runs: u64,
    pub(super) took: Duration,
    /// From reply to end.
    pub(super) replies: Percentiles,
    pub(super) commits: u64,
    pub(super) events: u64,
}

/// What was measured, with what it left behind.
pub(super) struct Figures {
    measured: Measured,
    rss_bytes: u64,
    disk_bytes: u64,
}

impl Figures {
    pub(super) fn new(measured: Measured, dir: &Path) -> Result<Self> {
        let disk_bytes = std::fs::metadata(dir.join("adjourn.db"))?.len();
        Ok(Self { measured, rss_bytes: peak_rss_bytes(), disk_bytes })
    }

    fn per_second(&self) -> f64 {
        self.measured.runs as f64 / self.measured.took.as_secs_f64()
    }

    fn commits_per_run(&self) -> f64 {
        self.measured.commits as f64 / self.measured.runs as f64
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "runs": self.measured.runs,
            "runs_per_second": self.per_second(),
            "reply_to_done_p50_us": u64::try_from(self.measured.replies.at(50).as_micros()).unwrap_or(u64::MAX),
            "reply_to_done_p99_us": u64::try_from(self.measured.replies.at(99).as_micros()).unwrap_or(u64::MAX),
            "events_per_run": self.measured.events / self.measured.runs,
            "commits_per_run": self.commits_per_run(),
            "peak_rss_bytes": self.rss_bytes,
            "disk_bytes_per_run": self.disk_bytes / self.measured.runs,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} runs that paused once in {:.2?}", self.measured.runs, self.measured.took)?;
        writeln!(f, "  runs per second    {:>10.0}", self.per_second())?;
        writeln!(f, "  reply to done p50  {:>10.1?}", self.measured.replies.at(50))?;
        writeln!(f, "  reply to done p99  {:>10.1?}", self.measured.replies.at(99))?;
        writeln!(f, "  commits per run    {:>10.3}   each is one sync", self.commits_per_run())?;
        writeln!(f, "  peak memory        {:>7} MB", self.rss_bytes / 1_000_000)?;
        write!(f, "  disk per run       {:>6} bytes", self.disk_bytes / self.measured.runs)
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
