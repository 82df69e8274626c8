//! Opens files by paths that somebody else chose.
//!
//! Looking first and opening then leaves a moment in which an agent can put a link there. So the kernel is asked to
//! open the file and to go nowhere else on the way.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// The longest path that is looked at: what the kernel takes.
const PATH_BYTES_MAX: usize = 4096;

/// The regular file that `path` names inside of `folder`, for reading, or what is wrong with it.
///
/// A file with several names is refused: an agent can give a file outside of the folder a name inside of it, and have somebody
/// else read what it cannot.
pub fn open(folder: &Path, path: &str) -> Result<File, String> {
    open_with(folder, path, READ).and_then(only_name)
}

/// The regular file that `path` names inside of `folder`, for reading, also if it has other names elsewhere. Only for folders
/// that no agent writes to.
pub fn open_with_other_names(folder: &Path, path: &str) -> Result<File, String> {
    open_with(folder, path, READ)
}

/// The regular file that `path` names inside of `folder`, emptied or new, or what is wrong with it. A file with several names is
/// refused, and left as it is.
pub fn create(folder: &Path, path: &str) -> Result<File, String> {
    let file = open_with(folder, path, WRITE).and_then(only_name)?;
    file.set_len(0).map_err(|error| format!("cannot be emptied: {error}"))?;
    Ok(file)
}

/// Why a file with several names is not read or written.
pub const SEVERAL_NAMES: &str =
    "has other names (hard links), which may be outside of the folder: a copy of it would do";

fn only_name(file: File) -> Result<File, String> {
    match file.metadata() {
        Ok(metadata) if metadata.nlink() > 1 => Err(SEVERAL_NAMES.to_owned()),
        Ok(_) => Ok(file),
        Err(error) => Err(format!("cannot be opened: {error}")),
    }
}

/// Whether `path` names something below a folder by its letters alone: relative, and without `..`.
pub fn is_below(path: &Path) -> bool {
    let mut components = path.components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}

fn open_with(folder: &Path, path: &str, flags: OFlags) -> Result<File, String> {
    if Path::new(path).is_absolute() {
        return Err("is an absolute path, it should be relative to the folder".to_owned());
    }
    if path.len() > PATH_BYTES_MAX || path.contains('\0') || !is_below(Path::new(path)) {
        return Err(
            "does not name a file in the folder: it should be a relative path without `..`".to_owned()
        );
    }
    let folder = openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(describe)?;
    let file = File::from(beneath(&folder, path, flags).map_err(describe)?);
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err("is not a file".to_owned()),
        Err(error) => Err(format!("cannot be opened: {error}")),
    }
}

/// A pipe must not make us wait, nor a terminal become ours.
const CAREFULLY: OFlags = OFlags::CLOEXEC.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const READ: OFlags = OFlags::RDONLY.union(CAREFULLY);
const WRITE: OFlags = OFlags::WRONLY.union(OFlags::CREATE).union(CAREFULLY);

/// What a new file may be used for: as the user's own programs leave it to the umask.
fn mode(flags: OFlags) -> Mode {
    if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() }
}

