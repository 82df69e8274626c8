//! Namespaces: a view of mounts and processes that belongs to one program.

use std::fs;
use std::io;

use rustix::process::DumpableBehavior;
use rustix::thread::{CapabilitySet, UnshareFlags};

use super::Isolation;

/// Whether this process may make namespaces without a user namespace around them.
pub(super) fn may_make_any() -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Puts this process into new namespaces of mounts, and its next child into a new one of processes.
pub(super) fn enter(isolation: Isolation) -> Result<(), String> {
    let own = UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    match isolation {
        Isolation::None => Ok(()),
        Isolation::Namespaces => unshare(own),
        Isolation::UserNamespaces => {
            let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
            // The files below belong to root for as long as the memory of this process is closed to others.
            dumpable(DumpableBehavior::Dumpable)?;
            unshare(own | UnshareFlags::NEWUSER)?;
            // Without giving up `setgroups`, only root may map a group.
            let mapped = fs::write("/proc/self/setgroups", "deny")
                .and_then(|()| fs::write("/proc/self/uid_map", format!("{uid} {uid} 1")))
                .and_then(|()| fs::write("/proc/self/gid_map", format!("{gid} {gid} 1")));
            mapped.map_err(|error| format!("the user namespace cannot be set up: {error}"))?;
            dumpable(DumpableBehavior::NotDumpable)
        }
    }
}

fn dumpable(behavior: DumpableBehavior) -> Result<(), String> {
    rustix::process::set_dumpable_behavior(behavior)
        .map_err(|error| format!("the memory of the supervisor cannot be closed: {error}"))
}

fn unshare(namespaces: UnshareFlags) -> Result<(), String> {
    // Deprecated because it could unshare the table of descriptors from other threads. That flag is not among ours, and
    // this process has one thread.
    #[expect(deprecated)]
    let made = rustix::thread::unshare(namespaces);
    made.map_err(|error| {
        let reason = match error {
            rustix::io::Errno::PERM | rustix::io::Errno::NOSPC => {
                " (they may be switched off by user.max_user_namespaces, kernel.unprivileged_userns_clone, \
                 kernel.apparmor_restrict_unprivileged_userns, or by the container)"
            }
            _ => "",
        };
        format!("no namespaces can be made: {}{reason}", io::Error::from(error))
    })
}
