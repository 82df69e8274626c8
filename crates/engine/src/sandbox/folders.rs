//! Mounts: what the program sees of the file system, in a mount namespace of its own.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_change,
    mount_remount, move_mount, open_tree,
};

use super::Sandbox;

/// What fills the place of a hidden folder: enough for the folders above what stays visible.
const STAND_IN: &std::ffi::CStr = c"mode=0755,size=64k,nr_inodes=256";

/// Builds the view of a program: hidden folders are empty, files are read-only, and processes and terminals are its own.
pub(super) fn arrange(sandbox: &Sandbox) -> Result<(), String> {
    // What is mounted here is nobody else's business, and the reverse.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| format!("mounts cannot be kept apart: {error}"))?;
    for hidden in sandbox.hidden.iter().filter(|folder| folder.is_dir()) {
        hide(hidden, sandbox).map_err(|error| format!("{} cannot be hidden: {error}", hidden.display()))?;
    }
    for file in sandbox.read_only.iter().filter(|file| file.exists()) {
        make_read_only(file)
            .map_err(|error| format!("{} cannot be made read-only: {error}", file.display()))?;
    }
    own_processes()?;
    own_terminals()?;
    own_shared_memory()
}

/// Puts an empty folder in the place of `hidden`, and into it what stays visible.
fn hide(hidden: &Path, sandbox: &Sandbox) -> Result<(), Errno> {
    let mut visible = Vec::new();
    for path in sandbox.visible_below(hidden) {
        visible.push((path, clone_of(path)?));
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", hidden, "tmpfs", flags, Some(STAND_IN))?;
    for (path, clone) in visible {
        // A folder that was made by this very function before: hidden folders may be inside of each other.
        fs::create_dir_all(path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        move_mount(&clone, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    mount_remount(hidden, flags | MountFlags::RDONLY, STAND_IN)
}

/// What is mounted at `path`, and below, to be mounted somewhere else.
fn clone_of(path: &Path) -> Result<OwnedFd, Errno> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    open_tree(CWD, path, flags)
}

fn make_read_only(file: &Path) -> Result<(), Errno> {
    mount_bind(file, file)?;
    // A user namespace must not take away what the mount around it forbids.
    let kept = rustix::fs::statvfs(file)?.f_flag;
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (kept_flag, flag) in [
        (rustix::fs::StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (rustix::fs::StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (rustix::fs::StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (rustix::fs::StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (rustix::fs::StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (rustix::fs::StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ] {
        if kept.contains(kept_flag) {
            flags |= flag;
        }
    }
    mount_remount(file, flags, c"")
}

/// Only the processes of this namespace are in `/proc`.
fn own_processes() -> Result<(), String> {
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)
        .map_err(|error| format!("/proc cannot be mounted: {error}"))
}

/// The terminals of the user, on which approvals are given, are not there; the program can make its own.
fn own_terminals() -> Result<(), String> {
    let failed = |error: Errno| format!("/dev/pts cannot be mounted: {error}");
    if !Path::new("/dev/pts").is_dir() {
        return Ok(());
    }
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, Some(options))
        .map_err(failed)?;
    // Where it is a link, it leads to the new ones already.
    match fs::symlink_metadata("/dev/ptmx") {
        Ok(found) if !found.is_symlink() => mount_bind("/dev/pts/ptmx", "/dev/ptmx").map_err(failed),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Shared memory of other programs, browsers among them, is not there.
fn own_shared_memory() -> Result<(), String> {
    if !Path::new("/dev/shm").is_dir() {
        return Ok(());
    }
    mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"mode=1777"))
        .map_err(|error| format!("/dev/shm cannot be mounted: {error}"))
}
