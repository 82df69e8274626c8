//! A supervised agent, seen from Adjourn.

use std::io;

use adjourn_core::Process;
use rustix::process::Signal;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::{END_MAX, orphan, process};

/// An agent under its supervisor.
///
/// When it is dropped the supervisor is told to end it; who wants to know that it is gone calls [`end`](Self::end).
#[derive(Debug)]
pub struct Supervised {
    child: Child,
    process: Process,
    /// Where the agent reads from, until taken.
    pub stdin: Option<ChildStdin>,
    /// What the agent says, until taken.
    pub stdout: Option<ChildStdout>,
    /// What the agent complains about, until taken.
    pub stderr: Option<ChildStderr>,
}

/// How an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this status; 128 and more is a signal's number, as in a shell.
    Status(u8),
    /// Its supervisor was killed. The agent was killed too, but not what had left its session.
    SupervisorLost,
}

impl Supervised {
    pub(super) fn new(mut child: Child) -> io::Result<Self> {
        let pid = child.id().ok_or_else(|| io::Error::other("the supervisor ended before it began"))?;
        // Without `/proc` nothing tells it from a later process; 0 is then no process's start.
        let process = process::living(pid).unwrap_or(Process { pid, started: 0 });
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Self { child, process, stdin, stdout, stderr })
    }

    /// The supervisor's process, which is there until the whole tree is gone.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Waits until the agent and all it started are gone.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        let status = self.child.wait().await?;
        if let Some(status) = status.code().and_then(|code| u8::try_from(code).ok()) {
            return Ok(Exit::Status(status));
        }
        orphan::kill_session(self.process).await;
        Ok(Exit::SupervisorLost)
    }

    /// Ends the agent and all it started; returns when nothing is left.
    pub async fn end(&mut self) -> io::Result<Exit> {
        self.tell_to_end();
        if let Ok(exit) = timeout(END_MAX, self.wait()).await {
            return exit;
        }
        // Somebody stopped or blocked the supervisor; agents run as the same user and can.
        orphan::kill_tree(self.process).await;
        self.child.start_kill()?;
        self.wait().await
    }

    fn tell_to_end(&self) {
        // As long as the child was not waited for its number is its own.
        if let Some(pid) = self.child.id().and_then(process::pid) {
            let _ = rustix::process::kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.tell_to_end();
    }
}
