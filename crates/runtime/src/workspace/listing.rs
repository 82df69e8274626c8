//! What a run left in its workspace.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use adjourn_engine::beneath::SEVERAL_NAMES;

use super::SKILL_FOLDER;

/// Files that a listing names. A run that works in a big repository has more, and nobody reads on.
pub const FILES_LISTED_MAX: usize = 10_000;

/// Entries that are looked at for a listing, folders and links too.
const ENTRIES_SEEN_MAX: usize = 10 * FILES_LISTED_MAX;

/// A file in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Why its content is not given out, where it is not.
    pub problem: Option<&'static str>,
}

/// The files in a workspace, by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// The files.
    pub files: Vec<Listed>,
    /// There are more than are listed.
    pub truncated: bool,
}

/// Regular files under `root`. Links are neither followed nor listed.
pub(super) fn list(root: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut folders = vec![PathBuf::new()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(root.join(&folder)) {
            Ok(entries) => entries,
            // It went away, or the agent locked it: the rest is still worth a listing.
            Err(_) if folder != Path::new("") => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            seen += 1;
            if seen > ENTRIES_SEEN_MAX || listing.files.len() == FILES_LISTED_MAX {
                listing.truncated = true;
                folders.clear();
                break;
            }
            let path = folder.join(entry.file_name());
            // Not followed: what a link leads to is not ours to show.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && path != Path::new(SKILL_FOLDER) {
                folders.push(path);
            } else if metadata.is_file() {
                let problem = (metadata.nlink() > 1).then_some(SEVERAL_NAMES);
                listing.files.push(Listed { path, bytes: metadata.len(), problem });
            }
        }
    }
    listing.files.sort_unstable();
    Ok(listing)
}
