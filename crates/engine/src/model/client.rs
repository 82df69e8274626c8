//! One call of a model over HTTP: asked as often as it takes, read as it comes.

use std::error::Error;
use std::time::Duration;

use adjourn_core::check_depth;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Model;
use super::conversation::Conversation;
use super::error::ModelError;
use super::fold::TooMuch;
use super::limits::{PROBLEM_BYTES_MAX, REPLY_BYTES_MAX};
use super::options::ModelOptions;
use super::refusal::Refusal;
use super::reply::{Delta, Reply};
use super::retry::{self, Next};
use super::wire::{Bad, StreamReader, Wire};
use crate::secrets::{Masker, Secret};
use crate::sse::SseReader;

/// A model that is asked over HTTP.
#[derive(Debug)]
pub struct HttpModel {
    pub(super) options: ModelOptions,
    pub(super) client: Client,
    /// Covers the key, which some servers repeat when they refuse it.
    masker: Masker,
}

/// Why an attempt gave no reply.
enum Failed {
    /// Another one may. Nothing was shown.
    Passing { problem: String, retry_after: Option<Duration> },
    /// Another one would not, or must not be made.
    Lasting(ModelError),
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self::Lasting(error)
    }
}

impl HttpModel {
    /// A client for this model. Nothing is sent yet.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        let client = Client::builder()
            .user_agent(concat!("adjourn/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.patience.connect_max)
            // A key is for the server that was configured, and for no other that it may point to.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| ModelError::Options { problem: chain(error) })?;
        let masker = Masker::new(options.api_key.iter().cloned())
            .map_err(|error| ModelError::Options { problem: error.to_string() })?;
        Ok(Self { options, client, masker })
    }

    async fn ask_patiently(
        &self,
        conversation: &Conversation,
        shown: &mpsc::Sender<Delta>,
    ) -> Result<Reply, ModelError> {
        let wire = Wire::of(self.options.api);
        let body = (wire.body)(conversation, &self.options);
        let mut attempts = 1;
        loop {
            let (problem, retry_after) = match self.attempt(wire, &body, shown).await {
                Ok(reply) => return Ok(self.priced(reply)),
                Err(Failed::Lasting(error)) => return Err(error),
                Err(Failed::Passing { problem, retry_after }) => (problem, retry_after),
            };
            match retry::next(&self.options.patience, attempts, retry_after, retry::random()) {
                Next::Wait(delay) => tokio::time::sleep(delay).await,
                Next::GiveUp(why) => {
                    let problem = [Some(problem), why].into_iter().flatten().collect::<Vec<_>>().join("; ");
                    return Err(ModelError::Unavailable { attempts, problem });
                }
            }
            attempts += 1;
        }
    }

    async fn attempt(&self, wire: &Wire, body: &Value, shown: &mpsc::Sender<Delta>) -> Result<Reply, Failed> {
        let url = self.url(wire.path);
        let request = self.client.post(&url).header(CONTENT_TYPE, "application/json").body(body.to_string());
        let key = self.options.api_key.as_ref().map(Secret::expose);
        let sent = self.in_time((wire.authorize)(request, key).send()).await?;
        let response = sent.map_err(|error| match error {
            error if error.is_builder() => ModelError::Options { problem: chain(error) }.into(),
            error => Failed::Passing { problem: format!("{url}: {}", chain(error)), retry_after: None },
        })?;
        if !response.status().is_success() {
            return Err(self.refused(response).await?);
        }
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim() {
            // A server that does not stream.
            "application/json" => self.read_whole(wire, response).await,
            "text/event-stream" | "" => self.read_stream(wire, response, shown).await,
            other => Err(ModelError::Nonsense { problem: format!("it sends `{other}`, not events") }.into()),
        }
    }

    async fn refused(&self, response: Response) -> Result<Failed, ModelError> {
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = header.and_then(|value| retry::retry_after(value, Timestamp::now()));
        Ok(match self.refusal(response).await? {
            Refusal::Passing(problem) => Failed::Passing { problem, retry_after },
            Refusal::Lasting(error) => Failed::Lasting(error),
        })
    }

    /// What a response other than success means.
    pub(super) async fn refusal(&self, mut response: Response) -> Result<Refusal, ModelError> {
        let status = response.status().as_u16();
        let mut body = Vec::new();
        // What can no longer be read of an error changes nothing about it.
        while let Ok(Some(chunk)) = self.in_time(response.chunk()).await? {
            body.extend_from_slice(&chunk[..chunk.len().min(PROBLEM_BYTES_MAX - body.len())]);
            if body.len() == PROBLEM_BYTES_MAX {
                break;
            }
        }
        let body = self.masker.text(&String::from_utf8_lossy(&body)).into_owned();
        Ok(Refusal::of_status(status, &body, &self.options.model))
    }

    /// The address of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.options.base_url.trim_end_matches('/'))
    }

