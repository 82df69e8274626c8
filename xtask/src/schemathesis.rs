//! `cargo xtask schemathesis`: the server against its own description.
//!
//! Schemathesis makes requests from `/openapi.json`, right ones and wrong ones, and holds every answer against it. What
//! it is told is in `xtask/python/schemathesis`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::server::{Server, Setup};
use crate::{cargo, python, repo};

/// Where it is told what to do.
const FOLDER: &str = "xtask/python/schemathesis";

/// Runs on the replay engine, and an engine whose runs fail and leave something to read. There is no limit to writes on
/// loopback; one that is set here has to let some hundred a second through.
const CONFIG: &str = r#"
[slots]
total = 8

[engines.broken]
kind = "exec"
preset = "command"
command = ["sh", "-c", "echo this does not work | tee notes.txt; exit 1"]
"#;

pub(crate) fn run() -> Result<()> {
    let python = python::environment("schemathesis")?;
    let binary = cargo::adjourn()?;
    without_tokens(&python, &binary)?;
    with_tokens(&python, &binary)
}

/// Everything that the document says, by everybody on this machine.
fn without_tokens(python: &Path, binary: &Path) -> Result<()> {
    let skills = repo::root().join("skills");
    let config = format!("skills = [\"{}\"]\n{CONFIG}", skills.display());
    let server = Server::start(&Setup { binary, name: "schemathesis", config: &config, args: &[] })?;
    script(python, "fixtures.py", [server.url.as_ref(), skills.as_os_str(), server.folder.as_os_str()])?;
    schemathesis(python, &server, "schemathesis.toml", None)?;
    script(python, "reached.py", [server.url.as_ref(), server.folder.as_os_str()])
}

fn script<'a>(python: &Path, name: &str, args: impl IntoIterator<Item = &'a OsStr>) -> Result<()> {
    let mut command = Command::new(python);
    // What Python compiles would lie around in the repository.
    command.arg("-B").arg(repo::root().join(FOLDER).join(name)).args(args);
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    ensure!(status.success(), "{name} failed ({status})");
    Ok(())
}

/// That nobody gets anything without a token who needs one.
fn with_tokens(python: &Path, binary: &Path) -> Result<()> {
    let tokens = repo::root().join(format!("target/schemathesis-tokens-{}.txt", std::process::id()));
    let file = tokens.display().to_string();
    let made =
        Command::new(binary).args(["token", "schemathesis", "--role", "admin", "--file", &file]).output();
    let token = made.context("`adjourn token` could not be started").and_then(|made| {
        ensure!(made.status.success(), "`adjourn token` failed: {}", String::from_utf8_lossy(&made.stderr));
        Ok(String::from_utf8(made.stdout)?.trim().to_owned())
    });
    let tried = token.and_then(|token| {
        let args = ["--tokens", file.as_str()];
        let server =
            Server::start(&Setup { binary, name: "schemathesis-tokens", config: CONFIG, args: &args })?;
        schemathesis(python, &server, "with-tokens.toml", Some(&token))
    });
    let _ = std::fs::remove_file(tokens);
    tried
}

fn schemathesis(python: &Path, server: &Server, config: &str, token: Option<&str>) -> Result<()> {
    // Beside the dictionaries, which it names.
    let to = server.folder.join("schemathesis.toml");
    std::fs::copy(repo::root().join(FOLDER).join(config), &to)?;
    let mut command = Command::new(python);
    command.args(["-m", "schemathesis.cli", "--config-file"]).arg(&to);
    command.args(["run", &format!("{}/openapi.json", server.url), "--no-color", "--continue-on-failure"]);
    command.current_dir(&server.folder);
    if let Some(token) = token {
        command.args(["--header", &format!("Authorization: Bearer {token}")]);
    }
    let status = command.status().context("cannot start Schemathesis")?;
    ensure!(status.success(), "the server is not as it describes itself ({config}, {status})");
    Ok(())
}
