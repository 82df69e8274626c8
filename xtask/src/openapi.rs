//! `cargo xtask openapi`: the description of the server, read by tools that others wrote.
//!
//! Redocly says whether `/openapi.json` is complete. `openapi-python-client` makes a client of it, which then starts,
//! answers and reads a run on a live server.

use std::fs;

use anyhow::{Context, Result};

use crate::server::{Server, Setup};
use crate::{cargo, install, python, repo};

/// The packages and the rules of Redocly.
const REDOCLY: &str = "xtask/openapi";

/// The settings of the generator, and the script that uses the client.
const CLIENT: &str = "xtask/python/openapi";

pub(crate) fn run() -> Result<()> {
    let binary = cargo::adjourn()?;
    let config = format!("skills = [\"{}\"]\n", repo::root().join("skills").display());
    let server = Server::start(&Setup { binary: &binary, name: "openapi", config: &config, args: &[] })?;
    let document = format!("{}/openapi.json", server.url);
    lint(&document)?;
    generate_and_use(&document, &server)
}

fn lint(document: &str) -> Result<()> {
    let lock = repo::read(format!("{REDOCLY}/package-lock.json"))?;
    let folder = install::once("openapi", "redocly", &lock, |folder| {
        for file in ["package.json", "package-lock.json"] {
            let source = repo::root().join(REDOCLY).join(file);
            fs::copy(&source, folder.join(file))
                .with_context(|| format!("cannot copy {}", source.display()))?;
        }
        install::npm_ci(folder)
    })?;
    let rules = repo::root().join(REDOCLY).join("redocly.yaml").display().to_string();
    // It would ask whether there is a newer version.
    let silent = ["REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "REDOCLY_TELEMETRY=off"];
    let lint = ["node", "node_modules/@redocly/cli/bin/cli.js", "lint", document, "--config", &rules];
    install::command(&folder, "env", &[&silent[..], &lint].concat(), install::NODE_HINT)
}

fn generate_and_use(document: &str, server: &Server) -> Result<()> {
    let python = python::environment("openapi")?.display().to_string();
    let [settings, script] = ["generator.yaml", "client.py"]
        .map(|file| repo::root().join(CLIENT).join(file).display().to_string());
    let package = server.folder.join("adjourn_client").display().to_string();
    let generate = ["-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none"];
    let told = ["--url", document, "--config", &settings, "--output-path", &package];
    let hint = "it was just installed";
    install::command(&server.folder, &python, &[&generate[..], &told].concat(), hint)?;
    let folder = server.folder.display().to_string();
    // What Python compiles would lie around in the repository.
    install::command(&server.folder, &python, &["-B", &script, &folder, &server.url], hint)
}
