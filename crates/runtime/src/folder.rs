//! Folders of others, looked at and copied without being led astray.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use adjourn_store::files;
use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::service::hex;

/// Files and folders in a folder that is copied. A skill with its reference documents has some dozens.
pub(crate) const ENTRIES_MAX: usize = 5_000;

/// Bytes in a folder that is copied, for every run anew.
pub(crate) const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Folders within folders.
const DEPTH_MAX: usize = 32;

/// Not part of what a folder is for, and often larger than it.
const LEFT_OUT: &str = ".git";

/// Bytes of a file that are read at once to tell it from another.
const CHUNK_BYTES: usize = 64 * 1024;

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the folder.
    pub(crate) path: PathBuf,
    pub(crate) kind: EntryKind,
    /// When it was last written or replaced, and of a folder also when something was added or removed; nobody can set this
    /// back.
    pub(crate) changed: SystemTime,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Folder,
    File {
        bytes: u64,
        executable: bool,
    },
    /// To something in the same folder.
    Link(PathBuf),
}

/// What cannot be copied, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) path: PathBuf,
    pub(crate) message: String,
}

/// The folder and everything in it, parents first, or all that keeps it from being copied.
pub(crate) fn survey(folder: &Path) -> Result<Vec<Entry>, Vec<Unfit>> {
    let mut survey = Survey { folder, entries: Vec::new(), unfit: Vec::new(), bytes: 0 };
    match fs::metadata(folder) {
        Ok(metadata) => {
            survey.entries.push(Entry {
                path: PathBuf::new(),
                kind: EntryKind::Folder,
                changed: changed_at(&metadata),
            });
            survey.enter(Path::new(""), 0);
        }
        Err(error) => survey.refuse(Path::new(""), format!("cannot be read: {error}")),
    }
    if survey.unfit.is_empty() { Ok(survey.entries) } else { Err(survey.unfit) }
}

/// Whether everything in `folder` is as a survey found it: without reading folders, as each shows what came and went.
pub(crate) fn is_unchanged(folder: &Path, entries: &[Entry]) -> bool {
    let changed = |path: &Path| match path == Path::new("") {
        true => fs::metadata(folder),
        false => fs::symlink_metadata(folder.join(path)),
    };
    entries.iter().all(|entry| changed(&entry.path).is_ok_and(|it| changed_at(&it) == entry.changed))
}

struct Survey<'a> {
    folder: &'a Path,
    entries: Vec<Entry>,
    unfit: Vec<Unfit>,
    bytes: u64,
}

impl Survey<'_> {
    fn enter(&mut self, path: &Path, depth: usize) {
        if depth > DEPTH_MAX {
            return self.refuse(path, format!("is more than {DEPTH_MAX} folders deep"));
        }
        let mut names = match names(&self.folder.join(path)) {
            Ok(names) => names,
            Err(error) => return self.refuse(path, format!("cannot be read: {error}")),
        };
        names.sort_unstable();
        for path in names.into_iter().filter(|name| name != LEFT_OUT).map(|name| path.join(name)) {
            if self.entries.len() > ENTRIES_MAX {
                return self.refuse(Path::new(""), format!("has more than {ENTRIES_MAX} files and folders"));
            }
            self.add(path, depth);
            if self.bytes > BYTES_MAX {
                return self.refuse(Path::new(""), format!("has more than {BYTES_MAX} bytes"));
            }
        }
    }

    fn add(&mut self, path: PathBuf, depth: usize) {
        let whole = self.folder.join(&path);
        let metadata = match fs::symlink_metadata(&whole) {
            Ok(metadata) => metadata,
            Err(error) => return self.refuse(&path, format!("cannot be read: {error}")),
        };
        let (file_type, changed) = (metadata.file_type(), changed_at(&metadata));
        if file_type.is_dir() {
            self.entries.push(Entry { path: path.clone(), kind: EntryKind::Folder, changed });
            self.enter(&path, depth + 1);
        } else if file_type.is_file() {
            self.bytes += metadata.len();
            let executable = metadata.permissions().mode() & 0o111 != 0;
            let kind = EntryKind::File { bytes: metadata.len(), executable };
            self.entries.push(Entry { path, kind, changed });
        } else if file_type.is_symlink() {
            match self.link(&path) {
                Ok(target) => self.entries.push(Entry { path, kind: EntryKind::Link(target), changed }),
                Err(message) => self.refuse(&path, message),
            }
        } else {
            self.refuse(&path, "is neither a file nor a folder".to_owned());
        }
    }

    /// The target of a link, which has to be relative and inside: the copy of another would lead back to the original.
    fn link(&self, path: &Path) -> Result<PathBuf, String> {
        let whole = self.folder.join(path);
        let target = fs::read_link(&whole).map_err(|error| format!("cannot be read: {error}"))?;
        if target.is_absolute() {
            return Err("is a link with an absolute path, it should be relative".to_owned());
        }
        let inside = fs::canonicalize(self.folder)
            .is_ok_and(|folder| fs::canonicalize(&whole).is_ok_and(|target| target.starts_with(folder)));
        if inside { Ok(target) } else { Err("is a link that leads out of the folder, or nowhere".to_owned()) }
    }

    fn refuse(&mut self, path: &Path, message: String) {
        self.unfit.push(Unfit { path: path.to_owned(), message });
    }
}

fn changed_at(metadata: &fs::Metadata) -> SystemTime {
    let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
    let nanos = u64::try_from(metadata.ctime_nsec()).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_nanos(nanos)
}

fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// Copies what a survey found into `to`, which is new. Limits hold again: the original may have changed since.
pub(crate) fn copy(from: &Path, entries: &[Entry], to: &Path) -> io::Result<()> {
    let mut left = BYTES_MAX;
    for Entry { path, kind, .. } in entries {
        let target = to.join(path);
        match kind {
            EntryKind::Folder => files::make_folder(&target)?,
            EntryKind::Link(link) => files::link(link, &target)?,
            EntryKind::File { executable, .. } => {
                let mode = if *executable { 0o755 } else { 0o644 };
                left -= copy_file(&from.join(path), &target, mode, left)?;
            }
        }
    }
    Ok(())
}

/// Opens a regular file: not blocked by a pipe, not led on by a link that was not there a moment ago.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{} is not a file", path.display())));
    }
    Ok(file)
}

/// Tells what is in a regular file from what is in another. Of a longer one than `bytes_max`, what is beyond does not count.
pub(crate) fn digest_of_file(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut file = io::Read::take(open_file(path)?, bytes_max);
    let (mut digest, mut bytes) = (Sha256::new(), vec![0; CHUNK_BYTES]);
    loop {
        match io::Read::read(&mut file, &mut bytes)? {
            0 => return Ok(hex(digest.finalize())),
            length => digest.update(&bytes[..length]),
        }
    }
}

/// Copies a regular file to a new one and returns its size, which is at most `bytes_max`.
pub(crate) fn copy_file(from: &Path, to: &Path, mode: u32, bytes_max: u64) -> io::Result<u64> {
    let source = open_file(from)?;
    let copied = files::write_new(to, mode, |target| {
        io::copy(&mut io::Read::take(source, bytes_max.saturating_add(1)), target)
    })?;
    if copied > bytes_max {
        let message = format!("{} has more than the {bytes_max} bytes that may be copied", from.display());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(copied)
}
