//! The real agents: which there are, where they are installed, and how each is pointed at a scripted model.
//!
//! `cargo xtask agents` installs them, in the versions that are pinned in `xtask/agents`, into the user's cache folder.
//! A test asks for a [`binary`] and skips itself without one, or calls [`binary_for_test`], which does the asking.

pub mod claude;
pub mod codex;
pub mod gemini;
mod isolation;
pub mod opencode;

use std::io;
use std::path::{Path, PathBuf};

pub use isolation::{Environment, isolated};

use crate::cache;

/// The variable that turns a missing agent from a reason to skip a test into a failure.
pub const REQUIRE_VARIABLE: &str = "ADJOURN_REQUIRE_AGENTS";

/// The name that [`claude`], [`codex`], [`gemini`] and [`opencode`] give the scripted model.
pub const MODEL: &str = "scripted";

/// The name that they give it for whatever an agent does on the side, which is no part of its conversation.
pub const SIDE_MODEL: &str = "scripted-side";

/// An agent that can be installed.
#[derive(Debug)]
pub struct Agent {
    /// What it is called, which is also its folder below `xtask/agents`.
    pub name: &'static str,
    /// What it depends on, with a checksum of everything.
    lock: &'static str,
    /// The program, in the folder of the installation.
    program: &'static str,
    /// A script to be run once by `node`, in the folder of the installation.
    ///
    /// Only this one: the packages that agents depend on would otherwise build things that no test needs.
    pub finish: Option<&'static str>,
}

macro_rules! agent {
    ($name:literal, $program:literal, $finish:expr) => {
        Agent {
            name: $name,
            lock: include_str!(concat!("../../../xtask/agents/", $name, "/package-lock.json")),
            program: $program,
            finish: $finish,
        }
    };
}

/// All agents that can be installed.
pub const AGENTS: &[Agent] = &[
    agent!("claude", "node_modules/.bin/claude", Some("node_modules/@anthropic-ai/claude-code/install.cjs")),
    agent!("claude-agent-acp", "node_modules/.bin/claude-agent-acp", None),
    agent!("codex", "node_modules/.bin/codex", None),
    agent!("codex-acp", "node_modules/.bin/codex-acp", None),
    agent!("gemini", "node_modules/.bin/gemini", None),
    // Its package for all platforms only fetches this one, together with a variant for old processors.
    agent!("opencode", "node_modules/opencode-linux-x64/bin/opencode", None),
];

impl Agent {
    /// The agent of that name.
    pub fn named(name: &str) -> Option<&'static Agent> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    /// Where it belongs; none if the environment does not say where the cache is.
    pub fn folder(&self) -> Option<PathBuf> {
        cache::folder("agents", self.name, self.lock)
    }

    /// The program of an installation in `folder`.
    pub fn program(&self, folder: &Path) -> PathBuf {
        folder.join(self.program)
    }
}

/// How an agent is had to speak ACP.
#[derive(Debug)]
pub struct Acp {
    /// The agent, as it is installed.
    pub agent: &'static str,
    /// What it is started with.
    pub args: &'static [&'static str],
    /// The agent that it is, or wraps, and is [pointed](point) at a model like.
    pub like: &'static str,
}

/// All agents that speak ACP.
pub const ACP: &[Acp] = &[
    Acp { agent: "claude-agent-acp", args: &[], like: "claude" },
    Acp { agent: "codex-acp", args: &[], like: "codex" },
    Acp { agent: "gemini", args: &["--acp", "--skip-trust"], like: "gemini" },
    Acp { agent: "opencode", args: &["acp"], like: "opencode" },
];

/// The environment in which the agent of that name talks to the scripted model at `url`; writes what it needs into `home`.
///
/// An error for those that speak ACP: they are pointed like the agent that they wrap.
pub fn point(name: &str, home: &Path, url: &str) -> io::Result<Environment> {
    match name {
        "claude" => claude::point(home, url),
        "codex" => codex::point(home, url),
        "gemini" => gemini::point(home, url),
        "opencode" => opencode::point(home, url),
        _ => Err(io::Error::other(format!("it is not known how to point `{name}` at a model"))),
    }
}

/// The program of the agent of that name, if it is installed.
pub fn binary(name: &str) -> Option<PathBuf> {
    let agent = Agent::named(name)?;
    let program = agent.program(&agent.folder()?);
    program.exists().then_some(program)
}

/// The same for a test: without the agent it prints why the test is skipped.
///
/// # Panics
///
/// If the agent is missing although [`REQUIRE_VARIABLE`] names it, or says `all`.
pub fn binary_for_test(name: &str) -> Option<PathBuf> {
    let found = binary(name);
    if found.is_none() {
        let required = std::env::var(REQUIRE_VARIABLE).unwrap_or_default();
        let is_required = required.split(',').any(|word| word == name || word == "all");
        assert!(!is_required, "{name} is not installed: `cargo xtask agents {name}`");
        eprintln!("skipped: {name} is not installed; `cargo xtask agents {name}` does that");
    }
    found
}
