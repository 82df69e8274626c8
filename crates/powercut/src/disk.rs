//! A disk that keeps what was synced.
//!
//! Each file has bytes that are durable and writes that are not; each folder has names that are durable and changes of names
//! that are not. A sync makes the pending ones of one file, or of one folder, durable. Nothing else does: no file is there
//! after a power cut because another one was synced.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::tape::Change;

/// What a disk writes as a whole or not at all.
const SECTOR_BYTES: usize = 512;

/// What is left of changes that were not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Nothing of them.
    Nothing,
    /// All of them.
    Everything,
    /// The names of files, and nothing of what was written into them.
    Names,
    /// What was written into files, and no names.
    Contents,
    /// All of them, but the last write to each file only up to the middle.
    Torn,
    /// Some of them, and of a write some sectors, as this number has it.
    Some(u64),
}

#[derive(Debug, Clone)]
enum Write {
    At(u64, Vec<u8>),
    CutOff(u64),
}

#[derive(Debug, Clone)]
enum Naming {
    Put(OsString, usize),
    Take(OsString),
    Move(OsString, OsString),
}

#[derive(Debug, Clone)]
enum Node {
    File {
        durable: Vec<u8>,
        pending: Vec<Write>,
        /// Writes whose sync failed: they may be on the disk, and no later sync puts them there.
        lost: Vec<Write>,
    },
    Folder {
        durable: BTreeMap<OsString, usize>,
        live: BTreeMap<OsString, usize>,
        pending: Vec<Naming>,
    },
    Link(PathBuf),
}

#[derive(Debug, Clone)]
pub(crate) struct Disk {
    nodes: Vec<Node>,
    syncs: u64,
}

impl Default for Disk {
    fn default() -> Self {
        Self { nodes: vec![Node::folder()], syncs: 0 }
    }
}

impl Node {
    fn folder() -> Self {
        Self::Folder { durable: BTreeMap::new(), live: BTreeMap::new(), pending: Vec::new() }
    }

    /// How many changes of it are not durable.
    fn in_the_air(&self) -> usize {
        match self {
            Self::File { pending, lost, .. } => pending.len() + lost.len(),
            Self::Folder { pending, .. } => pending.len(),
            Self::Link(_) => 0,
        }
    }

    fn file() -> Self {
        Self::File { durable: Vec::new(), pending: Vec::new(), lost: Vec::new() }
    }
}

impl Disk {
    pub(crate) fn apply(&mut self, change: &Change) {
        self.syncs += u64::from(change.is_sync());
        match change {
            Change::MakeFolder(path) => self.put(path, Node::folder()),
            Change::Link { path, target } => self.put(path, Node::Link(target.clone())),
            Change::Write { path, offset, bytes } => {
                self.write(path, Write::At(*offset, bytes.clone()));
            }
            Change::Truncate { path, bytes } => self.write(path, Write::CutOff(*bytes)),
            Change::SyncFile(path) => {
                if let Some(Node::File { durable, pending, .. }) = self.find(path) {
                    pending.drain(..).for_each(|write| write.onto(durable));
                }
            }
            Change::SyncFailed(path) => {
                if let Some(Node::File { pending, lost, .. }) = self.find(path) {
                    lost.append(pending);
                }
            }
            Change::SyncFolder(path) => {
                if let Some(Node::Folder { durable, live, pending }) = self.find(path) {
                    pending.clear();
                    durable.clone_from(live);
                }
            }
            Change::Rename { from, to } => self.rename(from, to),
            Change::Remove(path) => _ = self.take(path),
        }
    }

    fn find(&mut self, path: &Path) -> Option<&mut Node> {
        let index = self.index(path)?;
        Some(&mut self.nodes[index])
    }

    fn index(&self, path: &Path) -> Option<usize> {
        let mut index = 0;
        for part in path.components() {
            let Component::Normal(name) = part else { continue };
            let Node::Folder { live, .. } = &self.nodes[index] else { return None };
            index = *live.get(name)?;
        }
        Some(index)
    }

    fn write(&mut self, path: &Path, write: Write) {
        if self.index(path).is_none() {
            self.put(path, Node::file());
        }
        if let Some(Node::File { pending, .. }) = self.find(path) {
            pending.push(write);
        }
    }

    fn put(&mut self, path: &Path, node: Node) {
        self.nodes.push(node);
        let index = self.nodes.len() - 1;
        self.name(path, index);
    }

    fn name(&mut self, path: &Path, index: usize) {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
        if let Some(Node::Folder { live, pending, .. }) = self.find(parent) {
            live.insert(name.to_owned(), index);
            pending.push(Naming::Put(name.to_owned(), index));
        }
    }

