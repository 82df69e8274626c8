//! Opens files by paths that somebody else chose.
//!
//! Looking first and opening then leaves a moment in which an agent can put a link there. So the kernel is asked to
//! open the file and to go nowhere else on the way.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::folder::is_below;

/// The longest path that is looked at: what the kernel takes.
const PATH_BYTES_MAX: usize = 4096;

/// The regular file that `path` names inside of `folder`, or what is wrong with it.
pub(crate) fn open(folder: &Path, path: &str) -> Result<File, String> {
    if Path::new(path).is_absolute() {
        return Err("is an absolute path, it should be relative to the folder".to_owned());
    }
    if path.len() > PATH_BYTES_MAX || path.contains('\0') || !is_below(Path::new(path)) {
        return Err(
            "does not name a file in the folder: it should be a relative path without `..`".to_owned()
        );
    }
    let folder = openat(CWD, folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| format!("cannot be opened: the folder is not there ({errno})"))?;
    let file = File::from(beneath(&folder, path).map_err(describe)?);
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err("is not a file".to_owned()),
        Err(error) => Err(format!("cannot be opened: {error}")),
    }
}

/// A pipe must not make us wait, nor a terminal become ours.
const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

#[cfg(target_os = "linux")]
fn beneath(folder: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match openat2(folder, path, FLAGS, Mode::empty(), resolve) {
        // Kernels before 5.6, and sandboxes that do not know it.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(folder, path),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn beneath(folder: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
    step_by_step(folder, path)
}

/// One component after the other, through no link at all, not even one that leads inside.
fn step_by_step(folder: &OwnedFd, path: &str) -> rustix::io::Result<OwnedFd> {
    let path = Path::new(path);
    let mut at = None;
    for component in path.parent().into_iter().flat_map(Path::components) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        at = Some(openat(at.as_ref().unwrap_or(folder), component.as_os_str(), flags, Mode::empty())?);
    }
    let name = path.file_name().ok_or(Errno::INVAL)?;
    openat(at.as_ref().unwrap_or(folder), name, FLAGS | OFlags::NOFOLLOW, Mode::empty())
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

    use super::{open, step_by_step};

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
        assert!(step_by_step(&at, "sub/a").is_ok());
        assert!(step_by_step(&at, "link/a").is_err());
        assert!(step_by_step(&at, "file-link").is_err());
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
