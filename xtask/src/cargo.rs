//! Calling cargo.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::repo;

/// Runs cargo with its output passed on as it comes.
pub(crate) fn run(args: &[&str]) -> Result<()> {
    run_with(&[], args)
}

/// The same, with more in its environment.
pub(crate) fn run_with(environment: &[(&str, &str)], args: &[&str]) -> Result<()> {
    let mut command = command(args);
    command.envs(environment.iter().copied());
    let shown = shown(&command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}

/// Runs cargo and returns what it printed.
pub(crate) fn output(args: &[&str]) -> Result<String> {
    let mut command = command(args);
    let shown = shown(&command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot start `{shown}`"))?;
    ensure!(output.status.success(), "`{shown}` failed ({})", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// Builds the binary `adjourn` and says where it is: by the command that builds the tests, because with any other choice of
/// packages half of what it is made of would be compiled a second time, with other features.
pub(crate) fn adjourn() -> Result<PathBuf> {
    run(&["test", "--workspace", "--all-features", "--no-run"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(repo::root().join(target).join("debug/adjourn"))
}

fn command(args: &[&str]) -> Command {
    // Cargo names itself when it starts us; the same toolchain has to do the rest.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(repo::root());
    command
}

/// The command as a person would type it.
fn shown(command: &Command) -> String {
    let args = command.get_args().map(OsStr::to_string_lossy);
    std::iter::once("cargo".into()).chain(args).collect::<Vec<_>>().join(" ")
}
