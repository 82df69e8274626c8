//! The reasoning node: asks the model what comes next.

use adjourn_core::ErrorCode;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::context::Context;
use super::instructions::INSTRUCTIONS;
use super::limits::{BROKE_OFF_MAX, DELTAS_MAX, REPLIES_MAX, WORDS_BYTES_MAX};
use super::model_failed;
use crate::model::{Conversation, Delta, HttpModel, Message, Model, ModelError, Reply, Stop};
use crate::turn::{Finished, Seen, Turn, failed, show};

/// Asks the model, again and again in the course of a turn.
pub(super) struct ReasoningNode<'a> {
    model: &'a HttpModel,
    turn: &'a Turn,
    /// Who watches the model write.
    seen: &'a mpsc::Sender<Seen>,
    stop: &'a CancellationToken,
    /// How often it was asked in this turn.
    asked: u32,
    /// What the model turned out to have no room for.
    context: Context,
}

impl<'a> ReasoningNode<'a> {
    pub(super) fn new(
        model: &'a HttpModel,
        turn: &'a Turn,
        seen: &'a mpsc::Sender<Seen>,
        stop: &'a CancellationToken,
    ) -> Self {
        Self { model, turn, seen, stop, asked: 0, context: Context::default() }
    }

    /// The next message of the conversation.
    pub(super) async fn ask(&mut self, messages: Vec<Message>) -> Result<Reply, Finished> {
        if self.asked == REPLIES_MAX {
            let message = format!(
                "the model came to no end: it was asked {REPLIES_MAX} times in this turn. Give it less to do at once, or \
                 say clearer when it is done"
            );
            return Err(failed(ErrorCode::EngineOutputLimit, message));
        }
        self.asked += 1;
        let tools = self.turn.tools.offers().await.map_err(Finished::Failed)?;
        let mut broke_off = 0;
        loop {
            let messages_left = self.context.of(messages.clone());
            let conversation = Conversation {
                system: INSTRUCTIONS.to_owned(),
                messages: messages_left,
                tools: tools.clone(),
            };
            match self.listen(&conversation).await {
                Ok(reply) => return Ok(reply),
                Err(error @ ModelError::ConversationTooLong { .. }) => {
                    self.context.tighten(messages.clone()).map_err(|_| model_failed(&error))?;
                }
                Err(ModelError::BrokeOff { .. }) if broke_off < BROKE_OFF_MAX => broke_off += 1,
                Err(error) => return Err(model_failed(&error)),
            }
        }
    }

    /// Asks once, and shows the text as it is written.
    async fn listen(&self, conversation: &Conversation) -> Result<Reply, ModelError> {
        let (shown, mut deltas) = mpsc::channel(DELTAS_MAX);
        let showing = async {
            while let Some(delta) = deltas.recv().await {
                match delta {
                    Delta::Text(text) => show(self.seen, Seen::Delta(text)).await,
                    // Thoughts are told when they are whole: written into the same line, nobody could tell them from text.
                    Delta::Reasoning(_) => {}
                }
            }
        };
        tokio::join!(self.model.ask(conversation, shown, self.stop.clone()), showing).0
    }
}

/// How the turn ends if a reply is not one to go on with.
pub(super) fn unusable(reply: &Reply) -> Option<Finished> {
    match reply.stop {
        // Also with calls: arguments that were cut off may still look whole.
        Stop::Length => Some(failed(
            ErrorCode::EngineOutputLimit,
            "the reply of the model was cut off where it may write no more: raise `output_tokens_max` of the engine, or \
             have it write less at once",
        )),
        Stop::Refused => {
            let words = &reply.text[..reply.text.floor_char_boundary(WORDS_BYTES_MAX)];
            let message = format!(
                "the model refuses to go on: {}",
                if words.is_empty() { "it gives no reason" } else { words }
            );
            Some(failed(ErrorCode::EngineProtocolError, message))
        }
        Stop::Finished | Stop::Calls | Stop::Other(_) => None,
    }
}
