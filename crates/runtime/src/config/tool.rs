//! `[tools.*]`: MCP servers that skills may name.

use std::collections::BTreeMap;

use adjourn_core::KeyScope;

use super::reader::Reader;
use super::sandbox::{self, SandboxConfig};
use super::value::{command, environment, url};
use adjourn_engine::Pattern;
use adjourn_engine::secrets::Secret;

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

pub(super) fn read(reader: &Reader<'_>) -> Option<ToolConfig> {
    if !reader.is_there() {
        return None;
    }
    let (command, url) = (command(reader), url(reader, "url"));
    let both = reader.has("command") && reader.has("url");
    let env = environment(reader, "env");
    let pass_env = reader.strings("pass_env").map_or_else(Vec::new, |found| found.value);
    let sandbox = sandbox::read(reader);
    let patterns = |key| {
        let found = reader.strings(key)?;
        Some(found.value.into_iter().map(Pattern::new).collect())
    };
    let irreversible = patterns("irreversible");
    let approve = patterns("approve").unwrap_or_default();
    let scope = reader.named("scope").map_or(KeyScope::Run, |found| found.value);
    let timeout_sec = reader
        .number("timeout_sec", 1..=TOOL_TIMEOUT_MAX_SEC)
        .map_or(TOOL_TIMEOUT_DEFAULT_SEC, |found| found.value);
    let server = match (command, url) {
        (Some(_) | None, Some(_) | None) if both => {
            reader.error_here("has both `command` and `url`: a server is either started or already there");
            None
        }
        (Some(command), _) => Some(ToolServer::Command { command, env, pass_env, sandbox }),
        (None, Some(url)) => {
            for key in ["env", "pass_env"] {
                reader.refuse(key, "only a server that is started by `command` has an environment");
            }
            for key in sandbox::KEYS {
                reader.refuse(key, "only a server that is started by `command` has a sandbox");
            }
            Some(ToolServer::Url(url))
        }
        (None, None) => {
            if !reader.has("url") {
                reader.missing("command", "the MCP server to start, or `url` for one that is there");
            }
            None
        }
    };
    reader.finish();
    Some(ToolConfig { server: server?, irreversible, approve, scope, timeout_sec })
}
