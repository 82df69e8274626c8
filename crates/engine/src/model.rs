//! Models over HTTP: a conversation in, a reply out.
//!
//! One trait, [`Model`], and one client behind it, [`HttpModel`], which speaks two wire formats: the chat completions
//! that most servers are compatible with, and Anthropic's messages. Replies are streamed, so that text can be shown as it
//! is written; whoever does not care gets the whole [`Reply`] at the end.
//!
//! The types of the wire are our own and tolerant. Compatible servers add fields, leave some out and invent reasons to
//! stop; what is not understood is kept in [`Reply::raw`], and only what cannot be a reply at all is an error. A reply is
//! either whole or an error: there is no way to mistake half of one for an answer.
//!
//! A call that failed before the model said anything is made again, later and later, and as late as the server asks for.
//! One that broke in mid-sentence is not: its words have been shown, and whether they are to be said again is the
//! caller's to decide.
//!
//! ```no_run
//! # async fn example() -> Result<(), adjourn_engine::model::ModelError> {
//! use adjourn_engine::model::{Api, Conversation, HttpModel, Message, Model, ModelOptions};
//! use tokio_util::sync::CancellationToken;
//!
//! let options = ModelOptions::new(Api::Openai, "http://127.0.0.1:11434/v1", "qwen3");
//! let model = HttpModel::new(options)?;
//! let conversation = Conversation {
//!     system: "Be brief.".to_owned(),
//!     messages: vec![Message::User("Which colour has the sky?".to_owned())],
//!     tools: Vec::new(),
//! };
//! let (shown, _) = tokio::sync::mpsc::channel(16);
//! let reply = model.ask(&conversation, shown, CancellationToken::new()).await?;
//! println!("{}", reply.text);
//! # Ok(()) }
//! ```

mod anthropic;
mod chat;
mod client;
mod conversation;
mod error;
mod fold;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod limits;
mod options;
mod reach;
mod refusal;
mod reply;
mod retry;
mod wire;

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use client::HttpModel;
pub use conversation::{Conversation, Message, Said, ToolOffer, ToolResult, ToolUse, Went};
pub use error::ModelError;
pub use limits::{ARGUMENTS_BYTES_MAX, CALLS_MAX, REPLY_BYTES_MAX};
pub use options::{Api, ModelOptions, Patience, Prices};
pub use reply::{Delta, Reply, Stop};

/// Answers conversations.
pub trait Model: Send + Sync + 'static {
    /// Asks for the next message of a conversation.
    ///
    /// What the model writes is shown through `shown` as it comes; nobody has to listen. Ends at once when `stop` is
    /// cancelled, with [`ModelError::Stopped`].
    fn ask<'a>(
        &'a self,
        conversation: &'a Conversation,
        shown: mpsc::Sender<Delta>,
        stop: CancellationToken,
    ) -> BoxFuture<'a, Result<Reply, ModelError>>;
}
