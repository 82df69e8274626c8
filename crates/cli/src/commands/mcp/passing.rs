//! Passes messages on to the server in the data directory.

use std::path::Path;
use std::sync::OnceLock;

use anyhow::Context;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::message::Message;
use super::owner::Owner;

const ADDRESS: &str = "/mcp";

/// What every request says: who is asked, what it carries, and what may come back.
const HEADERS: [(header::HeaderName, &str); 3] = [
    (header::HOST, "localhost"),
    (header::CONTENT_TYPE, "application/json"),
    (header::ACCEPT, "application/json, text/event-stream"),
];

pub(super) struct Passing {
    pub(super) owner: Owner,
    answers: mpsc::Sender<String>,
    /// The version of the protocol that was agreed on in a handshake.
    version: OnceLock<String>,
}

impl Passing {
    pub(super) fn new(owner: Owner, answers: mpsc::Sender<String>) -> Self {
        Self { owner, answers, version: OnceLock::new() }
    }

    /// Passes a line on, and the answer back.
    pub(super) async fn pass(&self, line: &[u8]) {
        let answer = match Message::read(line) {
            Ok(message) => match self.ask(&message).await {
                Ok(answer) => answer,
                Err(error) => message.failed(&format!("{error:#}")),
            },
            Err(answer) => Some(answer),
        };
        if let Some(answer) = answer {
            // A client that reads no more wants no answer.
            let _ = self.answers.send(answer.to_string()).await;
        }
    }

    /// What the server answers; none where nothing is expected.
    async fn ask(&self, message: &Message) -> anyhow::Result<Option<Value>> {
        let mut request = Request::post(ADDRESS);
        for (name, value) in HEADERS {
            request = request.header(name, value);
        }
        for (name, value) in message.headers(self.version.get().map(String::as_str)) {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(Bytes::from(message.body())))?;
        let (status, bytes) = self.send(request).await?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let answer =
            serde_json::from_slice::<Value>(&bytes).ok().filter(|answer| answer.get("jsonrpc").is_some());
        let Some(answer) = answer else {
            anyhow::bail!("{status}: {}", String::from_utf8_lossy(&bytes));
        };
        if let Some(version) = answer["result"]["protocolVersion"].as_str().filter(|_| message.is_handshake())
        {
            let _ = self.version.set(version.to_owned());
        }
        Ok(Some(answer))
    }

    /// A connection of its own for each message: there are few, and one that waits must not keep others waiting.
    async fn send(&self, request: Request<Full<Bytes>>) -> anyhow::Result<(hyper::StatusCode, Bytes)> {
        let stream = match connect(self.owner.socket()).await {
            Ok(stream) => stream,
            // Owners come and go.
            Err(_) => {
                self.owner.ensure().await?;
                connect(self.owner.socket()).await?
            }
        };
        let gone = "the owner of the data directory ended before it answered: ask again";
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.context(gone)?;
        tokio::spawn(connection);
        let response = sender.send_request(request).await.context(gone)?;
        let status = response.status();
        Ok((status, response.into_body().collect().await.context(gone)?.to_bytes()))
    }
}

async fn connect(socket: &Path) -> anyhow::Result<UnixStream> {
    UnixStream::connect(socket).await.with_context(|| format!("nobody answers on {}", socket.display()))
}
