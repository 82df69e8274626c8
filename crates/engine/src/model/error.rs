//! Why there is no reply, by what the caller does about it.

use std::time::Duration;

use adjourn_core::ErrorCode;

/// Why there is no reply.
///
/// Messages hold the server's own words, cut short, and never the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// It cannot be reached, or has no capacity, and asking again did not help. Later it may be back.
    #[error("the model does not answer, asked {attempts} times: {problem}")]
    Unavailable {
        /// How often it was asked.
        attempts: u32,
        /// What was wrong the last time.
        problem: String,
    },
    /// It was reached, and then said nothing for too long.
    #[error("the model was silent for {} s", after.as_secs())]
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
    /// It broke off in the middle of a reply. What was shown of it counts for nothing; it can be asked again.
    #[error("the model broke off in the middle of its reply: {problem}")]
    BrokeOff {
        /// What went wrong.
        problem: String,
    },
    /// The key is missing, wrong, or not allowed to do this. A person has to give another one.
    #[error("the model refuses the key: {problem}")]
    Unauthorized {
        /// In the server's words.
        problem: String,
    },
    /// The server has no such model. A person has to name another one.
    #[error("the server has no model `{model}`: {problem}")]
    UnknownModel {
        /// The name that was asked for.
        model: String,
        /// In the server's words.
        problem: String,
    },
    /// The conversation is longer than the model can take. A shorter one may be taken.
    #[error("the conversation is too long for `{model}`: {problem}")]
    ConversationTooLong {
        /// The model.
        model: String,
        /// In the server's words.
        problem: String,
    },
    /// It was understood and turned down. The same again will be, too.
    #[error("the model does not take the request: {problem}")]
    Refused {
        /// In the server's words.
        problem: String,
    },
    /// What came is no reply.
    #[error("the model answers nonsense: {problem}")]
    Nonsense {
        /// What is wrong with it.
        problem: String,
    },
    /// The reply was larger than a reply may be, and was not read to its end.
    #[error("the model says too much: {problem}")]
    TooMuch {
        /// What was too large, and what the limit is.
        problem: String,
    },
    /// No client can be made from the options.
    #[error("the model cannot be asked: {problem}")]
    Options {
        /// What is wrong with them.
        problem: String,
    },
    /// It was told to stop, and did.
    #[error("stopped")]
    Stopped,
}

impl ModelError {
    /// The code of a run that fails because of this; none for a run that was stopped.
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Unavailable { .. }
            | Self::Silent { .. }
            | Self::BrokeOff { .. }
            | Self::UnknownModel { .. }
            | Self::Nonsense { .. }
            | Self::Options { .. } => Some(ErrorCode::ModelUnavailable),
            Self::Unauthorized { .. } => Some(ErrorCode::EngineAuthRequired),
            Self::ConversationTooLong { .. } | Self::Refused { .. } => Some(ErrorCode::EngineProtocolError),
            Self::TooMuch { .. } => Some(ErrorCode::EngineOutputLimit),
            Self::Stopped => None,
        }
    }
}
