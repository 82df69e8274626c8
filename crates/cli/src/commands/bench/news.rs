//! The one stream from which all clients of the benchmark learn what became of their runs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::RunStatus;
use anyhow::{Context, Result};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::connection::{Address, Connection};

/// What a client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The run asks.
    Asks,
    /// The run has ended.
    Ended,
}

/// Tells clients what became of their runs. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct News(Arc<Mutex<HashMap<(String, Stage), Known>>>);

/// News can come before the one who waits for it knows the id of its run.
enum Known {
    Awaited(oneshot::Sender<()>),
    Seen,
}

/// A frame, as far as it is read here.
#[derive(Deserialize)]
struct Frame<'a> {
    run_id: &'a str,
    #[serde(borrow)]
    data: Change<'a>,
}

#[derive(Deserialize)]
struct Change<'a> {
    to: &'a str,
}

impl News {
    /// Begins to listen. The task ends with the stream.
    pub(super) async fn listen(address: &Address) -> Result<(Self, JoinHandle<Result<()>>)> {
        let stream = Connection::open(address).await?.stream("/v1/events").await?;
        let news = Self::default();
        let listening = tokio::spawn(news.clone().read(stream));
        Ok((news, listening))
    }

    async fn read(self, mut stream: Incoming) -> Result<()> {
        let mut text = Vec::new();
        while let Some(part) = stream.frame().await {
            if let Ok(bytes) = part?.into_data() {
                text.extend_from_slice(&bytes);
            }
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            for line in text[..whole].split(|byte| *byte == b'\n') {
                if let Some(data) = line.strip_prefix(b"data: ") {
                    self.tell(serde_json::from_slice(data).context("a frame cannot be read")?);
                }
            }
            text.drain(..whole);
        }
        Ok(())
    }

    fn tell(&self, frame: Frame<'_>) {
        let stage = match frame.data.to.parse() {
            Ok(RunStatus::WaitingUser) => Stage::Asks,
            Ok(RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled) => Stage::Ended,
            Ok(RunStatus::Queued | RunStatus::Running) | Err(_) => return,
        };
        match self.known().entry((frame.run_id.to_owned(), stage)) {
            Entry::Vacant(unknown) => {
                unknown.insert(Known::Seen);
            }
            Entry::Occupied(known) => {
                if let Known::Awaited(waiting) = known.remove() {
                    // Whoever waits may have failed for another reason.
                    let _ = waiting.send(());
                }
            }
        }
    }

    /// Waits until the run is at this stage. Each is told once.
    pub(super) async fn until(&self, run_id: &str, stage: Stage) -> Result<()> {
        let told = {
            let mut known = self.known();
            let key = (run_id.to_owned(), stage);
            if let Some(Known::Seen) = known.remove(&key) {
                return Ok(());
            }
            let (waiting, told) = oneshot::channel();
            known.insert(key, Known::Awaited(waiting));
            told
        };
        told.await.context("the stream of all events has ended")
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(String, Stage), Known>> {
        // Nothing in here panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
