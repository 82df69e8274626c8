//! A supervised program, seen from Adjourn.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;

use adjourn_core::Process;
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::client::Client;
use super::wire::{Ends, Launch, Status};
use super::{END_MAX, StartError, orphan, process};

/// A program under its supervisor.
///
/// When it is dropped the supervisor ends it; who wants to know that it is gone calls [`end`](Self::end).
#[derive(Debug)]
pub struct Supervised {
    process: Process,
    /// Closed to have it ended; the end of this process closes it too.
    control: Option<PipeWriter>,
    status: BufReader<pipe::Receiver>,
    exit: Option<Exit>,
    /// The walls around it, in a few words.
    walls: String,
    /// Where the program reads from, until taken.
    pub stdin: Option<ChildStdin>,
    /// What the program says, until taken.
    pub stdout: Option<ChildStdout>,
    /// What the program complains about, until taken.
    pub stderr: Option<ChildStderr>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this status; 128 and more is a signal's number, as in a shell.
    Status(u8),
    /// Its supervisor was killed, and all of the program was killed then.
    SupervisorLost,
}

/// Launchers that are asked to start a program, one after the other. Who kills more of them does not want it started.
const LAUNCHERS_MAX: usize = 3;

impl Supervised {
    pub(super) async fn start(client: &Client, launch: Launch) -> Result<Self, StartError> {
        // A launcher that is killed just now takes the message along. Then nothing was started, and the next one is asked.
        for _ in 0..LAUNCHERS_MAX {
            if let Some(started) = Self::start_by(client, launch.clone()).await? {
                return Ok(started);
            }
        }
        Err(io::Error::other("the launcher ends before it starts anything").into())
    }

    /// None where the launcher ended before it forked.
    async fn start_by(client: &Client, launch: Launch) -> Result<Option<Self>, StartError> {
        let (stdin_theirs, stdin) = io::pipe()?;
        let (stdout, stdout_theirs) = io::pipe()?;
        let (stderr, stderr_theirs) = io::pipe()?;
        let (control_theirs, control) = io::pipe()?;
        let (status, status_theirs) = io::pipe()?;
        let ends = Ends {
            stdin: stdin_theirs.into(),
            stdout: stdout_theirs.into(),
            stderr: stderr_theirs.into(),
            control: control_theirs.into(),
            status: status_theirs,
        };
        client.launch(launch, ends).await?;
        let mut status = BufReader::new(receiver(status)?);
        let Some((process, exit)) = supervisor(&mut status).await? else { return Ok(None) };
        Ok(Some(Self {
            process,
            control: Some(control),
            status,
            exit,
            walls: String::new(),
            stdin: Some(ChildStdin::from_std(OwnedFd::from(stdin).into())?),
            stdout: Some(ChildStdout::from_std(OwnedFd::from(stdout).into())?),
            stderr: Some(ChildStderr::from_std(OwnedFd::from(stderr).into())?),
        }))
    }

    pub(super) fn set_walls(&mut self, walls: String) {
        self.walls = walls;
    }

    /// The walls around the program, in a few words, or `off`.
    pub fn walls(&self) -> &str {
        &self.walls
    }

    /// The supervisor's process, which is there until the whole tree is gone.
    pub fn process(&self) -> Process {
        self.process
    }

    /// Waits until the program and all it started are gone.
    pub async fn wait(&mut self) -> io::Result<Exit> {
        while self.exit.is_none() {
            match next(&mut self.status).await? {
                Some(Status::Ended(status)) => self.exit = Some(Exit::Status(status)),
                Some(_) => {}
                None => {
                    // Without a launcher, nobody else ends what its supervisor could not.
                    orphan::kill_session(self.process).await;
                    self.exit = Some(Exit::SupervisorLost);
                }
            }
        }
        Ok(self.exit.unwrap_or(Exit::SupervisorLost))
    }

    /// Ends the program and all it started; returns when nothing is left.
    pub async fn end(&mut self) -> io::Result<Exit> {
        self.control = None;
        if let Ok(exit) = timeout(END_MAX, self.wait()).await {
            return exit;
        }
        // Somebody stopped the supervisor; a program without a sandbox runs as the same user and can.
        orphan::kill_tree(self.process).await;
        process::signal(self.process, Signal::KILL);
        self.wait().await
    }
}

fn receiver(pipe: PipeReader) -> io::Result<pipe::Receiver> {
    pipe::Receiver::from_owned_fd(pipe.into())
}

/// Waits until the program runs; the process that supervises it, and how the program ended if it has by now. None where there
/// was never a supervisor: it is the first thing that is told, and so nothing was started.
async fn supervisor(
    status: &mut BufReader<pipe::Receiver>,
) -> Result<Option<(Process, Option<Exit>)>, StartError> {
    let (mut supervisor, mut is_started, mut exit) = (None, false, None);
    loop {
        match next(status).await? {
            Some(Status::Supervisor(pid)) => {
                // Without `/proc` nothing tells it from a later process; 0 is then no process's start.
                supervisor = Some(process::living(pid).unwrap_or(Process { pid, started: 0 }));
            }
            Some(Status::Started) => is_started = true,
            Some(Status::NoSandbox(problem)) => return Err(StartError::NoSandbox(problem)),
            Some(Status::NotStarted(problem)) => return Err(StartError::NotStarted(problem)),
            Some(Status::Ended(status)) => exit = Some(Exit::Status(status)),
            None if supervisor.is_none() && !is_started => return Ok(None),
            None => return Err(io::Error::other("the supervisor ended before it began").into()),
        }
        if let (Some(supervisor), true) = (supervisor, is_started) {
            return Ok(Some((supervisor, exit)));
        }
    }
}

async fn next(pipe: &mut BufReader<pipe::Receiver>) -> io::Result<Option<Status>> {
    let mut line = Vec::new();
    if pipe.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&line)?))
}
