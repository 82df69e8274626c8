//! `cargo xtask mcp`: the client of the official MCP SDK drives Adjourn, over stdio and over HTTP.

use anyhow::Result;

use crate::{cargo, install, python, repo};

/// The environment, and the folder of its script.
const NAME: &str = "mcp";

pub(crate) fn run() -> Result<()> {
    let adjourn = cargo::adjourn()?;
    let interpreter = python::environment(NAME)?;
    let root = repo::root().display().to_string();
    let script = format!("xtask/python/{NAME}/client.py");
    let args = [script.as_str(), &adjourn.display().to_string(), &root];
    install::command(repo::root(), &interpreter.display().to_string(), &args, "it was just installed")
}
