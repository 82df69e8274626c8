//! The supervisor: the process between Adjourn and one program, which ends when all of the program is gone.
//!
//! It is forked by the launcher and executes nothing itself, so it costs little. In a sandbox with namespaces it is the
//! first process (number 1) of a process namespace: nothing in there can signal, stop or see beyond it, and when it ends
//! the kernel ends everything else in there. Without namespaces it is the *subreaper* of all that the program starts: an
//! orphan becomes its child. Either way, having no children left means that nothing of the program is left.

use std::fmt::Display;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use fork::Fork;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::GRACE;
#[cfg(target_os = "linux")]
use super::process;
use super::wire::{Ends, Launch, Status};
use crate::sandbox::{self, Sandbox};

/// The exit status for a program that was ended by us: what a shell says about `SIGTERM`.
const ENDED: u8 = 128 + 15;

/// How often orphans that ended are taken note of while the program runs. A zombie costs a process number.
const REAP_EVERY: Duration = Duration::from_secs(1);

/// How often it is looked whether a child has ended, where nothing tells.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// What a freshly forked process has to do.
pub(super) struct Work {
    pub(super) launch: Launch,
    pub(super) ends: Ends,
    /// Where the launcher hears the number of the supervisor.
    pub(super) tell_pid: PipeWriter,
}

/// Why a program does not run.
enum Problem {
    /// The wall around it could not be built.
    Sandbox(String),
    /// Anything else.
    Other(String),
}

impl Problem {
    fn other(what: &str, error: impl Display) -> Self {
        Self::Other(format!("{what}: {error}"))
    }

    fn status(self) -> Status {
        match self {
            Self::Sandbox(problem) => Status::NoSandbox(problem),
            Self::Other(problem) => Status::NotStarted(problem),
        }
    }
}

/// The number of the supervisor, which the forked process tells; none if there is none.
pub(super) fn pid_of_supervisor(mut told: PipeReader) -> Option<i32> {
    let mut number = [0; 4];
    told.read_exact(&mut number).ok()?;
    Some(i32::from_le_bytes(number))
}

impl Work {
    /// Supervises the program; the process ends with this.
    pub(super) fn run(self) -> ! {
        let Self { launch, ends, tell_pid } = self;
        let Ends { stdin, stdout, stderr, control, status } = ends;
        let started = become_supervisor(launch.sandbox.as_ref(), tell_pid, &status)
            .and_then(|()| start(launch, [stdin, stdout, stderr]));
        match started {
            Ok(program) => {
                Status::Started.send(&status);
                Status::Ended(Tree { program, exit: None }.watch(&control)).send(&status);
            }
            Err(problem) => problem.status().send(&status),
        }
        std::process::exit(0)
    }
}

/// Turns this process into the supervisor, or into the parent of the supervisor, which ends here. Adjourn is told its number
/// from here, so that it hears of it also when the launcher is killed meanwhile.
fn become_supervisor(
    sandbox: Option<&Sandbox>,
    mut tell_pid: PipeWriter,
    status: &PipeWriter,
) -> Result<(), Problem> {
    let has_namespaces = sandbox.is_some_and(Sandbox::has_namespaces);
    match sandbox.filter(|_| has_namespaces) {
        None => {
            Status::Supervisor(std::process::id()).send(status);
            let _ = tell_pid.write_all(&std::process::id().to_le_bytes());
        }
        Some(sandbox) => {
            sandbox::enter_namespaces(sandbox).map_err(Problem::Sandbox)?;
            // Only a child is in the new process namespace.
            match fork::fork().map_err(|error| Problem::other("no process can be made", error))? {
                Fork::Child => {}
                Fork::Parent(supervisor) => {
                    Status::Supervisor(supervisor.unsigned_abs()).send(status);
                    let _ = tell_pid.write_all(&supervisor.to_le_bytes());
                    std::process::exit(0)
                }
            }
        }
    }
    drop(tell_pid);
    // No program may ask on Adjourn's terminal. It fails only for who leads a group already, which is as good.
    let _ = rustix::process::setsid();
    adopt_orphans(has_namespaces).map_err(|error| Problem::other("cannot supervise", error))?;
    sandbox.map_or(Ok(()), |sandbox| sandbox::arrange_folders(sandbox).map_err(Problem::Sandbox))
}

