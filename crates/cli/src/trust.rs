//! Configuration files that a person said may run what they name.
//!
//! A file is trusted by where it is and what is in it, so a change has to be trusted anew, and so has the same text elsewhere: a
//! relative command means another program there. What is trusted is kept in the user's own state folder, never in a data
//! directory, which may have come with the file.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use adjourn_engine::UserList;
use adjourn_runtime::config::ConfigFile;
use anyhow::{Context, anyhow};

use crate::exit::wrong_use;
use crate::style::{self, styled};
use crate::text::{clean, indented, quoted};

/// The variable that trusts whatever file is found, for one command: for machines that build and test.
const TRUST_VARIABLE: &str = "ADJOURN_TRUST_CONFIG";

/// Lets a file that was found be used, or says what it would run and how to allow that. On a terminal a person is asked.
pub(crate) fn check(file: &ConfigFile, may_ask: bool) -> anyhow::Result<()> {
    let runs = file.what_it_runs().map_err(wrong_use)?;
    if runs.is_empty() || is_trusted_by_variable()? {
        return Ok(());
    }
    let list = list();
    if let (Ok(list), Some(line)) = (&list, line(file))
        && list.has(&line)
    {
        return Ok(());
    }
    let path = clean(&file.path.display().to_string());
    let shown = indented(&clean(&runs.join("\n")), "  ");
    if may_ask && io::stdin().is_terminal() && io::stderr().is_terminal() {
        anstream::eprintln!(
            "{} says what to run, and you did not allow that yet:\n{shown}",
            styled(style::BOLD, &path)
        );
        let question = inquire::Confirm::new("Allow this?").with_default(false);
        return match question.prompt() {
            Ok(true) => add(&list?, file),
            Ok(false) => Err(anyhow!("{path} is not trusted, so nothing was started")),
            Err(error) => Err(error.into()),
        };
    }
    Err(anyhow!(
        "{path} says what to run, and nobody allowed that yet:\n{shown}\n\
         `adjourn config trust {}` allows it, until the file changes; --config names a file that you trust, and \
         {TRUST_VARIABLE}=1 allows whatever is found for one command",
        quoted(&path)
    ))
}

/// Trusts a file as it is now.
pub(crate) fn remember(file: &ConfigFile) -> anyhow::Result<()> {
    add(&list()?, file)
}

/// Trusts a file that was named, as it is now, so that it is trusted when it is remembered.
pub(crate) fn remember_named(path: &Path) -> anyhow::Result<()> {
    let file = ConfigFile::open(path).map_err(wrong_use)?;
    // Who says so for one command says so for the next.
    if is_trusted_by_variable()? || file.what_it_runs().map_err(wrong_use)?.is_empty() {
        return Ok(());
    }
    let list = list()?;
    match line(&file) {
        Some(line) if list.has(&line) => Ok(()),
        Some(_) | None => add(&list, &file),
    }
}

fn is_trusted_by_variable() -> anyhow::Result<bool> {
    match std::env::var_os(TRUST_VARIABLE) {
        None => Ok(false),
        Some(value) if value == "1" => Ok(true),
        Some(value) if value == "0" || value.is_empty() => Ok(false),
        Some(value) => {
            Err(wrong_use(format!("{TRUST_VARIABLE} is `{}`: it should be 1 or 0", value.to_string_lossy())))
        }
    }
}

/// The list of trusted files: a line `DIGEST PATH` for each.
fn list() -> anyhow::Result<UserList> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    UserList::of_user("trusted", variable)
        .context("there is nowhere to keep what is trusted: set HOME or XDG_STATE_HOME to an absolute path")
}

/// Trusts a file as it is, and what it said before no more.
fn add(list: &UserList, file: &ConfigFile) -> anyhow::Result<()> {
    let line =
        line(file).with_context(|| format!("{} has no place that can be kept", file.path.display()))?;
    let path = path_in(&line);
    list.add(&line, |trusted| path_in(trusted) == path)
        .with_context(|| format!("cannot write {}", list.path().display()))
}

fn path_in(line: &str) -> Option<&str> {
    line.split_once(' ').map(|(_, path)| path)
}

/// The line of a file; none for a path that is no text, or has a line break in it.
fn line(file: &ConfigFile) -> Option<String> {
    let path = file.path.canonicalize().ok()?;
    let path = path.to_str().filter(|path| !path.contains('\n'))?;
    Some(format!("{} {path}", file.digest()))
}
