//! Finding an agent's program before it is started, so that "not installed" can be told from "ended badly".

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that `name` stands for: itself if it has a slash, relative to our own folder, else the first in `path`.
pub(crate) fn locate(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if name.contains('/') {
        let file = std::path::absolute(name).ok()?;
        return is_executable(&file).then_some(file);
    }
    let folders = std::env::split_paths(path?);
    // An empty entry would mean the workspace, where an agent could have put a program of that name.
    folders
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::locate;

    #[test]
    fn a_program_is_found_by_path_or_by_name() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "not executable").unwrap();
        let path = std::env::join_paths([folder.path(), Path::new("bin"), Path::new("/bin")]).unwrap();
        assert_eq!(locate("sh", Some(&path)).as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(locate("/bin/sh", None).as_deref(), Some(Path::new("/bin/sh")));
        assert_eq!(locate("/bin", None), None, "a folder is no program");
        assert_eq!(locate("sh", None), None);
        assert_eq!(locate("", Some(OsStr::new("/bin"))), None);
    }
}
