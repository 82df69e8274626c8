//! Records the turns of another engine.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use adjourn_core::{Observation, ResumesBy, RunId};
use futures::future::BoxFuture;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Asked, FORMAT, Header, Line, Recording, RecordingError, Renaming, What};
use crate::turn::{Engine, Finished, Probe, Seen, Turn};

/// What is shown passes through here one by one, so that the recorder is never further than what it passed on.
const PASSING_MAX: usize = 1;

/// An engine that does what another does, and writes it down.
///
/// A recording that cannot be written does not stop the work; [`problem`](Self::problem) tells of it.
pub struct Recorder {
    engine: Arc<dyn Engine>,
    tape: Mutex<Tape>,
}

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
        Ok(Self { engine, tape: Mutex::new(tape) })
    }

    /// Why the recording is not complete, if it is not.
    pub fn problem(&self) -> Option<String> {
        self.tape(|tape| tape.problem.as_ref().map(ToString::to_string))
    }

    fn tape<T>(&self, with: impl FnOnce(&mut Tape) -> T) -> T {
        // Nothing panics while it holds the tape; if something did, the next line would still be a whole one.
        with(&mut self.tape.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn record(&self, turn: Turn, shown: mpsc::Sender<Seen>, stop: CancellationToken) -> Finished {
        let began = Instant::now();
        let at_ms = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let number = self.tape(|tape| {
            tape.turns += 1;
            tape.write(tape.turns, What::Asked(Asked::new(&turn)));
            tape.turns
        });
        let workspace = turn.workspace.clone();
        let renaming = Renaming::to_placeholder(&workspace);
        let (pass, mut passing) = mpsc::channel(PASSING_MAX);
        let stopped = stop.clone();
        let recording = async {
            while let Some(seen) = passing.recv().await {
                if is_worth_recording(&seen) {
                    let seen = renaming.seen(&seen);
                    self.tape(|tape| tape.write(number, What::Seen { at_ms: at_ms(), seen }));
                }
                tokio::select! {
                    biased;
                    room = shown.reserve() => if let Ok(room) = room { room.send(seen) },
                    // Who stops a turn may have stopped reading.
                    () = stopped.cancelled() => {}
                }
            }
        };
        let (ended, ()) = tokio::join!(self.engine.run(turn, pass, stop), recording);
        let recorded = renaming.finished(&ended);
        self.tape(|tape| tape.write(number, What::Ended { at_ms: at_ms(), ended: recorded }));
        ended
    }
}

/// A process means nothing to whoever plays the recording.
fn is_worth_recording(seen: &Seen) -> bool {
    !matches!(seen, Seen::Fact(Observation::Process(_)))
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

    fn is_installed(&self) -> bool {
        self.engine.is_installed()
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        self.engine.probe()
    }
}
