//! A git repository whose commits have the same hashes whoever makes them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::Result;

/// Noon of 1 May 2026, UTC. Each commit is an hour after the one before.
const BEGAN: u64 = 1_777_636_800;

/// A commit without files: what is read of it is its message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Commit {
    message: String,
    #[serde(default)]
    tag: Option<String>,
}

/// Makes a repository of `commits` in `folder`; without commits there is none.
pub(crate) fn make(commits: &[Commit], folder: &Path) -> Result<Option<PathBuf>> {
    if commits.is_empty() {
        return Ok(None);
    }
    fs::create_dir(folder)?;
    git(folder, BEGAN, &["init", "--quiet", "--initial-branch=main"])?;
    for (hour, commit) in (0..).zip(commits) {
        let at = BEGAN + hour * 3600;
        git(folder, at, &["commit", "--quiet", "--allow-empty", "--message", &commit.message])?;
        if let Some(tag) = &commit.tag {
            git(folder, at, &["tag", tag])?;
        }
    }
    Ok(Some(folder.to_owned()))
}

/// Nobody's configuration and a fixed author and time, on which hashes depend.
fn git(folder: &Path, at: u64, args: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Robin")
            .env(format!("GIT_{role}_EMAIL"), "robin@example.org");
        command.env(format!("GIT_{role}_DATE"), format!("{at} +0000"));
    }
    let status = command.status()?;
    if !status.success() {
        return Err(format!("`git {}` failed ({status})", args.join(" ")).into());
    }
    Ok(())
}
