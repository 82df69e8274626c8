//! Many subscribers of event streams, while runs go on at a steady pace.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use adjourn_kernel::{Clock, SystemClock};
use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::connection::{Address, Connection};
use super::news::{News, Stage};
use super::scrape::Scrape;

/// One in so many subscribers follows all runs; the others follow one each.
const ONE_FOLLOWS_ALL_IN: u64 = 50;

/// What a reply leads to: `waiting_user → queued → running → waiting_user`.
const CHANGES_PER_REPLY: u64 = 3;

/// Questions that the skill asks before it ends.
const QUESTIONS: u64 = 16;

/// Delays that are told apart, in milliseconds; what is longer counts as this.
const DELAY_MS_MAX: usize = 10_000;

/// How long the last events may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is measured.
pub(super) struct Audience {
    pub(super) address: Address,
    pub(super) skill: String,
    pub(super) subscribers: u64,
    pub(super) runs: u64,
    pub(super) changes_per_second: u64,
    pub(super) seconds: u64,
}

/// What was measured.
pub(super) struct Figures {
    subscribers: u64,
    runs: u64,
    changes: u64,
    took: Duration,
    seen: Arc<Seen>,
    expected_by_all: u64,
    after: Scrape,
}

/// What subscribers saw.
struct Seen {
    /// What was decided before this is history.
    since_ms: AtomicU64,
    /// How many events arrived after so many milliseconds.
    delays: Vec<AtomicU64>,
    /// State changes that those who follow all runs saw.
    changes: AtomicU64,
}

#[derive(Deserialize)]
struct Created {
    run_id: String,
}

#[derive(Deserialize)]
struct Frame<'a> {
    ts: jiff::Timestamp,
    #[serde(rename = "type")]
    kind: &'a str,
}

