//! Where the repository is, and which files are in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What tools leave behind, as opposed to what a person wrote.
const SKIPPED: &[&str] = &["target", "node_modules", ".git", ".adjourn"];

/// The root of the repository, wherever the command was started.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

/// Every file below `dir`, relative to it, in a stable order.
///
/// A walk and not `git ls-files`: the checks also have to work in an unpacked archive.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let path = entry.path();
            if SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if let Ok(relative) = path.strip_prefix(dir) {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The text of a file of the repository.
pub(crate) fn read(relative: impl AsRef<Path>) -> Result<String> {
    let path = root().join(relative);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}
