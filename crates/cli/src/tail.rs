//! Reads a run as it grows: its frames, and the run that they add up to.

use std::time::{Duration, Instant};

use adjourn_core::{Frame, RunId, RunView};
use anyhow::Context;

use crate::client::{Client, Refused, Sse};

/// How long a stream that was cut may stay away: a server takes less to be started again.
const BACK_WITHIN: Duration = Duration::from_secs(60);

/// How long to wait before a stream that was cut is asked for again.
const BACK_AFTER: Duration = Duration::from_millis(250);

/// What came of a run.
pub(crate) enum News {
    /// These frames; the run is as they left it.
    Frames(Vec<Frame>),
    /// Text that the agent is writing.
    Delta(String),
}

/// A run, read up to where it was last looked at.
pub(crate) struct Tail {
    /// The run, which may be ahead of the frames that were read.
    run: RunView,
    /// The last frame that was read.
    after: u64,
    /// Frames that were read and not told yet.
    untold: Vec<Frame>,
    stream: Option<Sse>,
    /// When a stream was cut that did not come back yet.
    cut_at: Option<Instant>,
}

impl Tail {
    /// A run of which the frames after `after` are of interest.
    pub(crate) fn after(run: RunView, after: u64) -> Self {
        Self { run, after, untold: Vec::new(), stream: None, cut_at: None }
    }

    /// A run of which no frame was read yet.
    pub(crate) fn from_start(run: RunView) -> Self {
        Self::after(run, 0)
    }

    /// A run of which nothing before now is of interest.
    pub(crate) fn from_now(run: RunView) -> Self {
        let after = run.seq;
        Self::after(run, after)
    }

    pub(crate) fn id(&self) -> RunId {
        self.run.run_id
    }

    /// The run as it was last seen.
    pub(crate) fn run(&self) -> &RunView {
        &self.run
    }

    /// Takes note of the run as somebody else has just seen it.
    pub(crate) fn saw(&mut self, run: RunView) {
        if run.seq >= self.run.seq {
            self.run = run;
        }
    }

    /// Whether frames are still to be read that led to the run as it is.
    pub(crate) fn is_behind(&self) -> bool {
        self.after < self.run.seq || !self.untold.is_empty()
    }

    /// What comes next. Frames that were written together are told together, and never without the run that they led to.
    /// May be dropped while it waits: nothing is lost.
    pub(crate) async fn next(&mut self, client: &mut Client<'_>) -> anyhow::Result<News> {
        loop {
            if self.untold.last().is_some_and(|last| last.seq > self.run.seq) {
                self.run = client.run(self.id()).await?;
            }
            if !self.untold.is_empty() && self.after >= self.run.seq {
                return Ok(News::Frames(std::mem::take(&mut self.untold)));
            }
            let Some(stream) = &mut self.stream else {
                if !self.open(client).await? {
                    // There is nothing to come, so the run has ended.
                    self.run = client.run(self.id()).await?;
                    return Ok(News::Frames(Vec::new()));
                }
                continue;
            };
            let Some(event) = stream.next().await else {
                self.stream = None;
                self.cut_at.get_or_insert_with(Instant::now);
                continue;
            };
            self.cut_at = None;
            match event.name.as_deref() {
                None => {
                    let frame: Frame =
                        serde_json::from_str(&event.data).context("a frame cannot be understood")?;
                    // A stream that was taken up again begins after the last one.
                    if frame.seq > self.after {
                        self.after = frame.seq;
                        self.untold.push(frame);
                    }
                }
                Some("delta") => {
                    let delta: serde_json::Value = serde_json::from_str(&event.data)?;
                    return Ok(News::Delta(delta["text"].as_str().unwrap_or_default().to_owned()));
                }
                // Of a server that knows more than we do.
                Some(_) => {}
            }
        }
    }

    /// Opens the stream where it was cut; false if nothing will come any more.
    async fn open(&mut self, client: &mut Client<'_>) -> anyhow::Result<bool> {
        if self.cut_at.is_some() {
            tokio::time::sleep(BACK_AFTER).await;
        }
        let opened = client.events(self.id(), self.after).await;
        let is_late = self.cut_at.is_none_or(|at| at.elapsed() > BACK_WITHIN);
        match opened {
            Ok(stream) => {
                self.stream = stream;
                Ok(self.stream.is_some())
            }
            // Somebody answered: the stream was not cut, it is refused.
            Err(error) if is_late || error.is::<Refused>() => Err(error),
            Err(_) => Ok(true),
        }
    }
}
