//! Changes that our own code makes to files.

use std::fs;
use std::io;
use std::path::Path;

use adjourn_store::files::{self, FileChange, Observer};

use crate::fault::Call;
use crate::recording::Watch;
use crate::tape::Change;

/// Has changes be recorded, once for the process.
pub(crate) fn install() {
    files::observe(Box::new(Recorder));
}

struct Recorder;

impl Observer for Recorder {
    fn before(&self, change: FileChange<'_>) -> io::Result<()> {
        let (path, call) = match change {
            FileChange::MakeFolder(path) | FileChange::Write(path) | FileChange::Link(path) => {
                (path, Call::Write)
            }
            FileChange::Truncate(path, _) => (path, Call::Truncate),
            FileChange::SyncFile(path) | FileChange::SyncFolder(path) => (path, Call::Sync),
            FileChange::Rename(_, path) => (path, Call::Rename),
            FileChange::Remove(path) => (path, Call::Remove),
        };
        let Some((watch, inside)) = Watch::of(parent_of(path)) else { return Ok(()) };
        let inside = path.file_name().map_or_else(|| inside.clone(), |name| inside.join(name));
        let Some(failure) = watch.strikes(call, &inside) else { return Ok(()) };
        if call == Call::Sync {
            watch.note(Change::SyncFailed(inside));
        }
        Err(failure.as_io_error())
    }

    fn after(&self, change: FileChange<'_>) {
        match change {
            FileChange::MakeFolder(path) => note(path, Change::MakeFolder),
            FileChange::Write(path) => {
                let bytes = fs::read(path).unwrap_or_default();
                note(path, |path| Change::Write { path, offset: 0, bytes });
            }
            FileChange::Link(path) => {
                let target = fs::read_link(path).unwrap_or_default();
                note(path, |path| Change::Link { path, target });
            }
            FileChange::Truncate(path, bytes) => note(path, |path| Change::Truncate { path, bytes }),
            FileChange::SyncFile(path) => note(path, Change::SyncFile),
            FileChange::SyncFolder(path) => note(path, Change::SyncFolder),
            FileChange::Rename(from, to) => {
                let (Some((_, from)), Some((watch, to))) = (named(from), named(to)) else { return };
                watch.note(Change::Rename { from, to });
            }
            FileChange::Remove(path) => note(path, Change::Remove),
        }
    }
}

fn note(path: &Path, change: impl FnOnce(std::path::PathBuf) -> Change) {
    if let Some((watch, path)) = named(path) {
        watch.note(change(path));
    }
}

/// A name in a watched directory. The last part is not followed, should it be a link.
fn named(path: &Path) -> Option<(std::sync::Arc<Watch>, std::path::PathBuf)> {
    if let Some(whole @ (_, _)) = Watch::of(parent_of(path)) {
        let (watch, parent) = whole;
        return Some((watch, path.file_name().map_or_else(|| parent.clone(), |name| parent.join(name))));
    }
    // The watched directory itself.
    Watch::of(path)
}

fn parent_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