/// The first process of a namespace adopts all orphans in it anyway.
#[cfg(target_os = "linux")]
fn adopt_orphans(is_first: bool) -> io::Result<()> {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    if !is_first {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans(_is_first: bool) -> io::Result<()> {
    Ok(())
}

/// Starts the program, and gives its number once it runs.
fn start(launch: Launch, [stdin, stdout, stderr]: [OwnedFd; 3]) -> Result<Pid, Problem> {
    let no_process = |error| Problem::other("no process can be made", error);
    // Closed by a successful exec.
    let (mut problem, mut tell_problem) = io::pipe().map_err(no_process)?;
    match fork::fork().map_err(no_process)? {
        Fork::Child => {
            drop(problem);
            let error = execute(launch, [stdin, stdout, stderr]);
            let _ = serde_json::to_vec(&error.status()).map(|error| tell_problem.write_all(&error));
            std::process::exit(1)
        }
        Fork::Parent(program) => {
            drop((tell_problem, stdin, stdout, stderr));
            let mut told = Vec::new();
            problem.read_to_end(&mut told).map_err(no_process)?;
            match serde_json::from_slice(&told) {
                Ok(Status::NoSandbox(problem)) => Err(Problem::Sandbox(problem)),
                Ok(Status::NotStarted(problem)) => Err(Problem::Other(problem)),
                Ok(Status::Supervisor(_) | Status::Started | Status::Ended(_)) | Err(_) => {
                    Pid::from_raw(program).ok_or_else(|| Problem::Other("it has no number".to_owned()))
                }
            }
        }
    }
}

/// Becomes the program, behind its wall. Returns only if that is not possible.
fn execute(launch: Launch, [stdin, stdout, stderr]: [OwnedFd; 3]) -> Problem {
    let Launch { program, args, folder, env, sandbox } = launch;
    let mut command = match sandbox::command(&program, sandbox.as_ref()) {
        Ok(command) => command,
        Err(problem) => return Problem::Sandbox(problem),
    };
    command
        .args(args)
        .env_clear()
        .envs(env)
        .current_dir(folder)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0);
    if let Some(Err(problem)) = sandbox.as_ref().map(sandbox::restrict_self) {
        return Problem::Sandbox(problem);
    }
    Problem::other(&format!("cannot start {}", program.display()), command.exec())
}

/// The program and all that came from it.
struct Tree {
    program: Pid,
    /// The exit status of the program, once it has ended.
    exit: Option<u8>,
}

impl Tree {
    /// Waits until the program has ended or is to be ended, then ends the rest; the exit status to report.
    fn watch(mut self, control: &OwnedFd) -> u8 {
        let pidfd = pidfd(self.program);
        while self.exit.is_none() {
            let every = if pidfd.is_some() { REAP_EVERY } else { LOOK_AGAIN };
            if wait_for_either(control, pidfd.as_ref(), every) {
                self.end();
                return ENDED;
            }
            self.reap();
        }
        self.end();
        self.exit.unwrap_or(ENDED)
    }

    /// Takes note of every child that ended, adopted ones too; whether there are any left.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.program => self.exit = Some(exit_status(status)),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Asks everything to end, gives it time, then kills until nothing is left.
    fn end(&mut self) {
        if !self.reap() {
            return;
        }
        let kill_at = Instant::now() + GRACE;
        // Nobody is asked twice: to many programs a second TERM means "drop everything".
        self.signal_all(Signal::TERM);
        while self.reap() {
            if Instant::now() >= kill_at {
                self.signal_all(Signal::KILL);
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    #[cfg(target_os = "linux")]
    fn signal_all(&self, signal: Signal) {
        if rustix::process::getpid().is_init() {
            // The group "1" is how the system spells "everything that can be signalled": all of the namespace.
            let _ = rustix::process::kill_process_group(Pid::INIT, signal);
            return;
        }
        // By process and not by group: what has left the group is found as well, and a group's number may belong to a
        // stranger once its leader is gone.
        for process in process::descendants(std::process::id()) {
            process::signal(process, signal);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn signal_all(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.program, signal);
    }
}

/// A descriptor that can be read when the process has ended.
#[cfg(target_os = "linux")]
fn pidfd(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn pidfd(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// Waits until Adjourn closes the control pipe or dies, or the program ends, or it is time to look; whether it was the
/// first.
fn wait_for_either(control: &OwnedFd, program: Option<&OwnedFd>, every: Duration) -> bool {
    let mut watched = vec![PollFd::new(control, PollFlags::IN)];
    watched.extend(program.map(|program| PollFd::new(program, PollFlags::IN)));
    let timeout = Timespec::try_from(every).ok();
    match poll(&mut watched, timeout.as_ref()) {
        Ok(_) => !watched[0].revents().is_empty(),
        Err(_) => false,
    }
}

/// As a shell would say it.
fn exit_status(status: WaitStatus) -> u8 {
    let status = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX)
}
