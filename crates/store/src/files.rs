//! Changes to files that commits refer to.
//!
//! Workspaces, requests, uploads, versions of skills and private arguments are facts like those in the journal: what a
//! commit refers to has to be on the disk before the commit is. So they are all written here, and whoever writes them syncs
//! the files, and then the folders that name them, before the command goes to the journal.
//!
//! An [`Observer`] sees every change. The tests of power cuts record them all and have each of them fail.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;

/// A change to a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange<'a> {
    /// A folder is made.
    MakeFolder(&'a Path),
    /// A file is written from its beginning: a new one, or the same length over what was there.
    Write(&'a Path),
    /// A symbolic link is made.
    Link(&'a Path),
    /// A file is cut off after this many bytes.
    Truncate(&'a Path, u64),
    /// The content of a file is made durable.
    SyncFile(&'a Path),
    /// The names in a folder are made durable.
    SyncFolder(&'a Path),
    /// A file or folder gets another name.
    Rename(&'a Path, &'a Path),
    /// A file, or a folder with everything in it, is removed.
    Remove(&'a Path),
}

/// A test that watches changes.
pub trait Observer: Send + Sync {
    /// Called before a change, which is not made if this fails.
    fn before(&self, change: FileChange<'_>) -> io::Result<()>;

    /// Called after a change that was made.
    fn after(&self, change: FileChange<'_>);
}

static OBSERVER: OnceLock<Box<dyn Observer>> = OnceLock::new();

/// Has every change of this process be observed from now on. The first observer stays.
pub fn observe(observer: Box<dyn Observer>) {
    let _ = OBSERVER.set(observer);
}

fn change<T>(change: FileChange<'_>, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(observer) = OBSERVER.get() else { return make() };
    observer.before(change)?;
    let made = make()?;
    observer.after(change);
    Ok(made)
}

/// Makes a folder with the modes that the process gives to folders.
pub fn make_folder(path: &Path) -> io::Result<()> {
    change(FileChange::MakeFolder(path), || fs::create_dir(path))
}

/// Makes a folder that only the owner of the data directory can enter.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    change(FileChange::MakeFolder(path), || DirBuilder::new().mode(0o700).create(path))
}

/// Makes sure that a folder is there under a durable name, and those above it.
pub fn ensure_private_folder(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match (make_private_folder(path), parent) {
        // Not synced each time: whoever made it did.
        (Err(error), _) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
            ensure_private_folder(parent)?;
            ensure_private_folder(path)
        }
        (Ok(()), Some(parent)) => sync_folder(parent),
        (made, _) => made,
    }
}

/// Writes a new file.
pub fn write_new<T>(path: &Path, mode: u32, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    change(FileChange::Write(path), || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
        write(&mut file)
    })
}

/// Writes a file once more with what is in it, so that the next sync writes all of it to the disk.
///
/// After a sync that failed, the system takes what it could not write for written, and the next sync passes over it.
pub(crate) fn write_again(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    change(FileChange::Write(path), || OpenOptions::new().write(true).open(path)?.write_all_at(&bytes, 0))
}

/// Makes a symbolic link.
pub fn link(target: &Path, path: &Path) -> io::Result<()> {
    change(FileChange::Link(path), || std::os::unix::fs::symlink(target, path))
}

/// Cuts a file off.
pub(crate) fn truncate(path: &Path, bytes: u64) -> io::Result<()> {
    change(FileChange::Truncate(path, bytes), || OpenOptions::new().write(true).open(path)?.set_len(bytes))
}

/// Makes the content of a file durable.
pub fn sync_file(path: &Path) -> io::Result<()> {
    change(FileChange::SyncFile(path), || File::open(path)?.sync_all())
}

/// Makes the names in a folder durable.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    change(FileChange::SyncFolder(path), || File::open(path)?.sync_all())
}

/// Makes a folder durable with everything in it. Its own name is in the folder above, which is not synced.
pub fn sync_tree(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_tree(&entry.path())?;
        } else if kind.is_file() {
            sync_file(&entry.path())?;
        }
    }
    sync_folder(path)
}

/// Gives a file or folder another name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    change(FileChange::Rename(from, to), || fs::rename(from, to))
}

/// Removes a file.
pub fn remove_file(path: &Path) -> io::Result<()> {
    change(FileChange::Remove(path), || fs::remove_file(path))
}

/// Removes a folder with everything in it. Links are removed and not followed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    change(FileChange::Remove(path), || fs::remove_dir_all(path))
}
