//! How a tool server is declared.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::policy::Policy;
use crate::sandbox::SandboxOptions;
use crate::secrets::Secret;

/// How long a call may take when nobody says otherwise: what most MCP clients allow.
const CALL_DEFAULT: Duration = Duration::from_secs(60);

/// One tool server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerOptions {
    /// How it is reached.
    pub place: Place,
    /// How long one call may take.
    pub call_max: Duration,
    /// What its tools may do without being asked about.
    pub policy: Policy,
}

/// How a tool server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    /// It is started, and talked to over its stdin and stdout.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// The folder it works in.
        folder: PathBuf,
        /// The wall around it; none where a person switched it off.
        sandbox: Option<SandboxOptions>,
        /// Added to the allow-listed environment.
        env: BTreeMap<String, Secret>,
        /// Variables that are let through to it.
        pass_env: Vec<String>,
    },
    /// It is there, over streamable HTTP.
    Url(String),
}

impl ServerOptions {
    /// A server at `place`, of which nothing else is said.
    pub fn new(place: Place) -> Self {
        Self { place, call_max: CALL_DEFAULT, policy: Policy::default() }
    }

    /// A server that is started by a command.
    pub fn command<S: Into<String>>(
        command: impl IntoIterator<Item = S>,
        folder: impl Into<PathBuf>,
    ) -> Self {
        Self::new(Place::Command {
            command: command.into_iter().map(Into::into).collect(),
            folder: folder.into(),
            sandbox: Some(SandboxOptions::default()),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
        })
    }

    /// A server that is there.
    pub fn url(url: impl Into<String>) -> Self {
        Self::new(Place::Url(url.into()))
    }
}
