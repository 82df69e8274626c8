//! Passes messages on, and answers back.

use std::io::{self, ErrorKind};
use std::sync::OnceLock;

use serde_json::Value;
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::{Mutex, RwLock};

use super::message::Message;
use crate::client::Client;

/// Whether a message was taken by nothing, because there was no connection to send it on.
fn was_not_taken(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| matches!(cause.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound))
}

pub(super) struct Passing<'g> {
    /// Changes only when the owner that it talks to is gone.
    client: RwLock<Client<'g>>,
    /// Carries answers, a line each, and nothing else.
    stdout: Mutex<Stdout>,
    /// The version of the protocol that was agreed on in a handshake.
    version: OnceLock<String>,
}

impl<'g> Passing<'g> {
    pub(super) fn new(client: Client<'g>) -> Self {
        let stdout = Mutex::new(tokio::io::stdout());
        Self { client: RwLock::new(client), stdout, version: OnceLock::new() }
    }

    pub(super) fn into_client(self) -> Client<'g> {
        self.client.into_inner()
    }

    /// Passes a line on, and the answer back.
    pub(super) async fn pass(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let answer = match Message::read(line) {
            Ok(message) => match self.ask(&message).await {
                Ok(answer) => answer,
                Err(error) => message.failed(&format!("{error:#}")),
            },
            Err(answer) => Some(answer),
        };
        if let Some(answer) = answer {
            // A client that reads no more wants no answer.
            let _ = self.write(&answer).await;
        }
    }

    async fn write(&self, answer: &Value) -> std::io::Result<()> {
        let mut stdout = self.stdout.lock().await;
        stdout.write_all(format!("{answer}\n").as_bytes()).await?;
        stdout.flush().await
    }

    /// What the server answers; none where nothing is expected.
    async fn ask(&self, message: &Message) -> anyhow::Result<Option<Value>> {
        if self.client.read().await.is_alone().await {
            self.client.write().await.find_owner().await?;
        }
        let headers = message.headers(self.version.get().map(String::as_str));
        let mut passed = self.client.read().await.pass_on(message.document(), &headers).await;
        // An owner in the background may end between the look and the message, which nothing has taken then.
        if passed.as_ref().is_err_and(was_not_taken) {
            self.client.write().await.find_owner().await?;
            passed = self.client.read().await.pass_on(message.document(), &headers).await;
        }
        let (status, bytes) = passed?;
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
}
