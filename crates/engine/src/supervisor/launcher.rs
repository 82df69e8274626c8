//! The launcher: one small process with one thread that starts every program for Adjourn.
//!
//! Starting Adjourn's own large binary again for each agent cost 6 ms. The launcher is started once; after that each
//! program costs a `fork` of a process with almost no memory. It also adopts what is left of a supervisor that was killed,
//! and ends it. It outlives Adjourn only until the last program is gone.

use std::fs::File;
use std::io::{self, PipeWriter};
use std::os::fd::AsFd;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use fork::Fork;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions};

use super::wire::{Ends, Launch, Status};
use super::{strays, supervise, wire};
use crate::sandbox;

/// How long the end of a supervisor may go unnoticed where the system has no descriptor for a process.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A supervisor that the launcher has started.
struct Supervisor {
    pid: Pid,
    /// Readable when it has ended.
    #[cfg(target_os = "linux")]
    ended: OwnedFd,
    /// Held until nothing of it is left, so that the end of the status pipe says so.
    _status: PipeWriter,
}

/// Launches programs until Adjourn closes the socket, which is the launcher's stdin.
pub(super) fn main() -> ExitCode {
    match launch_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("adjourn: this is started by Adjourn itself, and takes no commands: {error}");
            ExitCode::from(2)
        }
    }
}

fn launch_all() -> io::Result<()> {
    let mut socket = Some(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?));
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    // A Ctrl-C in Adjourn's terminal is for Adjourn alone.
    let _ = rustix::process::setsid();
    protect()?;
    sandbox::prepare();
    let mut supervisors: Vec<Supervisor> = Vec::new();
    while socket.is_some() || !supervisors.is_empty() {
        let is_readable = wait_for_work(socket.as_ref(), &supervisors)?;
        reap(&mut supervisors);
        let Some(stream) = socket.as_ref().filter(|_| is_readable) else { continue };
        // A broken message means that the other end is not Adjourn any more.
        let Ok(Some((launch, ends))) = wire::receive(stream) else {
            socket = None;
            continue;
        };
        match start(launch, ends) {
            Started::Launcher(supervisor) => supervisors.extend(supervisor),
            Started::Supervisor(work) => {
                // Copies of other programs' pipes would keep those open.
                drop((socket, supervisors));
                work.run();
            }
        }
    }
    Ok(())
}

/// Keeps the memory and the environment of this process from others of the same user, and takes in orphans.
#[cfg(target_os = "linux")]
fn protect() -> io::Result<()> {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn protect() -> io::Result<()> {
    Ok(())
}

/// Waits until there is a program to start, or a supervisor has ended; whether there is a program to start.
fn wait_for_work(socket: Option<&UnixStream>, supervisors: &[Supervisor]) -> io::Result<bool> {
    let mut watched: Vec<PollFd<'_>> = socket.map(|it| PollFd::new(it, PollFlags::IN)).into_iter().collect();
    #[cfg(target_os = "linux")]
    watched.extend(supervisors.iter().map(|it| PollFd::new(&it.ended, PollFlags::IN)));
    let look_again = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK_AGAIN.subsec_nanos()) };
    let timeout = (cfg!(not(target_os = "linux")) && !supervisors.is_empty()).then_some(&look_again);
    match poll(&mut watched, timeout) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    Ok(socket.is_some() && watched.first().is_some_and(|socket| !socket.revents().is_empty()))
}

/// Takes note of what has ended.
fn reap(supervisors: &mut Vec<Supervisor>) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        let Some(ended) = supervisors.iter().position(|supervisor| supervisor.pid == pid) else { continue };
        let gone = supervisors.swap_remove(ended);
        if status.terminating_signal().is_some() {
            // What it could not end, because somebody killed it, is a child of this process now.
            let others: Vec<_> = supervisors.iter().map(|supervisor| supervisor.pid).collect();
            strays::end(&others);
        }
        drop(gone);
    }
}

/// What a fork led to.
enum Started {
    /// This is the launcher still.
    Launcher(Option<Supervisor>),
    /// This is the new process.
    Supervisor(Box<supervise::Work>),
}

fn start(launch: Launch, ends: Ends) -> Started {
    let failed = |ends: &Ends, error: io::Error| {
        Status::NotStarted(format!("no process can be made: {error}")).send(&ends.status);
        Started::Launcher(None)
    };
    let (told, tell) = match io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return failed(&ends, error),
    };
    match fork::fork() {
        Err(error) => failed(&ends, error),
        Ok(Fork::Child) => Started::Supervisor(Box::new(supervise::Work { launch, ends, tell_pid: tell })),
        Ok(Fork::Parent(first)) => {
            drop(tell);
            let supervisor = supervise::pid_of_supervisor(told);
            // In a sandbox the first process only prepares the second, and has ended by now.
            if supervisor != Some(first)
                && let Some(first) = Pid::from_raw(first)
            {
                let _ = rustix::process::waitpid(Some(first), WaitOptions::empty());
            }
            Started::Launcher(supervisor.and_then(Pid::from_raw).and_then(|pid| watch(pid, ends)))
        }
    }
}

fn watch(pid: Pid, ends: Ends) -> Option<Supervisor> {
    Some(Supervisor {
        pid,
        #[cfg(target_os = "linux")]
        ended: rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()?,
        _status: ends.status,
    })
}
