//! What `/proc` says about processes and their open files.

use adjourn_core::Process;

/// A process in a list of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) process: Process,
    pub(super) parent: u32,
    pub(super) uid: u32,
}

/// The sockets that a process has open.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sockets {
    pub(super) inodes: Vec<u64>,
    /// The process may hold sockets that are not in its list: in a queue between two processes, or in a ring of requests.
    pub(super) may_hide_some: bool,
}

/// Whether it matters that a process may hold more sockets than it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hidden {
    LookFor,
    DoNotCare,
}

/// The process that has this number now.
pub fn process_with_id(pid: u32) -> Option<Process> {
    process_of(pid)
}

pub(super) fn process_of(pid: u32) -> Option<Process> {
    parent_of(pid).map(|(process, _)| process)
}

#[cfg(target_os = "linux")]
pub(super) use linux::{has_children, open_sockets, parent_of, processes};

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::MetadataExt;
    use std::{fs, io};

    use super::{Hidden, Listed, Process, Sockets};

    /// The process with this number, and the number of its parent.
    pub(in super::super) fn parent_of(pid: u32) -> Option<(Process, u32)> {
        // The name in the second field is whatever bytes a process likes.
        parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    /// All processes that can be seen.
    pub(in super::super) fn processes() -> io::Result<Vec<Listed>> {
        let names = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let listed = names.filter_map(|name| {
            let pid = name.parse().ok()?;
            // The folder of a process that hides its memory belongs to root; its status says whose it is.
            let (process, parent) = parent_of(pid)?;
            Some(Listed { process, parent, uid: uid_of(pid)? })
        });
        Ok(listed.collect())
    }

    fn uid_of(pid: u32) -> Option<u32> {
        let folder = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
        if folder != 0 {
            return Some(folder);
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        // Real, effective, saved and file system: a socket belongs to the last.
        ids.split_whitespace().nth(3)?.parse().ok()
    }

    /// Whether this process has any child. Costs a tenth of a millisecond, which a look at all processes does not.
    pub(in super::super) fn has_children() -> bool {
        let Ok(threads) = fs::read_dir("/proc/self/task") else { return true };
        for thread in threads.flatten() {
            match fs::read(thread.path().join("children")) {
                Ok(children) if children.is_empty() => {}
                // A thread that has ended has none.
                Err(error) if error.kind() == io::ErrorKind::NotFound && !thread.path().exists() => {}
                Ok(_) | Err(_) => return true,
            }
        }
        false
    }

    /// The sockets of a process; none where they cannot be seen. A process that is gone has none open.
    pub(in super::super) fn open_sockets(pid: u32, hidden: Hidden) -> Option<Sockets> {
        let folder = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(folder) => folder,
            Err(error) if is_gone(&error) => return Some(Sockets::default()),
            Err(_) => return None,
        };
        let mut sockets = Sockets::default();
        for file in folder {
            let file = match file {
                Ok(file) => file,
                Err(error) if is_gone(&error) => break,
                Err(_) => return None,
            };
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let Some(target) = target.to_str() else { continue };
            if let Some(inode) = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) {
                sockets.inodes.extend(inode.parse::<u64>());
                sockets.may_hide_some |= hidden == Hidden::LookFor
                    && !sockets.may_hide_some
                    && has_files_in_queue(pid, file.file_name().to_str());
            }
            sockets.may_hide_some |= target == "anon_inode:[io_uring]";
        }
        Some(sockets)
    }

    /// Whether open files wait in the queue of a Unix socket: they are in nobody's list meanwhile.
    fn has_files_in_queue(pid: u32, descriptor: Option<&str>) -> bool {
        let Some(descriptor) = descriptor else { return true };
        let Ok(info) = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")) else { return false };
        let queued = info.lines().find_map(|line| line.strip_prefix("scm_fds:"));
        queued.is_some_and(|count| count.trim() != "0")
    }

    fn is_gone(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::NotFound
            || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
    }

    /// Reads a line of `/proc/PID/stat`: `PID (name) STATE PPID …`; the start time is the 22nd field (proc_pid_stat(5)).
    fn parse(line: &str) -> Option<(Process, u32)> {
        // The name may contain spaces and parentheses; nothing after it does.
        let (before, after) = line.rsplit_once(')')?;
        let pid = before.split_once(' ')?.0.parse().ok()?;
        // The first of these is the third of the line.
        let field = |number: usize| after.split_whitespace().nth(number - 3);
        Some((Process { pid, started: field(22)?.parse().ok()? }, field(4)?.parse().ok()?))
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{has_children, open_sockets, parent_of, processes};

/// Nothing can be found out.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use super::{Hidden, Listed, Process, Sockets};

    pub(in super::super) fn parent_of(_pid: u32) -> Option<(Process, u32)> {
        None
    }

    pub(in super::super) fn processes() -> std::io::Result<Vec<Listed>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub(in super::super) fn has_children() -> bool {
        true
    }

    pub(in super::super) fn open_sockets(_pid: u32, _hidden: Hidden) -> Option<Sockets> {
        None
    }
}
