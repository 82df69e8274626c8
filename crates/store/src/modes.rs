//! File modes of a data directory: nobody but its owner reads what runs were asked, said and did.
//!
//! The directory itself is the wall: with mode 0700 nobody else gets to anything in it, whatever modes that has. The files that
//! hold everything are 0600 besides, for those who copy them elsewhere. The process keeps its umask: agents inherit it, and the
//! modes of what they make in their workspaces are the user's choice.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What Adjourn itself keeps directly in a data directory, besides everything whose name begins with `adjourn.`.
const OWN_FILES: [&str; 1] = ["background.log"];
const OWN_FOLDERS: [&str; 4] = ["runs", "incoming", "skills", "roundtables"];
const PREFIX: &str = "adjourn.";

/// The part of a mode that lets others in.
const OTHERS: u32 = 0o077;

/// Makes a directory, and those above it that are missing; the last one is for its owner alone.
pub(crate) fn create(dir: &Path) -> io::Result<()> {
    if let Some(parent) = dir.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes a file for its owner alone, if it is not there.
pub(crate) fn create_file(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path).map(drop)
}

/// Puts right what others than its owner may read of a data directory; what that was.
///
/// A directory that also holds what is not Adjourn's keeps its own mode: somebody uses it for more. What Adjourn keeps in it is
/// put right all the same. A directory that is not there has nothing to be put right.
pub fn protect(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let (mut put_right, mut is_shared) = (Vec::new(), false);
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_own = name.starts_with(PREFIX) || OWN_FILES.contains(&&*name) || OWN_FOLDERS.contains(&&*name);
        is_shared |= !is_own;
        // A link leads to something that is not ours to change.
        if is_own && !entry.file_type()?.is_symlink() {
            take_from_others(&entry.path(), &mut put_right)?;
        }
    }
    if !is_shared {
        take_from_others(dir, &mut put_right)?;
    }
    put_right.sort();
    Ok(put_right)
}

fn take_from_others(path: &Path, put_right: &mut Vec<PathBuf>) -> io::Result<()> {
    let mode = match fs::metadata(path) {
        Ok(found) => found.permissions().mode(),
        // The journal's log comes and goes.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if mode & OTHERS != 0 {
        match fs::set_permissions(path, fs::Permissions::from_mode(mode & !OTHERS & 0o7777)) {
            Ok(()) => put_right.push(path.to_owned()),
            // A folder of somebody else's, like a volume that was mounted here: its owner decides.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::protect;
    use crate::SqliteStore;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_data_directory_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("a/data");
        let _store = SqliteStore::open(&dir).unwrap();
        assert_eq!(mode(&dir), 0o700);
        for name in ["adjourn.db", "adjourn.db-wal", "adjourn.db-shm", "adjourn.lock"] {
            assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
        }
    }

    #[test]
    fn what_an_earlier_version_left_open_is_put_right_once() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("data");
        drop(SqliteStore::open(&dir).unwrap());
        fs::create_dir(dir.join("runs")).unwrap();
        for (name, mode) in [("adjourn.db", 0o644), ("adjourn.lock", 0o664), ("runs", 0o755), ("", 0o755)] {
            set(&dir.join(name), mode);
        }
        let names = |paths: Vec<std::path::PathBuf>| {
            paths
                .iter()
                .map(|path| path.strip_prefix(&dir).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(protect(&dir).unwrap()), ["", "adjourn.db", "adjourn.lock", "runs"]);
        assert_eq!(
            (mode(&dir), mode(&dir.join("adjourn.db")), mode(&dir.join("runs"))),
            (0o700, 0o600, 0o700)
        );
        assert_eq!(names(protect(&dir).unwrap()), [""; 0]);
    }

    #[test]
    fn a_directory_that_is_used_for_more_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("shared");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("notes.txt"), "").unwrap();
        set(&dir, 0o755);
        set(&dir.join("notes.txt"), 0o644);
        drop(SqliteStore::open(&dir).unwrap());
        assert_eq!(protect(&dir).unwrap(), Vec::<std::path::PathBuf>::new());
        assert_eq!(
            (mode(&dir), mode(&dir.join("notes.txt")), mode(&dir.join("adjourn.db"))),
            (0o755, 0o644, 0o600)
        );
    }
}
