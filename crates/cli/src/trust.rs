//! Configuration files that a person said may run what they name.
//!
//! A file is trusted by where it is and what is in it, so a change has to be trusted anew, and so has the same text elsewhere: a
//! relative command means another program there. What is trusted is kept in the user's own state folder, never in a data
//! directory, which may have come with the file.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use adjourn_runtime::config::ConfigFile;
use anyhow::{Context, anyhow};

use crate::exit::wrong_use;
use crate::style::{self, styled};
use crate::text::{clean, indented, quoted};

/// The variable that trusts whatever file is found, for one command: for machines that build and test.
const TRUST_VARIABLE: &str = "ADJOURN_TRUST_CONFIG";

/// Bytes of the list that are read: thousands of files.
const LIST_BYTES_MAX: u64 = 1024 * 1024;

/// Lets a file that was found be used, or says what it would run and how to allow that. On a terminal a person is asked.
pub(crate) fn check(file: &ConfigFile, may_ask: bool) -> anyhow::Result<()> {
    let runs = file.what_it_runs().map_err(wrong_use)?;
    if runs.is_empty() || is_trusted_by_variable()? {
        return Ok(());
    }
    let list = List::of_user();
    if let Ok(list) = &list
        && list.has(file)
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
            Ok(true) => list?.add(file),
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
    List::of_user()?.add(file)
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

/// The list of trusted files of a user: a line `DIGEST PATH` for each.
struct List(PathBuf);

impl List {
    fn of_user() -> anyhow::Result<Self> {
        let set = |name: &str| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
        let folder = list_folder(set("XDG_STATE_HOME"), set("HOME"));
        let folder = folder.context(
            "there is nowhere to keep what is trusted: set HOME or XDG_STATE_HOME to an absolute path",
        )?;
        Ok(Self(folder.join("trusted")))
    }

    fn has(&self, file: &ConfigFile) -> bool {
        let (Ok(text), Some(line)) = (self.read(), line(file)) else { return false };
        text.lines().any(|trusted| trusted == line)
    }

    /// A list that somebody else could have written trusts nothing.
    fn read(&self) -> io::Result<String> {
        let file = File::open(&self.0)?;
        let found = file.metadata()?;
        let is_own = found.uid() == rustix::process::geteuid().as_raw() || found.uid() == 0;
        if !is_own || found.mode() & 0o022 != 0 {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "others may write the list"));
        }
        let mut text = String::new();
        file.take(LIST_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }

    fn add(&self, file: &ConfigFile) -> anyhow::Result<()> {
        let line =
            line(file).with_context(|| format!("{} has no place that can be kept", file.path.display()))?;
        let path = line.split_once(' ').map_or("", |(_, path)| path);
        let mut lines: Vec<_> = match self.read() {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.0.display())),
        };
        // What the file said before is trusted no more.
        lines.retain(|trusted| trusted.split_once(' ').is_none_or(|(_, other)| other != path));
        lines.push(line.clone());
        self.write(&lines).with_context(|| format!("cannot write {}", self.0.display()))
    }

    fn write(&self, lines: &[String]) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let new = self.0.with_extension(format!("new-{}", std::process::id()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        let written = file.write_all(format!("{}\n", lines.join("\n")).as_bytes());
        let written = written.and_then(|()| file.sync_all()).and_then(|()| fs::rename(&new, &self.0));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    }
}

fn list_folder(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let state = state.map(PathBuf::from).or_else(|| Some(Path::new(&home?).join(".local/state")));
    Some(state?.join("adjourn"))
}

/// The line of a file; none for a path that is no text, or has a line break in it.
fn line(file: &ConfigFile) -> Option<String> {
    let path = file.path.canonicalize().ok()?;
    let path = path.to_str().filter(|path| !path.contains('\n'))?;
    Some(format!("{} {path}", file.digest()))
}
