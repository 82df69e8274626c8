//! Reads a run or a roundtable as it grows: its frames, and the state that they add up to.

use std::future::Future;
use std::time::{Duration, Instant};

use adjourn_core::roundtable::{self, RoundtableView};
use adjourn_core::{Frame, RoundtableId, RunId, RunView};
use anyhow::Context;
use serde::de::DeserializeOwned;

use crate::client::{Client, Refused, Sse};

/// How long a stream that was cut may stay away: a server takes less to be started again.
const BACK_WITHIN: Duration = Duration::from_secs(60);

/// How long to wait before whoever did not answer is asked again.
const BACK_AFTER: Duration = Duration::from_millis(250);

/// What has a stream.
pub(crate) trait Streamed: Sized {
    type Id: Copy;
    type Frame: DeserializeOwned;

    fn id(&self) -> Self::Id;
    /// The number of the last frame that led to this state.
    fn seq(&self) -> u64;
    fn seq_of(frame: &Self::Frame) -> u64;
    /// The state as it is now.
    fn look(client: &mut Client<'_>, id: Self::Id) -> impl Future<Output = anyhow::Result<Self>>;
    /// The frames after `after`, as they come; none where no more will.
    fn follow(
        client: &mut Client<'_>,
        id: Self::Id,
        after: u64,
    ) -> impl Future<Output = anyhow::Result<Option<Sse>>>;
}

impl Streamed for RunView {
    type Id = RunId;
    type Frame = Frame;

    fn id(&self) -> RunId {
        self.run_id
    }

    fn seq(&self) -> u64 {
        self.seq
    }

    fn seq_of(frame: &Frame) -> u64 {
        frame.seq
    }

    async fn look(client: &mut Client<'_>, id: RunId) -> anyhow::Result<Self> {
        client.run(id).await
    }

    async fn follow(client: &mut Client<'_>, id: RunId, after: u64) -> anyhow::Result<Option<Sse>> {
        client.events(id, after).await
    }
}

impl Streamed for RoundtableView {
    type Id = RoundtableId;
    type Frame = roundtable::Frame;

    fn id(&self) -> RoundtableId {
        self.roundtable_id
    }

    fn seq(&self) -> u64 {
        self.seq
    }

    fn seq_of(frame: &roundtable::Frame) -> u64 {
        frame.seq
    }

    async fn look(client: &mut Client<'_>, id: RoundtableId) -> anyhow::Result<Self> {
        client.roundtable(id).await
    }

    async fn follow(client: &mut Client<'_>, id: RoundtableId, after: u64) -> anyhow::Result<Option<Sse>> {
        client.roundtable_events(id, after).await
    }
}

/// What came.
pub(crate) enum News<F> {
    /// These frames; the state is as they left it.
    Frames(Vec<F>),
    /// Text that an agent is writing.
    Delta(String),
}

/// A run or a roundtable, read up to where it was last looked at.
pub(crate) struct Tail<T: Streamed = RunView> {
    /// The state, which may be ahead of the frames that were read.
    state: T,
    /// The last frame that was read.
    after: u64,
    /// Frames that were read and not told yet.
    untold: Vec<T::Frame>,
    stream: Option<Sse>,
    /// When a stream was cut that did not come back yet.
    cut_at: Option<Instant>,
}

impl<T: Streamed> Tail<T> {
    /// Something of which the frames after `after` are of interest.
    pub(crate) fn after(state: T, after: u64) -> Self {
        Self { state, after, untold: Vec::new(), stream: None, cut_at: None }
    }

    /// Something of which no frame was read yet.
    pub(crate) fn from_start(state: T) -> Self {
        Self::after(state, 0)
    }

    /// Something of which nothing before now is of interest.
    pub(crate) fn from_now(state: T) -> Self {
        let after = state.seq();
        Self::after(state, after)
    }

    pub(crate) fn id(&self) -> T::Id {
        self.state.id()
    }

    /// The state as it was last seen.
    pub(crate) fn now(&self) -> &T {
        &self.state
    }

    /// Takes note of the state as somebody else has just seen it.
    pub(crate) fn saw(&mut self, state: T) {
        if state.seq() >= self.state.seq() {
            self.state = state;
        }
    }

    /// Whether frames are still to be read that led to the state as it is.
    pub(crate) fn is_behind(&self) -> bool {
        self.after < self.state.seq() || !self.untold.is_empty()
    }

    /// What comes next. Frames that were written together are told together, and never without the state that they led to.
    /// May be dropped while it waits: nothing is lost.
    pub(crate) async fn next(&mut self, client: &mut Client<'_>) -> anyhow::Result<News<T::Frame>> {
        loop {
            if self.untold.last().is_some_and(|last| T::seq_of(last) > self.state.seq()) {
                match T::look(client, self.id()).await {
                    Ok(state) => self.state = state,
                    Err(error) => self.wait_for_an_answer(error).await?,
                }
                continue;
            }
            if !self.untold.is_empty() && self.after >= self.state.seq() {
                return Ok(News::Frames(std::mem::take(&mut self.untold)));
            }
            let Some(stream) = &mut self.stream else {
                if !self.open(client).await? {
                    // There is nothing to come, so it has ended.
                    self.state = T::look(client, self.id()).await?;
                    return Ok(News::Frames(Vec::new()));
                }
                continue;
            };
            let Some(event) = stream.next().await else {
                self.stream = None;
                self.cut_at.get_or_insert_with(Instant::now);
                // It may be cut again at once, and again.
                tokio::time::sleep(BACK_AFTER).await;
                continue;
            };
            self.cut_at = None;
            match event.name.as_deref() {
                None => {
                    let frame: T::Frame =
                        serde_json::from_str(&event.data).context("a frame cannot be understood")?;
                    // A stream that was taken up again begins after the last one.
                    if T::seq_of(&frame) > self.after {
                        self.after = T::seq_of(&frame);
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
        match T::follow(client, self.id(), self.after).await {
            Ok(stream) => {
                self.stream = stream;
                Ok(self.stream.is_some())
            }
            Err(error) => self.wait_for_an_answer(error).await.map(|()| true),
        }
    }

    /// Whoever was asked did not answer. A server that is started again does after a while; what was refused is refused.
    async fn wait_for_an_answer(&mut self, error: anyhow::Error) -> anyhow::Result<()> {
        let since = *self.cut_at.get_or_insert_with(Instant::now);
        if error.is::<Refused>() || since.elapsed() > BACK_WITHIN {
            return Err(error);
        }
        tokio::time::sleep(BACK_AFTER).await;
        Ok(())
    }
}
