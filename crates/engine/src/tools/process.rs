//! A tool server of our own: a process under the supervisor.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::options::Place;
use crate::environment::Environment;
use crate::program;
use crate::supervisor::{Program, Supervised, Supervisor};
use crate::tail::Tail;

/// What is read of a server's complaints at once.
const CHUNK_BYTES: usize = 4096;

/// How long a server that is being ended is listened to. What it complained about is in the pipe already.
const LAST_WORDS_MAX: Duration = Duration::from_secs(1);

/// A running server.
#[derive(Debug)]
pub(super) struct Process {
    /// Ends it.
    stop: CancellationToken,
    /// Cancelled when all of it is gone.
    gone: CancellationToken,
    complaints: Arc<Mutex<Tail>>,
    /// Cancelled when it has nothing more to say on stderr.
    silent: CancellationToken,
}

/// Where a server reads and writes.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    /// Starts a server. The problem is why it cannot be.
    pub(super) async fn start(
        place: &Place,
        supervisor: &Supervisor,
        tasks: &TaskTracker,
    ) -> Result<(Self, Pipes), String> {
        let program = program(place)?;
        let mut supervised = supervisor.start(program).await.map_err(|error| error.to_string())?;
        let pipes = (supervised.stdin.take(), supervised.stdout.take(), supervised.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("it was started without pipes".to_owned());
        };
        let process = Self {
            stop: CancellationToken::new(),
            gone: CancellationToken::new(),
            complaints: Arc::default(),
            silent: CancellationToken::new(),
        };
        tasks.spawn(keep_complaints(stderr, Arc::clone(&process.complaints), process.silent.clone()));
        tasks.spawn(tend(supervised, process.stop.clone(), process.gone.clone()));
        Ok((process, Pipes { stdin, stdout }))
    }

    /// Ends it, with all it started. Does not wait for that.
    pub(super) fn end(&self) {
        self.stop.cancel();
    }

    /// Whether all of it is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Ends it, and adds to `problem` what it wrote to stderr last.
    pub(super) async fn explain(&self, problem: String) -> String {
        self.end();
        let _ = timeout(LAST_WORDS_MAX, self.silent.cancelled()).await;
        match self.complaints.lock().unwrap_or_else(PoisonError::into_inner).text() {
            complaints if complaints.is_empty() => problem,
            complaints => format!("{problem}; its last words: {complaints}"),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn program(place: &Place) -> Result<Program, String> {
    let Place::Command { command, folder, env, pass_env, sandbox } = place else {
        return Err("it has no command".to_owned());
    };
    let (name, args) = command.split_first().ok_or("its command is empty")?;
    let own = env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())).collect();
    let environment = Environment::new(std::env::vars_os(), pass_env, &own);
    let file = program::locate(name, environment.get("PATH"))
        .ok_or_else(|| format!("`{name}` is not installed, or not in PATH"))?;
    let mut program = Program::new(file, folder);
    (program.args, program.env) = (args.iter().map(Into::into).collect(), environment.into_variables());
    program.sandbox = sandbox.as_ref().map(|options| options.for_tool_server(folder));
    Ok(program)
}

/// Stays with the process until it is gone.
async fn tend(mut supervised: Supervised, stop: CancellationToken, gone: CancellationToken) {
    let ended = tokio::select! {
        ended = supervised.wait() => ended.is_ok(),
        () = stop.cancelled() => false,
    };
    if !ended {
        // Fails only if there is nothing left to wait for.
        let _ = supervised.end().await;
    }
    gone.cancel();
}

/// Reads all that a server complains about, so that it never waits for us, and keeps the end.
async fn keep_complaints(mut stderr: ChildStderr, complaints: Arc<Mutex<Tail>>, silent: CancellationToken) {
    let mut buffer = [0; CHUNK_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        complaints.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
    silent.cancel();
}
