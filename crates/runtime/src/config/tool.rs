//! `[tools.*]`: MCP servers that skills may name.

use std::collections::BTreeMap;

use adjourn_api::read::within;
use adjourn_core::KeyScope;
use adjourn_engine::secrets::Secret;
use adjourn_engine::{Allowance, Pattern};
use serde::Deserialize;

use super::check::Check;
use super::sandbox::{self, SandboxConfig, SandboxSwitch};

/// How long one call may take when nobody says otherwise, in seconds: what most MCP clients allow.
pub const TOOL_TIMEOUT_DEFAULT_SEC: u32 = 60;

/// A day. What takes longer is not a call but a run.
const TOOL_TIMEOUT_MAX_SEC: u32 = 24 * 60 * 60;

/// One MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolConfig {
    /// How it is reached.
    pub server: ToolServer,
    /// Methods that must never be called twice with the same arguments. None: what the server says of its methods.
    pub irreversible: Option<Vec<Pattern>>,
    /// Methods that a person is asked about before each call.
    pub approve: Vec<Pattern>,
    /// Where the same irreversible call is made only once.
    pub scope: KeyScope,
    /// How long a call may take.
    pub timeout_sec: u32,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolServer {
    /// It is started, and talked to over its stdin and stdout.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// Added to the allow-listed environment.
        env: BTreeMap<String, Secret>,
        /// Variables that are let through to it.
        pass_env: Vec<String>,
        /// The wall around it.
        sandbox: SandboxConfig,
    },
    /// It is there, over streamable HTTP.
    Url(String),
}

/// `[tools.*]` as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolTable {
    command: Option<Vec<String>>,
    url: Option<String>,
    env: BTreeMap<String, Secret>,
    pass_env: Vec<String>,
    sandbox: Option<SandboxSwitch>,
    sandbox_write: Vec<String>,
    sandbox_allow: Vec<Allowance>,
    irreversible: Option<Vec<Pattern>>,
    approve: Vec<Pattern>,
    scope: Option<KeyScope>,
    #[serde(deserialize_with = "within::<1, TOOL_TIMEOUT_MAX_SEC, _, _>")]
    timeout_sec: Option<u32>,
}

impl ToolTable {
    pub(super) fn tool(self, name: &str, check: &mut Check<'_>) -> Option<ToolConfig> {
        let at = |key| ["tools", name, key];
        let both = check.has(&at("command")) && check.has(&at("url"));
        let command = check.command(&at("command"), self.command);
        let url = check.url(&at("url"), self.url);
        check.environment(&at("env"), &self.env);
        let server = match (command, url) {
            (Some(_) | None, Some(_) | None) if both => {
                let message = "has both `command` and `url`: a server is either started or already there";
                check.error(&["tools", name], message);
                None
            }
            (Some(command), _) => {
                let sandbox =
                    SandboxConfig::new(self.sandbox, &self.sandbox_write, self.sandbox_allow, check);
                Some(ToolServer::Command { command, env: self.env, pass_env: self.pass_env, sandbox })
            }
            (None, Some(url)) => {
                for key in ["env", "pass_env"] {
                    check.refuse(&at(key), "only a server that is started by `command` has an environment");
                }
                for key in sandbox::KEYS {
                    check.refuse(&at(key), "only a server that is started by `command` has a sandbox");
                }
                Some(ToolServer::Url(url))
            }
            (None, None) => {
                if !check.has(&at("url")) {
                    let why = "the MCP server to start, or `url` for one that is there";
                    check.missing(&at("command"), why);
                }
                None
            }
        };
        Some(ToolConfig {
            server: server?,
            irreversible: self.irreversible,
            approve: self.approve,
            scope: self.scope.unwrap_or(KeyScope::Run),
            timeout_sec: self.timeout_sec.unwrap_or(TOOL_TIMEOUT_DEFAULT_SEC),
        })
    }
}
