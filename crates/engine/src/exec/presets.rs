//! The agents that are known by name.

mod claude;
mod codex;
mod command;
mod gemini;
mod opencode;

use adjourn_core::named;

use super::profile::Profile;

named! {
    /// An agent whose command line is known.
    pub enum Preset {
        /// Claude Code, as `claude -p`.
        Claude = "claude",
        /// Codex, as `codex exec`.
        Codex = "codex",
        /// Gemini CLI, without its terminal.
        Gemini = "gemini",
        /// OpenCode, as `opencode run`.
        Opencode = "opencode",
        /// Any program: the prompt on stdin, the answer on stdout.
        Command = "command",
    }
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
