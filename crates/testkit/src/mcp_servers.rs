//! Real MCP servers that nobody here wrote: which there are, and where they are installed.
//!
//! `cargo xtask mcp-servers` installs them, in the versions that are pinned in `xtask/mcp-servers`, into the user's cache
//! folder. A test asks for a [`binary_for_test`] and skips itself without one.

use std::path::{Path, PathBuf};

use crate::cache;

/// The folder of these servers in the cache.
pub const KIND: &str = "mcp-servers";

/// A server that can be installed.
#[derive(Debug)]
pub struct McpServer {
    /// What it is called, which is also its folder below `xtask/mcp-servers`.
    pub name: &'static str,
    /// Where it comes from.
    pub registry: Registry,
    /// What it depends on, with a checksum of everything.
    pub lock: &'static str,
    /// The program, in the folder of the installation.
    program: &'static str,
}

/// Where a server comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    /// The one of Node: `package.json` and `package-lock.json`.
    Npm,
    /// The one of Python: `requirements.txt` with checksums.
    Pypi,
}

impl Registry {
    /// The files that say what to install.
    pub const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &["package.json", "package-lock.json"],
            Self::Pypi => &["requirements.txt"],
        }
    }
}

/// All servers that can be installed.
pub const MCP_SERVERS: &[McpServer] = &[
    McpServer {
        name: "everything",
        registry: Registry::Npm,
        lock: include_str!("../../../xtask/mcp-servers/everything/package-lock.json"),
        program: "node_modules/.bin/mcp-server-everything",
    },
    McpServer {
        name: "filesystem",
        registry: Registry::Npm,
        lock: include_str!("../../../xtask/mcp-servers/filesystem/package-lock.json"),
        program: "node_modules/.bin/mcp-server-filesystem",
    },
    McpServer {
        name: "git",
        registry: Registry::Pypi,
        lock: include_str!("../../../xtask/mcp-servers/git/requirements.txt"),
        program: "venv/bin/mcp-server-git",
    },
];

impl McpServer {
    /// The server of that name.
    pub fn named(name: &str) -> Option<&'static McpServer> {
        MCP_SERVERS.iter().find(|server| server.name == name)
    }

    /// Where it belongs; none if the environment does not say where the cache is.
    pub fn folder(&self) -> Option<PathBuf> {
        cache::folder(KIND, self.name, self.lock)
    }

    /// The program of an installation in `folder`.
    pub fn program(&self, folder: &Path) -> PathBuf {
        folder.join(self.program)
    }
}

/// The program of the server of that name, for a test: without it, prints why the test is skipped.
///
/// # Panics
///
/// If it is missing although [`REQUIRE_VARIABLE`](crate::agents::REQUIRE_VARIABLE) names it, or says `all`.
pub fn binary_for_test(name: &str) -> Option<PathBuf> {
    let server = McpServer::named(name);
    let program = server.and_then(|server| Some(server.program(&server.folder()?)));
    cache::found_or_skipped(program.filter(|program| program.exists()), name, KIND)
}
