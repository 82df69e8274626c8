//! Plays a recording: an engine without an agent, for demos and for testing skills without a model.
//!
//! It shows what was shown and ends how it ended, whatever it is asked. What it keeps of a conversation is in the
//! handle, so that a run can be played on after a restart, by any process: `replay-RUN@3` says that turn 3 of the
//! recording comes next. The run's id is in it so that two runs of one recording never share a handle.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{ErrorCode, Observation, ResumesBy, RunError, named};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::environment::ShellVariables;
use crate::recording::{Recorded, Recording, RecordingError, Renaming, prompt_sha256};
use crate::turn::{Engine, Finished, Probe, ProfileFound, Seen, Turn};

named! {
    /// How fast a recording is played.
    pub enum Pace {
        /// As fast as it goes.
        Instant = "instant",
        /// With the pauses that were recorded.
        Original = "original",
    }
}

/// An engine that plays a recording.
#[derive(Debug, Clone)]
pub struct ReplayEngine {
    recording: Arc<Recording>,
    pace: Pace,
    /// Which of its conversations a new one is, counted from 1; none for the one that began with the same prompt.
    conversation: Option<usize>,
}

impl ReplayEngine {
    /// Plays a recording in a file, which is read here and not looked at again.
    pub fn open(path: &Path, pace: Pace) -> Result<Self, RecordingError> {
        Ok(Self { recording: Arc::new(Recording::read(path)?), pace, conversation: None })
    }

    /// Plays a recording that is not in a file, but built in; `name` stands for the file in messages.
    pub fn new(name: &str, text: &str, pace: Pace) -> Result<Self, RecordingError> {
        let recording = Arc::new(Recording::parse(Path::new(name), text)?);
        Ok(Self { recording, pace, conversation: None })
    }

    /// Plays the same recording at this pace.
    #[must_use]
    pub fn at_pace(&self, pace: Pace) -> Self {
        Self { pace, ..self.clone() }
    }

    /// Begins with this conversation of the recording, counted from 1, whatever it is asked.
    #[must_use]
    pub fn with_conversation(&self, number: usize) -> Self {
        Self { conversation: Some(number), ..self.clone() }
    }

    /// The number of the turn that a new conversation begins with.
    fn first(&self, turn: &Turn) -> Option<usize> {
        match self.conversation {
            Some(number) => self.recording.conversation(number),
            None => self.recording.first(&prompt_sha256(&turn.prompt)),
        }
    }

    /// The number of the turn to play, and the turn.
    fn choose(&self, turn: &Turn) -> Result<(usize, &Recorded), RunError> {
        let path = self.recording.path.display();
        let number = match &turn.handle {
            None => self.first(turn).ok_or_else(|| RunError {
                code: ErrorCode::EngineProtocolError,
                message: match self.conversation {
                    Some(number) => format!("the recording {path} has no conversation {number} in it"),
                    None => format!("the recording {path} has no turn in it"),
                },
            })?,
            Some(handle) => next_turn(handle).ok_or_else(|| RunError {
                code: ErrorCode::SessionResumeFailed,
                message: format!("`{handle}` is no handle of a recording; one looks like `replay-RUN@2`"),
            })?,
        };
        let recorded = self.recording.turn(number).ok_or_else(|| RunError {
            code: ErrorCode::SessionResumeFailed,
            message: format!(
                "the recording {path} ends before this: the conversation has no further turn in it. Record a longer \
                 one, or answer as it was answered then"
            ),
        })?;
        Ok((number, recorded))
    }

