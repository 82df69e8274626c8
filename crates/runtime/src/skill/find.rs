//! Which skills are installed, and where.

use std::fs;
use std::path::{Path, PathBuf};

use super::SKILL_FILE;
use adjourn_api::nearest::hint;

/// A skill that can be named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name, which is that of its folder.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
}

/// A name that no installed skill has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no skill `{name}`{}", hint(name, known.iter().map(String::as_str)))]
pub struct NotFound {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: Vec<String>,
}

/// The folder of the skill `name` in the first of `folders` that has it.
pub fn find(name: &str, folders: &[PathBuf]) -> Result<PathBuf, NotFound> {
    let found = folders.iter().map(|folder| folder.join(name)).find(|dir| is_safe(name) && is_skill(dir));
    found.ok_or_else(|| {
        let known = installed(folders).into_iter().map(|installed| installed.name).collect();
        NotFound { name: name.to_owned(), known }
    })
}

/// Every skill in `folders`, by name. Where two have the same one, the first is meant.
pub fn installed(folders: &[PathBuf]) -> Vec<Installed> {
    let mut all: Vec<Installed> = Vec::new();
    for folder in folders {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for dir in entries.flatten().map(|entry| entry.path()).filter(|dir| is_skill(dir)) {
            let Some(name) = dir.file_name().and_then(|name| name.to_str()).map(str::to_owned) else {
                continue;
            };
            if is_safe(&name) && all.iter().all(|known| known.name != name) {
                all.push(Installed { name, dir });
            }
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn is_skill(dir: &Path) -> bool {
    dir.join(SKILL_FILE).is_file()
}

/// Whether a name can be joined to a path without leading anywhere else, and shown anywhere.
pub(super) fn is_safe(name: &str) -> bool {
    let allowed = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && name.chars().all(allowed)
}