    async fn read_whole(&self, wire: &Wire, mut response: Response) -> Result<Reply, Failed> {
        let mut body = Vec::new();
        loop {
            match self.in_time(response.chunk()).await? {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => return Err(Failed::Passing { problem: chain(error), retry_after: None }),
            }
            check_size(body.len())?;
        }
        let nonsense = |problem| Failed::from(ModelError::Nonsense { problem });
        let whole = serde_json::from_slice(&body).map_err(|error| nonsense(format!("not JSON: {error}")))?;
        check_depth(&whole).map_err(|error| nonsense(error.to_string()))?;
        (wire.reply)(whole).map_err(nonsense)
    }

    async fn read_stream(
        &self,
        wire: &Wire,
        mut response: Response,
        shown: &mpsc::Sender<Delta>,
    ) -> Result<Reply, Failed> {
        let mut reading = Reading { reader: (wire.reader)(), has_shown: false, bytes: 0 };
        let mut events = SseReader::default();
        loop {
            let chunk = match self.in_time(response.chunk()).await? {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                // All was said, and only the goodbye is missing.
                Err(_) if reading.reader.is_complete() => break,
                Err(error) => return Err(reading.broke_off(chain(error))),
            };
            reading.bytes += chunk.len();
            check_size(reading.bytes)?;
            let completed =
                events.push(&chunk).map_err(|error| ModelError::TooMuch { problem: error.to_string() })?;
            for event in completed {
                self.take(&mut reading, &event.data, shown).await?;
            }
        }
        if let Some(event) = events.finish() {
            self.take(&mut reading, &event.data, shown).await?;
        }
        if !reading.reader.is_complete() {
            return Err(reading.broke_off("the stream ended before the reply did".to_owned()));
        }
        (wire.reply)(reading.reader.whole()).map_err(|problem| ModelError::Nonsense { problem }.into())
    }

    async fn take(
        &self,
        reading: &mut Reading,
        data: &str,
        shown: &mpsc::Sender<Delta>,
    ) -> Result<(), Failed> {
        match reading.reader.take(data) {
            Ok(None) => {}
            Ok(Some(delta)) => {
                reading.has_shown = true;
                // Nobody has to listen.
                let _ = shown.send(delta).await;
            }
            Err(Bad::Nonsense(problem)) => return Err(ModelError::Nonsense { problem }.into()),
            Err(Bad::TooMuch(TooMuch(problem))) => return Err(ModelError::TooMuch { problem }.into()),
            Err(Bad::Error(event)) => {
                return Err(match Refusal::of_event(&self.masker.json(&event), &self.options.model) {
                    Refusal::Passing(problem) => reading.broke_off(problem),
                    Refusal::Lasting(error) => error.into(),
                });
            }
        }
        Ok(())
    }

    /// Waits for the server, but not for ever.
    async fn in_time<T>(&self, what: impl Future<Output = T>) -> Result<T, ModelError> {
        let after = self.options.patience.silence_max;
        timeout(after, what).await.map_err(|_| ModelError::Silent { after })
    }

    fn priced(&self, mut reply: Reply) -> Reply {
        if let (Some(usage), Some(prices)) = (&mut reply.usage, self.options.prices) {
            // What the server says it charges is what it charges.
            let price = prices.cost_usd(usage.input_tokens, usage.output_tokens);
            usage.cost_usd = usage.cost_usd.or(Some(price));
        }
        reply
    }
}

/// A stream in the middle of being read.
struct Reading {
    reader: Box<dyn StreamReader>,
    /// Something of the reply was shown, so it must not be said twice.
    has_shown: bool,
    bytes: usize,
}

impl Reading {
    fn broke_off(&self, problem: String) -> Failed {
        if self.has_shown {
            Failed::Lasting(ModelError::BrokeOff { problem })
        } else {
            Failed::Passing { problem, retry_after: None }
        }
    }
}

fn check_size(bytes: usize) -> Result<(), ModelError> {
    if bytes > REPLY_BYTES_MAX {
        let problem = format!("more than {} MiB in one reply", REPLY_BYTES_MAX >> 20);
        return Err(ModelError::TooMuch { problem });
    }
    Ok(())
}

/// An error with its causes, which is where the useful words are. Without the URL, which may hold a password.
pub(super) fn chain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}

impl Model for HttpModel {
    fn ask<'a>(
        &'a self,
        conversation: &'a Conversation,
        shown: mpsc::Sender<Delta>,
        stop: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Err(ModelError::Stopped),
                reply = self.ask_patiently(conversation, &shown) => reply,
            }
        })
    }
}