    async fn play(&self, turn: &Turn, show: &mpsc::Sender<Seen>) -> Result<Finished, RunError> {
        let (mut number, mut recorded) = self.choose(turn)?;
        loop {
            let ended = self.play_one(number, recorded, turn, show).await?;
            let next = recorded.next.and_then(|next| Some((next, self.recording.turn(next)?)));
            match (ended, next) {
                // Somebody stopped it then. Until somebody does now it goes on, and shows nothing.
                (Finished::Stopped, _) => std::future::pending().await,
                // A call waited for a person. There is no call now, so nobody is asked, and it goes on as it did then.
                (Finished::Suspended, Some(next)) => (number, recorded) = next,
                (Finished::Suspended, None) => return Err(self.breaks_off(number)),
                (
                    ended @ (Finished::Completed { .. } | Finished::Failed(_) | Finished::NeedsPermission(_)),
                    _,
                ) => {
                    let next = handle_of(turn, recorded.next.unwrap_or(NO_TURN));
                    let _ = show.send(Seen::Fact(Observation::Handle(next))).await;
                    return Ok(Renaming::from_placeholder(&turn.workspace).finished(&ended));
                }
            }
        }
    }

    /// Plays one recorded turn; how it ended.
    async fn play_one(
        &self,
        number: usize,
        recorded: &Recorded,
        turn: &Turn,
        show: &mpsc::Sender<Seen>,
    ) -> Result<Finished, RunError> {
        let began = Instant::now();
        let until = async |at_ms| match self.pace {
            Pace::Original => sleep_until(began + Duration::from_millis(at_ms)).await,
            Pace::Instant => {}
        };
        let renaming = Renaming::from_placeholder(&turn.workspace);
        // If the turn is cut off from here on, it is played again.
        let handle = || Seen::Fact(Observation::Handle(handle_of(turn, number)));
        for (at_ms, seen) in &recorded.seen {
            until(*at_ms).await;
            let _ = show.send(played(seen).map_or_else(handle, |seen| renaming.seen(&seen))).await;
        }
        let (at_ms, ended) = recorded.ended.as_ref().ok_or_else(|| self.breaks_off(number))?;
        until(*at_ms).await;
        Ok(ended.clone())
    }

    fn breaks_off(&self, number: usize) -> RunError {
        let message = format!("the recording {} breaks off in turn {number}", self.recording.path.display());
        RunError { code: ErrorCode::EngineProtocolError, message }
    }
}

/// What comes after the last turn of a conversation: turns are numbered from 1.
const NO_TURN: usize = 0;

fn handle_of(turn: &Turn, next: usize) -> String {
    format!("replay-{}@{next}", turn.run_id)
}

fn next_turn(handle: &str) -> Option<usize> {
    handle.strip_prefix("replay-")?.rsplit_once('@')?.1.parse().ok()
}

/// What was shown, without references to a log that is not there; none for a handle, which has to be our own.
fn played(seen: &Seen) -> Option<Seen> {
    let Seen::Fact(fact) = seen else { return Some(seen.clone()) };
    let mut fact = fact.clone();
    match &mut fact {
        Observation::Handle(_) => return None,
        Observation::Message { raw, .. }
        | Observation::Reasoning { raw, .. }
        | Observation::ToolCall { raw, .. }
        | Observation::CommandExecution { raw, .. } => *raw = None,
        Observation::Process(_) | Observation::Sandbox(_) | Observation::Usage(_) | Observation::Step(_) => {}
    }
    Some(Seen::Fact(fact))
}

impl Engine for ReplayEngine {
    /// By handle, also where the recorded engine went on from the journal.
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Handle
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => Finished::Stopped,
                played = self.play(&turn, &seen) => played.unwrap_or_else(Finished::Failed),
            }
        })
    }

    fn can_resume(&self, turn: &Turn) -> bool {
        turn.handle.is_some() && self.choose(turn).is_ok()
    }

    fn plays_a_recording(&self) -> bool {
        true
    }

    fn is_installed(&self, _: Option<&ShellVariables>) -> bool {
        true
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        let turns = self.recording.turns.len();
        Box::pin(async move {
            Probe::Ready {
                version: format!("a recording of {turns} turns"),
                profile: ProfileFound::resumable("a recording is played from any of its turns"),
            }
        })
    }
}