#[cfg(target_os = "linux")]
fn beneath(folder: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(folder, path, flags, mode(flags), resolve) {
        // Kernels before 5.6, and sandboxes that do not know it.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(folder, path, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn beneath(folder: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    step_by_step(folder, path, flags)
}

/// One component after the other, through no link at all, not even one that leads inside.
fn step_by_step(folder: &OwnedFd, path: &str, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let path = Path::new(path);
    let mut at = None;
    for component in path.parent().into_iter().flat_map(Path::components) {
        let way = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        at = Some(openat(at.as_ref().unwrap_or(folder), component.as_os_str(), way, Mode::empty())?);
    }
    let name = path.file_name().ok_or(Errno::INVAL)?;
    openat(at.as_ref().unwrap_or(folder), name, flags | OFlags::NOFOLLOW, mode(flags))
}

fn describe(errno: Errno) -> String {
    match errno {
        Errno::NOENT | Errno::NOTDIR => "is not there".to_owned(),
        Errno::XDEV | Errno::LOOP => "leads out of the folder through a link".to_owned(),
        other => format!("cannot be opened: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use proptest::prelude::{prop_assert, proptest};
    use rustix::fs::{CWD, Mode, OFlags, openat};

    use super::{READ, SEVERAL_NAMES, create, open, open_with_other_names, step_by_step};

    #[test]
    fn a_file_with_another_name_outside_is_neither_read_nor_emptied() {
        let outer = tempfile::tempdir().unwrap();
        let (folder, secret) = (outer.path().join("work"), outer.path().join("secret"));
        fs::create_dir(&folder).unwrap();
        fs::write(&secret, "s3cr3t").unwrap();
        fs::hard_link(&secret, folder.join("mine")).unwrap();
        for refused in [open(&folder, "mine"), create(&folder, "mine")] {
            assert_eq!(refused.map(drop), Err(SEVERAL_NAMES.to_owned()));
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "s3cr3t");
        assert!(open_with_other_names(&folder, "mine").is_ok());
        fs::remove_file(&secret).unwrap();
        assert!(open(&folder, "mine").is_ok(), "it has one name now");
    }

    #[test]
    fn only_files_inside_are_opened() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("work");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "s").unwrap();
        fs::write(folder.join("sub/a"), "a").unwrap();
        symlink("sub/a", folder.join("inside")).unwrap();
        symlink("../secret", folder.join("outside")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        symlink("/", folder.join("root")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        rustix::fs::mknodat(CWD, folder.join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        let read = |path: &str| {
            open(&folder, path).map(|mut file| {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                text
            })
        };
        assert_eq!(read("sub/a").as_deref(), Ok("a"));
        assert_eq!(read("inside").as_deref(), Ok("a"));
        let relative = "does not name a file in the folder: it should be a relative path without `..`";
        for (path, expected) in [
            ("/etc/passwd", "is an absolute path, it should be relative to the folder"),
            ("../secret", relative),
            ("sub/../../secret", relative),
            ("", relative),
            (".", relative),
            ("a\0b", relative),
            ("outside", "leads out of the folder through a link"),
            ("up/secret", "leads out of the folder through a link"),
            ("root/etc/passwd", "leads out of the folder through a link"),
            ("loop", "leads out of the folder through a link"),
            ("sub", "is not a file"),
            ("pipe", "is not a file"),
            ("missing", "is not there"),
            ("sub/a/b", "is not there"),
        ] {
            assert_eq!(read(path).unwrap_err(), expected, "{path:?}");
        }
    }

    #[test]
    fn without_the_kernels_help_no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/a"), "a").unwrap();
        symlink("sub", folder.path().join("link")).unwrap();
        symlink("sub/a", folder.path().join("file-link")).unwrap();
        let at = openat(CWD, folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        assert!(step_by_step(&at, "sub/a", READ).is_ok());
        assert!(step_by_step(&at, "link/a", READ).is_err());
        assert!(step_by_step(&at, "file-link", READ).is_err());
    }

    #[test]
    fn files_are_written_inside_only() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("work");
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(outer.path().join("secret"), "s").unwrap();
        fs::write(folder.join("sub/a"), "longer than that").unwrap();
        symlink("../secret", folder.join("outside")).unwrap();
        for path in ["sub/a", "sub/new"] {
            use std::io::Write;
            create(&folder, path).unwrap().write_all(b"new").unwrap();
            assert_eq!(fs::read_to_string(folder.join(path)).unwrap(), "new");
        }
        for path in ["../secret", "outside", "/tmp/x", "sub", "missing/a"] {
            assert!(create(&folder, path).is_err(), "{path}");
        }
        assert_eq!(fs::read_to_string(outer.path().join("secret")).unwrap(), "s");
    }

    proptest! {
        #[test]
        fn no_path_leads_out(path in "(\\.|\\.\\.|/|//|a|up|work|secret|\\\\|\\PC){1,10}") {
            use std::io::Read;
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join("work");
            fs::create_dir_all(folder.join("a")).unwrap();
            fs::write(outer.path().join("secret"), "secret").unwrap();
            symlink("..", folder.join("up")).unwrap();
            if let Ok(mut file) = open(&folder, &path) {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                prop_assert!(text != "secret", "{path:?} got out");
            }
        }
    }
}