impl Audience {
    pub(super) async fn measure(self) -> Result<Figures> {
        let replies = self.changes_per_second * self.seconds / CHANGES_PER_REPLY;
        ensure!(
            replies <= self.runs * QUESTIONS,
            "{} runs ask {QUESTIONS} times each, which is not enough for {replies} replies: take more runs or fewer seconds",
            self.runs
        );
        let runs = self.create().await?;
        let seen = Arc::new(Seen::new());
        let mut following = JoinSet::new();
        let mut follow_all = 0;
        for number in 0..self.subscribers {
            let (path, follows) = match number % ONE_FOLLOWS_ALL_IN {
                0 => ("/v1/events".to_owned(), Follows::All),
                _ => {
                    let run = &runs[usize::try_from(number)? % runs.len()];
                    (format!("/v1/runs/{run}/events"), Follows::One)
                }
            };
            follow_all += u64::from(follows == Follows::All);
            let stream = Connection::open(&self.address).await?.stream(&path).await?;
            following.spawn(subscriber(stream, follows, seen.clone()));
        }
        seen.since_ms.store(now_ms(), Ordering::Relaxed);
        let began = tokio::time::Instant::now();
        self.reply(&runs, replies).await?;
        let took = began.elapsed();
        let expected_by_all = replies * CHANGES_PER_REPLY * follow_all;
        // Late ones count as late, and lost ones as lost.
        let arrived = async {
            while seen.changes.load(Ordering::Relaxed) < expected_by_all {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, arrived).await;
        let after = Scrape::take(&self.address).await?;
        following.shutdown().await;
        let changes = replies * CHANGES_PER_REPLY;
        Ok(Figures {
            subscribers: self.subscribers,
            runs: self.runs,
            changes,
            took,
            seen,
            expected_by_all,
            after,
        })
    }

    /// Creates the runs, and returns when each of them asks.
    async fn create(&self) -> Result<Vec<String>> {
        let (news, listening) = News::listen(&self.address).await?;
        let mut connection = Connection::open(&self.address).await?;
        let body =
            json!({ "skill": self.skill, "engine": "replay", "execution_mode": "interactive" }).to_string();
        let mut runs = Vec::new();
        for _ in 0..self.runs {
            let created = connection.post("/v1/runs", body.clone()).await?;
            let Created { run_id } = serde_json::from_slice(&created)?;
            news.until(&run_id, Stage::Asks).await?;
            runs.push(run_id);
        }
        listening.abort();
        Ok(runs)
    }

    /// Answers the runs in turn, at the pace that is wanted.
    async fn reply(&self, runs: &[String], replies: u64) -> Result<()> {
        let mut connection = Connection::open(&self.address).await?;
        let per_second = self.changes_per_second as f64 / CHANGES_PER_REPLY as f64;
        let mut ticks = interval(Duration::from_secs_f64(1.0 / per_second));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for number in 0..replies {
            ticks.tick().await;
            let run = &runs[usize::try_from(number % self.runs)?];
            let body = json!({ "interaction_id": 1 + number / self.runs, "response": "2.4.0" }).to_string();
            connection.post(&format!("/v1/runs/{run}/reply"), body).await?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    All,
    One,
}

async fn subscriber(mut stream: Incoming, follows: Follows, seen: Arc<Seen>) -> Result<()> {
    let mut text = Vec::new();
    while let Some(part) = stream.frame().await {
        if let Ok(bytes) = part?.into_data() {
            text.extend_from_slice(&bytes);
        }
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let now = now_ms();
        for line in text[..whole].split(|byte| *byte == b'\n') {
            if let Some(data) = line.strip_prefix(b"data: ") {
                seen.note(&serde_json::from_slice(data).context("a frame cannot be read")?, follows, now);
            }
        }
        text.drain(..whole);
    }
    Ok(())
}

fn now_ms() -> u64 {
    u64::try_from(SystemClock.now().millis()).unwrap_or_default()
}

impl Seen {
    fn new() -> Self {
        Self {
            since_ms: AtomicU64::new(u64::MAX),
            delays: (0..=DELAY_MS_MAX).map(|_| AtomicU64::new(0)).collect(),
            changes: AtomicU64::new(0),
        }
    }

    fn note(&self, frame: &Frame<'_>, follows: Follows, now_ms: u64) {
        let decided_ms = u64::try_from(frame.ts.as_millisecond()).unwrap_or_default();
        if decided_ms < self.since_ms.load(Ordering::Relaxed) {
            return;
        }
        let delay = usize::try_from(now_ms.saturating_sub(decided_ms)).unwrap_or(DELAY_MS_MAX);
        self.delays[delay.min(DELAY_MS_MAX)].fetch_add(1, Ordering::Relaxed);
        if follows == Follows::All && frame.kind == "conversation.state.changed" {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn events(&self) -> u64 {
        self.delays.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The delay in milliseconds that so many percent of the events did not exceed.
    fn percentile_ms(&self, percent: u64) -> usize {
        let wanted = self.events() * percent / 100;
        let mut count = 0;
        let reached = self.delays.iter().position(|delay| {
            count += delay.load(Ordering::Relaxed);
            count >= wanted
        });
        reached.unwrap_or(DELAY_MS_MAX)
    }
}

impl Figures {
    fn missed(&self) -> u64 {
        self.expected_by_all.saturating_sub(self.seen.changes.load(Ordering::Relaxed))
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "subscribers": self.subscribers,
            "runs": self.runs,
            "changes_per_second": self.changes as f64 / self.took.as_secs_f64(),
            "events_delivered": self.seen.events(),
            "events_missed": self.missed(),
            "delay_p50_ms": self.seen.percentile_ms(50),
            "delay_p99_ms": self.seen.percentile_ms(99),
            "delay_max_ms": self.seen.percentile_ms(100),
            "server_rss_bytes": self.after.rss_bytes,
            "server_peak_rss_bytes": self.after.peak_rss_bytes,
        })
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} subscribers of {} runs for {:.2?}", self.subscribers, self.runs, self.took)?;
        writeln!(f, "  changes per second {:>10.1}", self.changes as f64 / self.took.as_secs_f64())?;
        writeln!(f, "  events delivered   {:>10}   {} missed", self.seen.events(), self.missed())?;
        writeln!(f, "  decided to seen p50 {:>6} ms", self.seen.percentile_ms(50))?;
        writeln!(f, "  decided to seen p99 {:>6} ms", self.seen.percentile_ms(99))?;
        writeln!(f, "  decided to seen max {:>6} ms", self.seen.percentile_ms(100))?;
        write!(
            f,
            "  server memory      {:>7} MB   at most {} MB",
            self.after.rss_bytes / 1_000_000,
            self.after.peak_rss_bytes / 1_000_000
        )
    }
}
