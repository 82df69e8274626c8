//! A list of lines that a person allowed, in the user's own state folder.
//!
//! Never in a data directory, which may have come with the files that it is about. Programs behind a sandbox do not see it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a list that are read: thousands of lines.
const LIST_BYTES_MAX: u64 = 1024 * 1024;

/// A list of lines that a person allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserList(PathBuf);

impl UserList {
    /// The list called `name`, of the user whose environment has these variables; none where there is no folder for it.
    pub fn of_user(name: &str, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        state_folder(variable).map(|folder| Self(folder.join(name)))
    }

    /// Where the list is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether a line is in the list. A list that somebody else could have written has none.
    pub fn has(&self, line: &str) -> bool {
        self.read().is_ok_and(|text| text.lines().any(|allowed| allowed == line))
    }

    /// Puts a line into the list, for the lines that `replaces` picks.
    pub fn add(&self, line: &str, replaces: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut lines: Vec<_> = match self.read() {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        lines.retain(|allowed| allowed != line && !replaces(allowed));
        lines.push(line.to_owned());
        self.write(&lines)
    }

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

/// The user's folder for Adjourn, where lists like this are kept.
pub fn state_folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(state.join("adjourn"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn list(home: &Path) -> UserList {
        UserList::of_user("allowed", |name| (name == "HOME").then(|| home.to_owned())).unwrap()
    }

    #[test]
    fn a_line_is_kept_for_its_user_alone() {
        let home = tempfile::tempdir().unwrap();
        let list = list(home.path());
        assert!(!list.has("claude"));
        list.add("claude", |_| false).unwrap();
        list.add("codex", |_| false).unwrap();
        assert!(list.has("claude") && list.has("codex") && !list.has("claud"));
        assert_eq!(fs::metadata(list.path()).unwrap().permissions().mode() & 0o777, 0o600);
        list.add("gemini", |line| line == "claude").unwrap();
        assert!(!list.has("claude") && list.has("codex") && list.has("gemini"));
    }

    #[test]
    fn a_list_that_others_may_write_allows_nothing() {
        let home = tempfile::tempdir().unwrap();
        let list = list(home.path());
        list.add("claude", |_| false).unwrap();
        fs::set_permissions(list.path(), fs::Permissions::from_mode(0o622)).unwrap();
        assert!(!list.has("claude"));
        list.add("codex", |_| false).unwrap_err();
    }

    #[test]
    fn a_relative_folder_is_no_place_for_a_list() {
        assert_eq!(UserList::of_user("allowed", |_| Some("state".into())), None);
        let state = |name: &str| (name == "XDG_STATE_HOME").then(|| "/state".into());
        assert_eq!(UserList::of_user("allowed", state).unwrap().path(), Path::new("/state/adjourn/allowed"));
    }
}
