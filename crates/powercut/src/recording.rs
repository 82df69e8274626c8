//! Watching a data directory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::fault::{Call, Failure, Fault};
use crate::tape::{Action, Change, Step, Tape};
use crate::{observer, vfs};

/// Directories that are watched now.
static WATCHES: Mutex<Vec<Arc<Watch>>> = Mutex::new(Vec::new());

/// A directory that is watched.
#[derive(Debug)]
pub(crate) struct Watch {
    root: PathBuf,
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    steps: Vec<Step>,
    faults: Vec<Fault>,
    /// Calls that failed because of a fault.
    failed: usize,
    /// A file with a line for each effect on the world.
    effects: Option<PathBuf>,
}

impl Inside {
    fn note(&mut self, action: Action) {
        let effects = self.effects.as_deref().and_then(|file| std::fs::read_to_string(file).ok());
        let effects = effects.map_or(0, |text| text.lines().count());
        self.steps.push(Step { action, effects });
    }
}

/// The recording of a data directory, until it is dropped.
#[derive(Debug)]
pub struct Recording(Arc<Watch>);

impl Recording {
    /// Watches `dir`, which is to be made or empty. Open the store in it after this.
    pub fn start(dir: &Path) -> Self {
        vfs::install();
        observer::install();
        let root = whole(dir);
        let watch = Arc::new(Watch { root, inside: Mutex::default() });
        watches().push(watch.clone());
        Self(watch)
    }

    /// Notes on the tape that something was acknowledged, or took effect.
    pub fn mark(&self, mark: impl Into<String>) {
        self.0.inside().note(Action::Mark(mark.into()));
    }

    /// Counts the lines of `file` at every step: each is an effect on the world, of which a crash point knows how many
    /// there were.
    pub fn count_effects(&self, file: &Path) {
        self.0.inside().effects = Some(file.to_owned());
    }

    /// Has calls fail from now on.
    pub fn fail(&self, fault: Fault) {
        self.0.inside().faults.push(fault);
    }

    /// Has nothing fail any more. How many calls failed so far.
    pub fn fail_no_more(&self) -> usize {
        let mut inside = self.0.inside();
        inside.faults.clear();
        inside.failed
    }

    /// What was seen so far.
    pub fn tape(&self) -> Tape {
        Tape::new(self.0.inside().steps.clone())
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        watches().retain(|watch| !Arc::ptr_eq(watch, &self.0));
    }
}

impl Watch {
    /// The watch that a path is under, and the path in it.
    pub(crate) fn of(path: &Path) -> Option<(Arc<Self>, PathBuf)> {
        let watches = watches();
        if watches.is_empty() {
            return None;
        }
        let path = whole(path);
        watches.iter().find_map(|watch| {
            let inside = path.strip_prefix(&watch.root).ok()?;
            Some((watch.clone(), inside.to_owned()))
        })
    }

    pub(crate) fn note(&self, change: Change) {
        self.inside().note(Action::Change(change));
    }

    /// Whether a call fails.
    pub(crate) fn strikes(&self, call: Call, path: &Path) -> Option<Failure> {
        let mut inside = self.inside();
        let failure = inside.faults.iter_mut().find_map(|fault| fault.strikes(call, path));
        inside.failed += usize::from(failure.is_some());
        failure
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn watches() -> MutexGuard<'static, Vec<Arc<Watch>>> {
    WATCHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A path without links in the part of it that is there.
fn whole(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => whole(parent).join(name),
        _ => path.to_owned(),
    }
}
