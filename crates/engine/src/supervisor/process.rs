//! Processes, told apart by number and start time, and the trees they form.

use adjourn_core::Process;
use rustix::process::{Pid, Signal};

/// What the kernel says about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) process: Process,
    pub(super) parent: u32,
    /// The number of the process that began its session.
    pub(super) session: u32,
    /// It has ended, and only waits for its parent to ask how.
    pub(super) ended: bool,
    /// A signal stopped it.
    pub(super) stopped: bool,
}

/// Whether the system says when a process started.
pub(super) const CAN_BE_TOLD_APART: bool = cfg!(target_os = "linux");

/// Whether any process has this number.
pub(super) fn is_taken(number: u32) -> bool {
    // Another user's process must not be signalled, but is there.
    pid(number).is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// The process with this number now, if there is one that has not ended.
pub(super) fn living(pid: u32) -> Option<Process> {
    stat(pid).filter(|stat| !stat.ended).map(|stat| stat.process)
}

/// Whether this very process is still there.
pub(super) fn lives(process: Process) -> bool {
    living(process.pid) == Some(process)
}

/// Whether this very process is stopped.
pub(super) fn is_stopped(process: Process) -> bool {
    stat(process.pid).is_some_and(|stat| stat.process == process && stat.stopped)
}

/// All living processes below `root`, without it.
pub(super) fn descendants(root: u32) -> Vec<Process> {
    descendants_except(root, |_| false)
}

/// All living processes below `root`, without it, without those that `is_kept` names, and without what is below these.
pub(super) fn descendants_except(root: u32, is_kept: impl Fn(u32) -> bool) -> Vec<Process> {
    let all = all();
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        let children = all.iter().filter(|stat| stat.parent == parent);
        for child in children.filter(|stat| !is_kept(stat.process.pid)) {
            open.push(child.process.pid);
            if !child.ended {
                found.push(child.process);
            }
        }
    }
    found
}

/// All living processes of the session that `leader` began and has left behind.
pub(super) fn left_in_session(leader: u32) -> Vec<Process> {
    let all = all();
    // A living process with this number is a later one: as long as the session has members its number is not given
    // away, so the session is not ours either.
    if all.iter().any(|stat| stat.process.pid == leader) {
        return Vec::new();
    }
    all.iter().filter(|stat| stat.session == leader && !stat.ended).map(|stat| stat.process).collect()
}

/// Sends a signal to exactly this process; to nobody if it is gone.
#[cfg(target_os = "linux")]
pub(super) fn signal(process: Process, signal: Signal) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    let Some(pid) = pid(process.pid) else { return };
    // The descriptor pins whoever has the number now. Only then is it compared: a check before could be outdated.
    if let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) {
        if lives(process) {
            // It may have ended just now, which is what was wanted.
            let _ = pidfd_send_signal(pinned, signal);
        }
    } else if lives(process) {
        // A kernel before 5.3, or a sandbox without the call: the number could change hands only between these lines.
        let _ = rustix::process::kill_process(pid, signal);
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn signal(process: Process, signal: Signal) {
    if let Some(pid) = pid(process.pid).filter(|_| lives(process)) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

pub(super) fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

#[cfg(target_os = "linux")]
fn stat(pid: u32) -> Option<Stat> {
    // The name in the second field is whatever bytes a process likes.
    parse(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?))
}

#[cfg(target_os = "linux")]
fn all() -> Vec<Stat> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| stat(name.parse().ok()?)).collect()
}

/// Elsewhere nobody can be told from a later process with the same number, so nobody is known.
#[cfg(not(target_os = "linux"))]
fn stat(_pid: u32) -> Option<Stat> {
    None
}

#[cfg(not(target_os = "linux"))]
fn all() -> Vec<Stat> {
    Vec::new()
}

/// Reads a line of `/proc/PID/stat`: `PID (name) STATE PPID …`, the start time being the 22nd field (proc_pid_stat(5)).
#[cfg(any(target_os = "linux", test))]
fn parse(line: &str) -> Option<Stat> {
    // The name may contain spaces and parentheses; nothing after it does.
    let (before, after) = line.rsplit_once(')')?;
    let pid = before.split_once(' ')?.0.parse().ok()?;
    let fields: Vec<_> = after.split_whitespace().collect();
    // The first of these is the third of the line.
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Stat {
        process: Process { pid, started: field(22)?.parse().ok()? },
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        ended: matches!(field(3)?, "Z" | "X"),
        stopped: matches!(field(3)?, "T" | "t"),
    })
}

#[cfg(test)]
mod tests {
    use adjourn_core::Process;

    use super::{Stat, parse};

    #[test]
    fn a_process_may_have_any_name() {
        let rest = "17 42 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3";
        let expected = |ended| {
            Some(Stat {
                process: Process { pid: 42, started: 987_654 },
                parent: 17,
                session: 9,
                ended,
                stopped: false,
            })
        };
        assert_eq!(parse(&format!("42 (sh) S {rest}")), expected(false));
        assert_eq!(parse(&format!("42 (a) Z 1 (b) S {rest}")), expected(false));
        assert_eq!(parse(&format!("42 (\u{fffd} x) Z {rest}")), expected(true));
        for broken in ["", "42", "42 (sh)", "42 (sh) S", "42 (sh) S 17 1", "x (sh) S 17 1"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
