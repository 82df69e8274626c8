//! Adjourn's side of the launcher: starts it when it is first needed, and again if it is gone.
//!
//! A thread of its own talks to it, because a launcher that somebody stopped would hold up an async worker.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

use tokio::sync::oneshot;

use super::wire::{self, Ends, Launch};

/// A connection to the launcher. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Client {
    /// The program and arguments that become the launcher.
    command: Arc<[OsString]>,
    /// The way to the thread, once there is one. Without a bound: each sender waits for its answer, so there are never more
    /// jobs than programs that begin.
    jobs: Arc<OnceLock<mpsc::Sender<Job>>>,
}

/// A program to have launched.
#[derive(Debug)]
struct Job {
    launch: Launch,
    ends: Ends,
    sent: oneshot::Sender<io::Result<()>>,
}

impl Client {
    pub(super) fn new(command: Vec<OsString>) -> Self {
        Self { command: command.into(), jobs: Arc::default() }
    }

    /// The program and arguments that become the launcher.
    pub(super) fn command(&self) -> &[OsString] {
        &self.command
    }

    /// Has a program launched. Where it gets to is told by its status pipe.
    pub(super) async fn launch(&self, launch: Launch, ends: Ends) -> io::Result<()> {
        let gone = || io::Error::other("the thread that starts programs is gone");
        let (sent, answer) = oneshot::channel();
        let jobs = self.jobs.get_or_init(|| start_thread(self.command.clone()));
        jobs.send(Job { launch, ends, sent }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// If the thread cannot be started its receiver is dropped, and every job is refused.
fn start_thread(command: Arc<[OsString]>) -> mpsc::Sender<Job> {
    let (jobs, todo) = mpsc::channel::<Job>();
    let _ = thread::Builder::new().name("adjourn-launcher".to_owned()).spawn(move || {
        let mut launcher = Launcher { command, socket: None };
        for Job { launch, ends, sent } in todo {
            let _ = sent.send(launcher.send(&launch, &ends));
        }
    });
    jobs
}

struct Launcher {
    command: Arc<[OsString]>,
    /// The launcher ends when this is closed.
    socket: Option<UnixStream>,
}

impl Launcher {
    fn send(&mut self, launch: &Launch, ends: &Ends) -> io::Result<()> {
        if let Some(socket) = &self.socket
            && wire::send(socket, launch, ends).is_ok()
        {
            return Ok(());
        }
        wire::send(self.socket.insert(start(&self.command)?), launch, ends)
    }
}

fn start(command: &[OsString]) -> io::Result<UnixStream> {
    let (program, args) =
        command.split_first().ok_or_else(|| io::Error::other("the supervisor has no command"))?;
    let (ours, theirs) = UnixStream::pair()?;
    // Without our environment, which may hold keys, and in a folder that is always there.
    let mut launcher = Command::new(program)
        .args(args)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // So that it does not stay a zombie for as long as we live.
    thread::Builder::new().name("adjourn-launcher-end".to_owned()).spawn(move || launcher.wait())?;
    Ok(ours)
}
