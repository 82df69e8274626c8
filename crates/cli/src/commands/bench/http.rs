//! Runs that pause once, over HTTP: as many clients as there are runs at the same time, and one stream of news.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::connection::{Address, Connection};
use super::news::{News, Stage};
use super::percentiles::Percentiles;
use super::scrape::Scrape;

/// What is measured.
pub(super) struct Load {
    pub(super) address: Address,
    pub(super) skill: String,
    pub(super) runs: u64,
    pub(super) clients: u64,
}

/// What was measured.
pub(super) struct Figures {
    runs: u64,
    clients: u64,
    took: Duration,
    /// From reply to end.
    replies: Percentiles,
    before: Scrape,
    after: Scrape,
}

#[derive(Deserialize)]
struct Created {
    run_id: String,
}

impl Load {
    pub(super) async fn measure(self) -> Result<Figures> {
        let (news, listening) = News::listen(&self.address).await?;
        let before = Scrape::take(&self.address).await?;
        let next = Arc::new(AtomicU64::new(0));
        let body =
            json!({ "skill": self.skill, "engine": "replay", "execution_mode": "interactive" }).to_string();
        let clients = self.clients.min(self.runs);
        let mut connections = Vec::new();
        for _ in 0..clients {
            connections.push(Connection::open(&self.address).await?);
        }
        let started = Instant::now();
        let mut working = JoinSet::new();
        for connection in connections {
            working.spawn(client(connection, news.clone(), body.clone(), next.clone(), self.runs));
        }
        let mut replies = Vec::new();
        let all = async {
            while let Some(client) = working.join_next().await {
                replies.extend(client??);
            }
            anyhow::Ok(())
        };
        tokio::select! {
            all = all => all?,
            ended = listening => {
                ended??;
                bail!("the server ended the stream of all events");
            }
        }
        let took = started.elapsed();
        let after = Scrape::take(&self.address).await?;
        Ok(Figures { runs: self.runs, clients, took, replies: Percentiles::new(replies), before, after })
    }
}

/// Takes one run after the other through its life. Gives back how long each took from its reply to its end.
async fn client(
    mut connection: Connection,
    news: News,
    body: String,
    next: Arc<AtomicU64>,
    runs: u64,
) -> Result<Vec<Duration>> {
    let mut replies = Vec::new();
    while next.fetch_add(1, Ordering::Relaxed) < runs {
        let created = connection.post("/v1/runs", body.clone()).await?;
        let Created { run_id } = serde_json::from_slice(&created)?;
        news.until(&run_id, Stage::Asks).await?;
        let before = Instant::now();
        let answer = r#"{"interaction_id": 1, "response": "2.4.0"}"#;
        connection.post(&format!("/v1/runs/{run_id}/reply"), answer).await?;
        news.until(&run_id, Stage::Ended).await?;
        replies.push(before.elapsed());
    }
    Ok(replies)
}

impl Figures {
    fn per_second(&self) -> f64 {
        self.runs as f64 / self.took.as_secs_f64()
    }

    fn commits_per_run(&self) -> f64 {
        self.after.commits_since(&self.before) / self.runs as f64
    }

    fn commit_time(&self) -> Duration {
        self.after.commit_time_since(&self.before)
    }

    pub(super) fn to_json(&self) -> Value {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        json!({
            "runs": self.runs,
            "clients": self.clients,
            "runs_per_second": self.per_second(),
            "reply_to_done_p50_us": micros(self.replies.at(50)),
            "reply_to_done_p99_us": micros(self.replies.at(99)),
            "commits_per_run": self.commits_per_run(),
            "commit_us": micros(self.commit_time()),
            "server_rss_bytes": self.after.rss_bytes,
            "server_peak_rss_bytes": self.after.peak_rss_bytes,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} runs that paused once in {:.2?}, {} clients", self.runs, self.took, self.clients)?;
        writeln!(f, "  runs per second    {:>10.0}", self.per_second())?;
        writeln!(f, "  reply to done p50  {:>10.1?}", self.replies.at(50))?;
        writeln!(f, "  reply to done p99  {:>10.1?}", self.replies.at(99))?;
        writeln!(f, "  commits per run    {:>10.3}   each is one sync", self.commits_per_run())?;
        writeln!(f, "  one commit         {:>10.1?}   on average, in this run", self.commit_time())?;
        write!(
            f,
            "  server memory      {:>7} MB   at most {} MB",
            self.after.rss_bytes / 1_000_000,
            self.after.peak_rss_bytes / 1_000_000
        )
    }
}
