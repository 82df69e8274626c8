//! Stays with an agent until it is gone: gives it its prompt, and reads all that it prints.

use std::io;

use adjourn_core::{Observation, OutputStream};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::interpret::{Interpreter, Report};
use super::output::{Broken, Budget, Tap};
use super::profile::Output;
use super::used::Used;
use crate::log::Log;
use crate::secrets::MaskStream;
use crate::supervisor::{self, Exit, Supervised};
use crate::tail::Tail;
use crate::turn::{Seen, Turn, show};

/// What is needed to read the output of a turn.
pub(crate) struct Unread {
    stdout: Log,
    stderr: Log,
    masking: [MaskStream; 2],
    interpreter: Interpreter,
}

/// All that an agent said until it was gone.
pub(crate) struct Read {
    pub(crate) exit: Exit,
    /// What is still to be shown.
    pub(crate) rest: Vec<Seen>,
    pub(crate) report: Report,
    /// The end of stderr.
    pub(crate) complaints: String,
}

impl Unread {
    pub(crate) async fn open(turn: &Turn, output: Output) -> Self {
        let used_before = match &turn.handle {
            Some(handle) => Used::load(&turn.logs, handle).await,
            None => Used::default(),
        };
        Self {
            stdout: Log::open(turn, OutputStream::Stdout).await,
            stderr: Log::open(turn, OutputStream::Stderr).await,
            masking: [turn.masker.stream(), turn.masker.stream()],
            interpreter: Interpreter::new(output, turn.attempt, used_before),
        }
    }
}

/// Shows what an agent does until all of it is gone.
pub(crate) async fn watch(
    supervised: &mut Supervised,
    unread: Unread,
    prompt: &str,
    seen: &mpsc::Sender<Seen>,
) -> Result<Read, Broken> {
    let Unread {
        stdout: stdout_log,
        stderr: stderr_log,
        masking: [stdout_masking, stderr_masking],
        mut interpreter,
    } = unread;
    show(seen, Seen::Fact(Observation::Process(supervised.process()))).await;
    let walls = Seen::Fact(Observation::Sandbox(supervised.walls().to_owned()));
    let (stdin, stdout, stderr) =
        (supervised.stdin.take(), supervised.stdout.take(), supervised.stderr.take());
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
        return Err(Broken::Io(io::Error::other("the agent was started without pipes")));
    };
    let mut tail = Tail::default();
    let budget = Budget::after(stdout_log.bytes_before + stderr_log.bytes_before);
    let over = CancellationToken::new();
    let stdout = Tap { pipe: stdout, log: stdout_log, masking: stdout_masking, budget: &budget, over: &over };
    let stderr = Tap { pipe: stderr, log: stderr_log, masking: stderr_masking, budget: &budget, over: &over };
    let silent = CancellationToken::new();
    let ended = async {
        let supervisor = supervised.process();
        let exit = tokio::select! {
            exit = supervised.wait() => Some(exit?),
            // Nobody has the agent's pipes any more, and its supervisor cannot say what became of it.
            () = async { silent.cancelled().await; supervisor::stopped(supervisor).await } => None,
        };
        let exit = match exit {
            Some(exit) => exit,
            None => supervised.end().await?,
        };
        over.cancel();
        Ok(exit)
    };
    let told = async {
        show(seen, walls).await;
        Ok(())
    };
    let given = give(stdin, prompt, &over);
    let said = async {
        let events = stdout.read_events(&mut interpreter, seen);
        let complaints = stderr.read_complaints(&mut tail);
        let said = tokio::try_join!(events, complaints)?;
        silent.cancel();
        Ok(said)
    };
    // What the agent says is kept while nobody takes what is shown.
    let ((), exit, (), _) = tokio::try_join!(told, ended, given, said)?;
    let (rest, report) = interpreter.finish();
    Ok(Read { exit, rest, report, complaints: tail.text() })
}

/// Gives the agent its prompt. One that does not read it will say itself what is wrong, if anything is.
async fn give(stdin: Option<ChildStdin>, prompt: &str, over: &CancellationToken) -> Result<(), Broken> {
    if let Some(mut stdin) = stdin {
        tokio::select! {
            _ = stdin.write_all(prompt.as_bytes()) => {}
            () = over.cancelled() => {}
        }
    }
    Ok(())
}
