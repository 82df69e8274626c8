//! Records the turns of another engine.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use adjourn_core::{Observation, ResumesBy, RunId};
use futures::future::BoxFuture;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::notes::NotingToolbox;
use super::{Asked, FORMAT, Header, Line, Recording, RecordingError, Renaming, What};
use crate::environment::ShellVariables;
use crate::turn::{Engine, Finished, Probe, Seen, Turn};

/// What is shown passes through here one by one, so that the recorder is never further than what it passed on.
const PASSING_MAX: usize = 1;

/// An engine that does what another does, and writes it down.
///
/// A recording that cannot be written does not stop the work; [`problem`](Self::problem) tells of it.
pub struct Recorder {
    engine: Arc<dyn Engine>,
    tape: Arc<Mutex<Tape>>,
}

/// Writes one turn onto the tape.
#[derive(Debug)]
pub(super) struct Pen {
    tape: Arc<Mutex<Tape>>,
    /// The number of the turn.
    turn: usize,
    began: Instant,
    workspace: PathBuf,
}

#[derive(Debug)]
struct Tape {
    file: File,
    path: PathBuf,
    /// How many turns were recorded, those that are going on included.
    turns: usize,
    /// Why there is nothing more on it.
    problem: Option<RecordingError>,
}

impl Recorder {
    /// Records the turns of `engine` into a file. An existing recording is gone on with: a run that waits is often
    /// answered by another process.
    pub fn new(engine: Arc<dyn Engine>, path: &Path) -> Result<Self, RecordingError> {
        let io_error = |error| RecordingError::Io { path: path.to_owned(), error };
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(io_error)?;
        let turns = if file.metadata().map_err(io_error)?.len() == 0 {
            write_line(&mut file, &Header { adjourn_recording: FORMAT }).map_err(io_error)?;
            0
        } else {
            let recording = Recording::read(path)?;
            drop_unfinished_line(&file, path).map_err(io_error)?;
            recording.turns.len()
        };
        let tape = Tape { file, path: path.to_owned(), turns, problem: None };
        Ok(Self { engine, tape: Arc::new(Mutex::new(tape)) })
    }

    /// Why the recording is not complete, if it is not.
    pub fn problem(&self) -> Option<String> {
        locked(&self.tape).problem.as_ref().map(ToString::to_string)
    }

    async fn record(&self, mut turn: Turn, shown: mpsc::Sender<Seen>, stop: CancellationToken) -> Finished {
        let pen = Arc::new(Pen::begin(&self.tape, &turn));
        let (pass, mut passing) = mpsc::channel(PASSING_MAX);
        if self.engine.resumes_by() == ResumesBy::Journal {
            let (tools, masker) = (turn.tools, turn.masker.clone());
            turn.tools = Arc::new(NotingToolbox { tools, pen: pen.clone(), masker, shown: pass.downgrade() });
        }
        let stopped = stop.clone();
        let recording = async {
            while let Some(seen) = passing.recv().await {
                pen.seen(&seen);
                tokio::select! {
                    biased;
                    room = shown.reserve() => if let Ok(room) = room { room.send(seen) },
                    // Who stops a turn may have stopped reading.
                    () = stopped.cancelled() => {}
                }
            }
        };
        let (ended, ()) = tokio::join!(self.engine.run(turn, pass, stop), recording);
        pen.ended(&ended);
        ended
    }
}

impl Pen {
    /// Begins a turn.
    fn begin(tape: &Arc<Mutex<Tape>>, turn: &Turn) -> Self {
        let number = {
            let mut tape = locked(tape);
            tape.turns += 1;
            let number = tape.turns;
            tape.write(number, What::Asked(Asked::new(turn)));
            number
        };
        Self { tape: tape.clone(), turn: number, began: Instant::now(), workspace: turn.workspace.clone() }
    }

    pub(super) fn seen(&self, seen: &Seen) {
        if is_worth_recording(seen) {
            let seen = Renaming::to_placeholder(&self.workspace).seen(seen);
            self.write(What::Seen { at_ms: self.at_ms(), seen });
        }
    }

    fn ended(&self, ended: &Finished) {
        let ended = Renaming::to_placeholder(&self.workspace).finished(ended);
        self.write(What::Ended { at_ms: self.at_ms(), ended });
    }

    fn write(&self, what: What) {
        locked(&self.tape).write(self.turn, what);
    }

    fn at_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Nothing panics while it holds the tape; if something did, the next line would still be a whole one.
fn locked(tape: &Mutex<Tape>) -> MutexGuard<'_, Tape> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process and its walls mean nothing to whoever plays the recording.
fn is_worth_recording(seen: &Seen) -> bool {
    !matches!(seen, Seen::Fact(Observation::Process(_) | Observation::Sandbox(_)))
}

impl Tape {
    fn write(&mut self, turn: usize, what: What) {
        if self.problem.is_some() {
            return;
        }
        if let Err(error) = write_line(&mut self.file, &Line::new(turn, what)) {
            self.problem = Some(RecordingError::Io { path: self.path.clone(), error });
        }
    }
}

/// In one call, so that a line is there or is not, as far as the system can help it.
fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    file.write_all(&bytes)
}

/// Takes away what a killed recorder left after the last line feed, so that the next line stands alone.
fn drop_unfinished_line(file: &File, path: &Path) -> io::Result<()> {
    let bytes = std::fs::read(path)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() { file.set_len(whole as u64) } else { Ok(()) }
}

impl Engine for Recorder {
    fn resumes_by(&self) -> ResumesBy {
        self.engine.resumes_by()
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(self.record(turn, seen, stop))
    }

    fn gone(&self, run_id: RunId) -> BoxFuture<'_, ()> {
        self.engine.gone(run_id)
    }

    fn end(&self, run_id: RunId) -> BoxFuture<'_, ()> {
        self.engine.end(run_id)
    }

    fn can_resume(&self, turn: &Turn) -> bool {
        self.engine.can_resume(turn)
    }

    fn is_installed(&self, shell: Option<&ShellVariables>) -> bool {
        self.engine.is_installed(shell)
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        self.engine.probe()
    }
}
