//! The supervisor itself: what happens in the process between Adjourn and an agent.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, timeout};

use super::{GRACE, process};

/// The exit status for an agent that could not be started: what a shell says then.
const CANNOT_START: u8 = 126;

/// The exit status for an agent that was ended with its tree: what a shell says about `SIGTERM`.
const ENDED: u8 = 128 + 15;

/// How often it is looked whether killed processes are gone. A walk through `/proc` with 300 processes takes 3 ms.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Supervises an agent until all of it is gone; the arguments are the number of the process that asks for it, the
/// agent's program and the agent's arguments.
///
/// Ends with the agent's exit status, or with 128 and the number of the signal that ended it.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    match supervise(args.into_iter()) {
        Ok(status) => ExitCode::from(status),
        Err(problem) => {
            eprintln!("adjourn: {problem}");
            ExitCode::from(CANNOT_START)
        }
    }
}

fn supervise(mut args: impl Iterator<Item = OsString>) -> Result<u8, String> {
    let parent = args.next().and_then(|pid| pid.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let (Some(parent), Some(program)) = (parent, args.next()) else {
        return Err("the supervisor takes the number of its parent, a program and its arguments".to_owned());
    };
    let mut agent = Command::new(&program);
    agent.args(args).process_group(0);
    // A session of our own: a Ctrl-C in Adjourn's terminal is for Adjourn, and no agent may ask on that terminal.
    // It fails only for who leads a group already, which is as good.
    let _ = rustix::process::setsid();
    adopt_orphans().map_err(|error| format!("cannot supervise: {error}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot supervise: {error}"))?;
    runtime
        .block_on(watch(parent, agent))
        .map_err(|error| format!("cannot start {}: {error}", program.display()))
}

#[cfg(target_os = "linux")]
fn adopt_orphans() -> rustix::io::Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> rustix::io::Result<()> {
    Ok(())
}

async fn watch(parent: Pid, mut agent: Command) -> io::Result<u8> {
    // Before the agent is there, so that no signal is missed.
    let mut child = signal(SignalKind::child())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // Whoever started us may have died before the death signal was asked for.
    if rustix::process::getppid() != Some(parent) {
        return Ok(ENDED);
    }
    let leader = agent.spawn()?.id();
    drop(agent);
    let_go_of_pipes()?;
    let mut tree = Tree { leader: process::pid(leader), status: None };
    while tree.status.is_none() {
        tokio::select! {
            _ = child.recv() => tree.reap(),
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = hangup.recv() => break,
        }
    }
    let told = tree.status.is_none();
    tree.end(&mut child).await;
    Ok(if told { ENDED } else { tree.status.unwrap_or(ENDED) })
}

/// Adjourn has to see the end of the agent's output, and the agent's indifference to its input, while we still live.
fn let_go_of_pipes() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}

/// The agent and all that came from it.
struct Tree {
    /// The agent; its number is also that of its group.
    leader: Option<Pid>,
    /// How the agent ended, once it has.
    status: Option<u8>,
}

impl Tree {
    /// Takes note of every child that ended, adopted ones too.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if Some(pid) == self.leader {
                self.status = Some(exit_status(status));
            }
        }
    }

    /// Asks everything to end, gives it time, then kills until nothing is left.
    async fn end(&mut self, child: &mut tokio::signal::unix::Signal) {
        let kill_at = Instant::now() + GRACE;
        let mut asked = Vec::new();
        loop {
            self.reap();
            let left = self.left();
            if left.is_empty() {
                return;
            }
            let kill = Instant::now() >= kill_at;
            for one in left {
                if kill {
                    one.signal(Signal::KILL);
                } else if !asked.contains(&one) {
                    // Nobody is asked twice: to many programs a second TERM means "drop everything".
                    asked.push(one);
                    one.signal(Signal::TERM);
                }
            }
            // Mostly there is the end of a child to wait for, but grandchildren end without a word.
            let _ = timeout(LOOK_AGAIN, child.recv()).await;
        }
    }

    /// What there still is. By process and not by group: what has left the group is found as well, and a group's number
    /// may belong to a stranger once its leader is gone.
    #[cfg(target_os = "linux")]
    fn left(&self) -> Vec<Left> {
        process::descendants(std::process::id()).into_iter().map(Left::Process).collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn left(&self) -> Vec<Left> {
        let group = self.leader.filter(|leader| rustix::process::test_kill_process_group(*leader).is_ok());
        group.map(Left::Group).into_iter().collect()
    }
}

/// Something of the agent that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    #[cfg(target_os = "linux")]
    Process(adjourn_core::Process),
    #[cfg(not(target_os = "linux"))]
    Group(Pid),
}

impl Left {
    fn signal(self, signal: Signal) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(process) => process::signal(process, signal),
            #[cfg(not(target_os = "linux"))]
            Self::Group(group) => drop(rustix::process::kill_process_group(group, signal)),
        }
    }
}

/// As a shell would say it.
fn exit_status(status: WaitStatus) -> u8 {
    let status = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    status.and_then(|status| u8::try_from(status).ok()).unwrap_or(u8::MAX)
}
