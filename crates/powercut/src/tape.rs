//! What was done to the files of a directory, in order, and every point at which the power could go out.

use std::collections::HashSet;
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
pub(crate) enum Step {
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
    disk: Disk,
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
        let is_sync = |step: &&Step| {
            matches!(step, Step::Change(Change::SyncFile(_) | Change::SyncFolder(_) | Change::SyncFailed(_)))
        };
        self.0.iter().filter(is_sync).count()
    }

    /// Every state that a power cut after step `from` could leave, each once: the same files with the same
    /// acknowledgements are not tried again.
    pub fn crash_points(&self, from: usize, depth: Depth) -> impl Iterator<Item = CrashPoint<'_>> {
        let mut disk = Disk::default();
        let mut marks: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        let mut points = Vec::new();
        for (index, step) in self.0.iter().enumerate() {
            let is_sync = matches!(
                step,
                Step::Change(Change::SyncFile(_) | Change::SyncFolder(_) | Change::SyncFailed(_))
            );
            // Before it is applied: everything since the last sync is still in the air.
            if index >= from && (is_sync || depth == Depth::Full) {
                points.extend(self.points(index, &disk, &marks, depth, &mut seen));
            }
            match step {
                Step::Change(change) => disk.apply(change),
                Step::Mark(mark) => marks.push(mark),
            }
            if index >= from && (is_sync || matches!(step, Step::Mark(_)) || index + 1 == self.0.len()) {
                points.extend(self.points(index + 1, &disk, &marks, depth, &mut seen));
            }
        }
        points.into_iter()
    }

    fn points<'t>(
        &self,
        step: usize,
        disk: &Disk,
        marks: &[&'t str],
        depth: Depth,
        seen: &mut HashSet<(usize, u64)>,
    ) -> Vec<CrashPoint<'t>> {
        let mut points = Vec::new();
        for keep in depth.keeps() {
            if seen.insert((marks.len(), disk.digest(keep))) {
                points.push(CrashPoint { step, keep, marks: marks.to_vec(), disk: disk.clone() });
            }
        }
        points
    }
}
