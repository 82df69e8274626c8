//! What was done to the files of a directory, in order, and every point at which the power could go out.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, Keep};

/// A change to a file or folder, by its path in the watched directory.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    MakeFolder(PathBuf),
    Write { path: PathBuf, offset: u64, bytes: Vec<u8> },
    Link { path: PathBuf, target: PathBuf },
    Truncate { path: PathBuf, bytes: u64 },
    SyncFile(PathBuf),
    SyncFolder(PathBuf),
    SyncFailed(PathBuf),
    Rename { from: PathBuf, to: PathBuf },
    Remove(PathBuf),
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Effects on the world that were seen by then.
    pub(crate) effects: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Change(Change),
    /// Something was acknowledged, or took effect.
    Mark(String),
}

/// How many states are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One after each sync and before it, with what is not synced lost, kept, or half there. For every change.
    Short,
    /// One after each change, with many ways to lose what is not synced. For a night.
    Full,
}

impl Depth {
    /// What `cargo xtask powercut` wants: everything where this variable is set, by `--full`.
    pub fn wanted() -> Self {
        if std::env::var_os("ADJOURN_POWERCUT_FULL").is_some() { Self::Full } else { Self::Short }
    }

    fn keeps(self) -> Vec<Keep> {
        let mut keeps = vec![Keep::Nothing, Keep::Everything, Keep::Names, Keep::Torn];
        if self == Self::Full {
            keeps.extend([Keep::Contents]);
            keeps.extend((1..=6).map(Keep::Some));
        } else {
            keeps.push(Keep::Some(1));
        }
        keeps
    }
}

/// Everything that was done to the files of a directory.
#[derive(Debug, Clone)]
pub struct Tape(Vec<Step>);

/// A point at which the power goes out, and what is left then.
#[derive(Debug)]
pub struct CrashPoint<'t> {
    /// How many steps of the tape were taken.
    pub step: usize,
    /// What is left of changes that were not synced.
    pub keep: Keep,
    /// What was acknowledged before.
    pub marks: Vec<&'t str>,
    /// How many effects on the world there may have been.
    pub effects: usize,
    /// The last step that was taken, in a few words.
    pub last: String,
    disk: &'t Disk,
}

impl fmt::Display for CrashPoint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, keep, marks, last, .. } = self;
        write!(f, "power cut after step {step} ({last}), {keep:?} kept, acknowledged: {marks:?}")
    }
}

impl CrashPoint<'_> {
    /// Makes `dir` what the data directory would be.
    pub fn rebuild(&self, dir: &Path) -> std::io::Result<()> {
        self.disk.rebuild(dir, self.keep)
    }

    /// Whether this was acknowledged.
    pub fn knows(&self, mark: &str) -> bool {
        self.marks.contains(&mark)
    }
}

impl Tape {
    pub(crate) fn new(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was done.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many times something was made durable.
    pub fn syncs(&self) -> usize {
        self.0.iter().filter(|step| step.is_sync()).count()
    }

    /// Tries every state that a power cut after step `from` could leave. The same files with the same acknowledgements are
    /// not tried twice. Returns how many states there were.
    pub fn try_each(&self, from: usize, depth: Depth, mut try_one: impl FnMut(&CrashPoint<'_>)) -> usize {
        let mut disk = Disk::default();
        let mut marks: Vec<&str> = Vec::new();
        let (mut last, mut tried) = (None, 0);
        let mut try_all = |step: usize, disk: &Disk, marks: &[&str]| {
            // What was seen at the next step may have happened before the power went out.
            let effects = self.0.get(step).or(self.0.last()).map_or(0, |step| step.effects);
            let this = Some((disk.fingerprint(), marks.len(), effects));
            if last == this {
                return;
            }
            last = this;
            let is_all_durable = disk.fingerprint().1 == 0;
            let keeps = if is_all_durable { vec![Keep::Nothing] } else { depth.keeps() };
            for keep in keeps {
                let last = step.checked_sub(1).map(|last| self.0[last].in_short()).unwrap_or_default();
                try_one(&CrashPoint { step, keep, marks: marks.to_vec(), effects, last, disk });
                tried += 1;
            }
        };
        for (index, step) in self.0.iter().enumerate() {
            // Before it is applied: everything since the last sync is still in the air.
            if index >= from && (step.is_sync() || depth == Depth::Full) {
                try_all(index, &disk, &marks);
            }
            match &step.action {
                Action::Change(change) => disk.apply(change),
                Action::Mark(mark) => marks.push(mark),
            }
            let is_mark = matches!(step.action, Action::Mark(_));
            if index >= from && (step.is_sync() || is_mark || index + 1 == self.0.len()) {
                try_all(index + 1, &disk, &marks);
            }
        }
        tried
    }
}

impl Step {
    fn in_short(&self) -> String {
        match &self.action {
            Action::Mark(mark) => mark.clone(),
            Action::Change(Change::Write { path, offset, bytes }) => {
                format!("write {} bytes to {} at {offset}", bytes.len(), path.display())
            }
            Action::Change(change) => format!("{change:?}"),
        }
    }

    fn is_sync(&self) -> bool {
        matches!(&self.action, Action::Change(change) if change.is_sync())
    }
}

impl Change {
    pub(crate) fn is_sync(&self) -> bool {
        matches!(self, Self::SyncFile(_) | Self::SyncFolder(_) | Self::SyncFailed(_))
    }
}
