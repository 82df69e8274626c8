//! The client of the HTTP API that every command is: written once, whoever answers.

mod call;
mod calls;
mod connect;
mod owner;
mod refused;
mod remote;
mod roundtables;
mod sse;
mod transport;

use adjourn_api::NewRoundtable;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::net::UnixStream;

pub(crate) use self::calls::{RunQuery, new_key};
pub(crate) use self::connect::{Role, answering};
pub(crate) use self::refused::Refused;
pub(crate) use self::sse::Sse;

use self::call::{Call, Payload};
use self::transport::Transport;
use crate::background;
use crate::data::Global;

/// How often a request is made again by another owner: owners that end just when they are asked something are rare, and
/// several in a row are something else.
const TRIES_MAX: u32 = 5;

/// Bytes of an answer that is read as a whole: a page of five hundred runs with their questions is far less.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// What becomes of what this process works on as an owner, when its command is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    /// It came to rest; what came in at the last moment is left to an owner in the background.
    AtRest,
    /// It goes on in the background.
    InBackground,
    /// It is cut off, and the next owner takes it up.
    CutOff,
}

/// Talks to whoever works on the runs.
pub(crate) struct Client<'g> {
    pub(crate) global: &'g Global,
    role: Role,
    transport: Transport,
}

impl<'g> Client<'g> {
    /// Finds out whom to talk to, or becomes that itself.
    pub(crate) async fn connect(global: &'g Global, role: Role) -> anyhow::Result<Self> {
        Ok(Self { global, role, transport: connect::find(global, role).await? })
    }

    /// Refuses a request for a run where there is no data directory yet, so that none is made for it.
    pub(crate) async fn dry_run(global: &Global, request: &Value) -> anyhow::Result<()> {
        if global.server.is_some() || global.data.exists() {
            return Ok(());
        }
        match adjourn_server::dry_run(&global.data, global.config_without_trust()?, request.clone()) {
            Ok(()) => Ok(()),
            Err(problem) => refused::check(problem.into_response()).await.map(drop),
        }
    }

    /// Refuses a request for a roundtable where there is no data directory yet.
    pub(crate) async fn dry_run_roundtable(global: &Global, request: &NewRoundtable) -> anyhow::Result<()> {
        if global.server.is_some() || global.data.exists() {
            return Ok(());
        }
        match adjourn_server::dry_run_roundtable(
            &global.data,
            global.config_without_trust()?,
            request.clone(),
        ) {
            Ok(()) => Ok(()),
            Err(problem) => refused::check(problem.into_response()).await.map(drop),
        }
    }

    /// Whether this process is the owner: what it does not see to, nobody does.
    pub(crate) fn is_owner(&self) -> bool {
        matches!(self.transport, Transport::Here(_))
    }

    /// Ends what this process does for others.
    pub(crate) async fn close(self, how: Close) -> anyhow::Result<()> {
        let Transport::Here(owner) = self.transport else { return Ok(()) };
        let goes_on = owner.close().await?;
        let is_left = match how {
            Close::AtRest => goes_on.now,
            Close::InBackground => goes_on.now || goes_on.later,
            Close::CutOff => false,
        };
        if is_left {
            background::hand_over(self.global).await?;
        }
        Ok(())
    }

    /// The JSON that `call` is answered with.
    async fn ask<T: DeserializeOwned>(&mut self, call: &Call) -> anyhow::Result<T> {
        let mut tries = 1;
        loop {
            let answer = match self.transport.send(call).await {
                Ok(response) => {
                    let response = refused::check(response).await?;
                    axum::body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await.map_err(Into::into)
                }
                Err(lost) => Err(lost),
            };
            match answer {
                Ok(bytes) => return refused::read(&bytes),
                Err(lost) => self.try_again(lost, &mut tries).await?,
            }
        }
    }

    /// The answer to `call`, to be read piece by piece.
    async fn open(&mut self, call: &Call) -> anyhow::Result<Response<Body>> {
        let mut tries = 1;
        loop {
            match self.transport.send(call).await {
                Ok(response) => return refused::check(response).await,
                Err(lost) => self.try_again(lost, &mut tries).await?,
            }
        }
    }

    /// A stream of events; none where there is nothing to come any more.
    async fn follow(&mut self, call: &Call) -> anyhow::Result<Option<Sse>> {
        let response = self.open(call).await?;
        let is_stream = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        Ok(is_stream.then(|| Sse::new(response.into_body())))
    }

    /// Whether the owner that it talked to is gone.
    pub(crate) async fn is_alone(&self) -> bool {
        match &self.transport {
            Transport::Socket(path) => UnixStream::connect(path).await.is_err(),
            Transport::Here(_) | Transport::Reading(_) | Transport::Url(_) => false,
        }
    }

    /// Looks for the next owner where the last one is gone.
    pub(crate) async fn find_owner(&mut self) -> anyhow::Result<()> {
        if self.is_alone().await {
            self.transport = connect::find(self.global, self.role).await?;
        }
        Ok(())
    }

    /// Passes a message on to the MCP server. It is sent once: only its sender knows whether it may be sent twice.
    pub(crate) async fn pass_on(
        &self,
        message: &Value,
        headers: &[(&'static str, &str)],
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let call = Call::post("/mcp".to_owned(), Payload::Json(message.clone()));
        let call = call.accept("application/json, text/event-stream");
        let call = headers.iter().fold(call, |call, (name, value)| call.header(name, value));
        let response = self.transport.send(&call).await?;
        Ok((response.status(), axum::body::to_bytes(response.into_body(), ANSWER_BYTES_MAX).await?))
    }

    /// Looks for the next owner after the last one did not answer. Every call may be made twice: what changes something
    /// has an idempotency key, or means the same the second time.
    async fn try_again(&mut self, lost: anyhow::Error, tries: &mut u32) -> anyhow::Result<()> {
        if !matches!(self.transport, Transport::Socket(_)) || *tries == TRIES_MAX {
            return Err(lost);
        }
        *tries += 1;
        self.transport = connect::find(self.global, self.role).await?;
        Ok(())
    }
}
