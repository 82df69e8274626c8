//! The agents that are known by name.

mod claude;
mod codex;
mod command;
mod gemini;
mod opencode;

use serde::{Deserialize, Serialize};

use super::profile::Profile;

/// An agent whose command line is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Claude Code, as `claude -p`.
    Claude,
    /// Codex, as `codex exec`.
    Codex,
    /// Gemini CLI, without its terminal.
    Gemini,
    /// OpenCode, as `opencode run`.
    Opencode,
    /// Any program: the prompt on stdin, the answer on stdout.
    Command,
}

impl Preset {
    pub(crate) fn profile(self) -> &'static Profile {
        match self {
            Self::Claude => &claude::PROFILE,
            Self::Codex => &codex::PROFILE,
            Self::Gemini => &gemini::PROFILE,
            Self::Opencode => &opencode::PROFILE,
            Self::Command => &command::PROFILE,
        }
    }
}
