//! Why a call was not made, by what the caller does about it.

use adjourn_core::{ErrorCode, FieldError};

use super::limits::ARGUMENTS_BYTES_MAX;

/// Why a call was not made. Nothing happened, and that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// There is no server of this name.
    #[error("there is no tool server `{server}`: adjourn.toml declares {}", names(known))]
    UnknownServer {
        /// The name.
        server: String,
        /// What would have been right.
        known: Vec<String>,
    },
    /// It does not start, cannot be reached, or does not speak the protocol.
    #[error("the tool server `{server}` cannot be used: {problem}")]
    Unavailable {
        /// The server.
        server: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The server has no such tool. A model can be told what there is.
    #[error("the tool server `{server}` has no tool `{tool}`: it has {}", names(known))]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// What would have been right.
        known: Vec<String>,
    },
    /// The tool is not what it was when the call was asked for.
    #[error(
        "the tool `{tool}` of `{server}` changed since the call was asked for, and so the call was not made"
    )]
    Changed {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// The tool does not take these arguments. A model can be told why.
    #[error("`{tool}` does not take these arguments: {}", all(errors))]
    Arguments {
        /// The tool.
        tool: String,
        /// Everything that is wrong with them.
        errors: Vec<FieldError>,
    },
    /// The arguments are longer than those of one call may be.
    #[error("the arguments of `{tool}` have {bytes} bytes, at most {ARGUMENTS_BYTES_MAX} can be sent")]
    ArgumentsTooLong {
        /// The tool.
        tool: String,
        /// How long they are.
        bytes: usize,
    },
    /// It was told to stop before the call was made.
    #[error("stopped")]
    Stopped,
}

impl ToolError {
    /// The code of a run that fails because of this; none where the run goes on and its agent is told.
    pub const fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::UnknownServer { .. } | Self::Unavailable { .. } => Some(ErrorCode::ToolServerUnavailable),
            Self::UnknownTool { .. }
            | Self::Changed { .. }
            | Self::Arguments { .. }
            | Self::ArgumentsTooLong { .. }
            | Self::Stopped => None,
        }
    }
}

fn names(known: &[String]) -> String {
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}

fn all(errors: &[FieldError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
