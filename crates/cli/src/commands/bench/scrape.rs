//! What a server says about itself.

use std::time::Duration;

use anyhow::{Context, Result};

use super::connection::{Address, Connection};

/// Some of the metrics of a server, at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scrape {
    pub(super) rss_bytes: u64,
    pub(super) peak_rss_bytes: u64,
    commits: f64,
    commit_seconds: f64,
}

impl Scrape {
    pub(super) async fn take(address: &Address) -> Result<Self> {
        let text = Connection::open(address).await?.get("/metrics").await?;
        Self::read(std::str::from_utf8(&text)?)
    }

    fn read(text: &str) -> Result<Self> {
        let value = |name: &str| -> Result<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.parse().ok()).with_context(|| format!("/metrics has no `{name}`"))
        };
        Ok(Self {
            rss_bytes: value("process_resident_memory_bytes")? as u64,
            peak_rss_bytes: value("process_resident_memory_peak_bytes")? as u64,
            commits: value("adjourn_commit_duration_seconds_count")?,
            commit_seconds: value("adjourn_commit_duration_seconds_sum")?,
        })
    }

    /// How many commits there were since `before`.
    pub(super) fn commits_since(&self, before: &Self) -> f64 {
        self.commits - before.commits
    }

    /// How long a commit took on average since `before`: its statements and its sync.
    pub(super) fn commit_time_since(&self, before: &Self) -> Duration {
        let commits = self.commits_since(before).max(1.0);
        Duration::try_from_secs_f64((self.commit_seconds - before.commit_seconds) / commits)
            .unwrap_or_default()
    }
}