    fn take(&mut self, path: &Path) -> Option<usize> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let Some(Node::Folder { live, pending, .. }) = self.find(parent) else { return None };
        let index = live.remove(name)?;
        pending.push(Naming::Take(name.to_owned()));
        Some(index)
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        if from.parent() != to.parent() {
            if let Some(index) = self.take(from) {
                self.name(to, index);
            }
            return;
        }
        let (Some(parent), Some(old), Some(new)) = (from.parent(), from.file_name(), to.file_name()) else {
            return;
        };
        // In one folder a name changes as a whole or not at all.
        if let Some(Node::Folder { live, pending, .. }) = self.find(parent)
            && let Some(index) = live.remove(old)
        {
            live.insert(new.to_owned(), index);
            pending.push(Naming::Move(old.to_owned(), new.to_owned()));
        }
    }

    /// Makes `dir` what this disk would show after a power cut.
    pub(crate) fn rebuild(&self, dir: &Path, keep: Keep) -> io::Result<()> {
        self.visit(keep, &mut |path, found| {
            let path = dir.join(path);
            match found {
                Found::Folder => fs::create_dir_all(path),
                Found::File(bytes) => fs::write(path, bytes),
                Found::Link(target) => std::os::unix::fs::symlink(target, path),
            }
        })
    }

    /// Tells what a power cut leaves from what another one does: how often something became durable, and how much is in the
    /// air since then.
    pub(crate) fn fingerprint(&self) -> (u64, usize) {
        (self.syncs, self.nodes.iter().map(Node::in_the_air).sum())
    }

    fn visit(&self, keep: Keep, see: &mut dyn FnMut(&Path, Found<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut chance = Chance::new(keep);
        // Drawn for all nodes in their order first: what is drawn for one does not depend on whether another is reached.
        let contents: Vec<_> = self.nodes.iter().map(|node| node.after(keep, &mut chance)).collect();
        Self::descend(&contents, 0, Path::new(""), see)
    }

    fn descend(
        contents: &[After<'_>],
        index: usize,
        path: &Path,
        see: &mut dyn FnMut(&Path, Found<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        match &contents[index] {
            After::File(bytes) => see(path, Found::File(bytes)),
            After::Link(target) => see(path, Found::Link(target)),
            After::Folder(names) => {
                see(path, Found::Folder)?;
                names
                    .iter()
                    .try_for_each(|(name, index)| Self::descend(contents, *index, &path.join(name), see))
            }
        }
    }
}

/// Something in a directory after a power cut.
enum Found<'a> {
    Folder,
    File(&'a [u8]),
    Link(&'a Path),
}

enum After<'a> {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, usize>),
    Link(&'a Path),
}

impl Node {
    fn after(&self, keep: Keep, chance: &mut Chance) -> After<'_> {
        match self {
            Self::Link(target) => After::Link(target),
            Self::Folder { durable, live, pending } => After::Folder(match keep {
                Keep::Nothing | Keep::Contents => durable.clone(),
                Keep::Everything | Keep::Names | Keep::Torn => live.clone(),
                Keep::Some(_) => {
                    let mut names = durable.clone();
                    pending.iter().filter(|_| chance.says_yes()).for_each(|naming| naming.onto(&mut names));
                    names
                }
            }),
            Self::File { durable, pending, lost } => {
                let mut bytes = durable.clone();
                let in_the_air = || lost.iter().chain(pending);
                match keep {
                    Keep::Nothing | Keep::Names => {}
                    Keep::Everything | Keep::Contents => {
                        in_the_air().for_each(|write| write.clone().onto(&mut bytes));
                    }
                    Keep::Torn => {
                        let count = in_the_air().count();
                        for (index, write) in in_the_air().enumerate() {
                            let is_last = index + 1 == count;
                            (if is_last { write.first_half() } else { write.clone() }).onto(&mut bytes);
                        }
                    }
                    Keep::Some(_) => in_the_air().for_each(|write| write.some_of_it(chance, &mut bytes)),
                }
                After::File(bytes)
            }
        }
    }
}

impl Naming {
    fn onto(&self, names: &mut BTreeMap<OsString, usize>) {
        match self {
            Self::Put(name, index) => _ = names.insert(name.clone(), *index),
            Self::Take(name) => _ = names.remove(name),
            Self::Move(from, to) => {
                if let Some(index) = names.remove(from) {
                    names.insert(to.clone(), index);
                }
            }
        }
    }
}

impl Write {
    fn onto(self, file: &mut Vec<u8>) {
        match self {
            Self::CutOff(bytes) => file.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0),
            Self::At(offset, bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX);
                let to = from + bytes.len();
                if file.len() < to {
                    file.resize(to, 0);
                }
                file[from..to].copy_from_slice(&bytes);
            }
        }
    }

    /// A write that stops at a sector.
    fn first_half(&self) -> Self {
        match self {
            Self::CutOff(bytes) => Self::CutOff(*bytes),
            Self::At(offset, bytes) => {
                let half = bytes.len() / 2;
                let half = if half > SECTOR_BYTES { half / SECTOR_BYTES * SECTOR_BYTES } else { half };
                Self::At(*offset, bytes[..half].to_vec())
            }
        }
    }

    fn some_of_it(&self, chance: &mut Chance, file: &mut Vec<u8>) {
        match self {
            Self::CutOff(_) if chance.says_yes() => self.clone().onto(file),
            Self::CutOff(_) => {}
            Self::At(offset, bytes) => {
                let is_whole = chance.says_yes();
                let mut at = *offset;
                for sector in bytes.chunks(SECTOR_BYTES) {
                    if is_whole || chance.says_yes() {
                        Self::At(at, sector.to_vec()).onto(file);
                    }
                    at += sector.len() as u64;
                }
            }
        }
    }
}

/// Throws of a coin that a number determines.
struct Chance(u64);

impl Chance {
    fn new(keep: Keep) -> Self {
        match keep {
            Keep::Some(seed) => Self(seed),
            Keep::Nothing | Keep::Everything | Keep::Names | Keep::Contents | Keep::Torn => Self(0),
        }
    }

    fn says_yes(&mut self) -> bool {
        // The step and the mixing of SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) & 1 == 1
    }
}
