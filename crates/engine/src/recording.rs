//! Recordings: what was asked of an engine, what it showed and how it ended, in one file that people can read.
//!
//! A recording is JSON lines. The first says that it is one; each further line belongs to a turn, by its number:
//!
//! ```json
//! {"adjourn_recording":1}
//! {"turn":1,"asked":{"run":"run_01h4…","attempt":1,"handle":null,"prompt_sha256":"9f86…"}}
//! {"turn":1,"at_ms":12,"seen":{"fact":{"handle":"th-1"}}}
//! {"turn":1,"at_ms":460,"ended":{"completed":{"text":"Which colour?"}}}
//! ```
//!
//! Each line is written when it happens, so a recorder that is killed leaves a recording that breaks off, and can be
//! played as far as it goes. Prompts are kept as digests only: they hold what users gave to a run. The working folder is
//! `{adjourn:workspace}`, for which whoever plays it puts its own.

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod notes;
mod place;
mod recorder;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use adjourn_core::{JSON_DEPTH_MAX, RunId, text_depth};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(crate) use place::Renaming;
pub use recorder::Recorder;

use crate::turn::{Finished, Seen, Turn};

/// Levels of nesting in a line: a document at its limit, and what a line puts around it.
const LINE_DEPTH_MAX: usize = JSON_DEPTH_MAX + 8;

/// The version of the format. A later one is refused rather than misread.
const FORMAT: u32 = 1;

/// A recording that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read or written.
    #[error("the recording {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        error: io::Error,
    },
    /// A line of the file says something that no recording says.
    #[error("the recording {}, line {line}: {problem}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// The first line of a recording.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    adjourn_recording: u32,
}

/// Any other line, as it stands in the file.
///
/// Not an untagged enum, whose errors say nothing about what is wrong.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    turn: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked: Option<Asked>,
    /// Milliseconds since the turn began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen: Option<Seen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<Finished>,
}

/// What a line tells about its turn.
#[derive(Debug)]
enum What {
    Asked(Asked),
    Seen { at_ms: u64, seen: Seen },
    Ended { at_ms: u64, ended: Finished },
}

impl Line {
    fn new(turn: usize, what: What) -> Self {
        let empty = Self { turn, asked: None, at_ms: None, seen: None, ended: None };
        match what {
            What::Asked(asked) => Self { asked: Some(asked), ..empty },
            What::Seen { at_ms, seen } => Self { at_ms: Some(at_ms), seen: Some(seen), ..empty },
            What::Ended { at_ms, ended } => Self { at_ms: Some(at_ms), ended: Some(ended), ..empty },
        }
    }

    fn what(self) -> Result<(usize, What), String> {
        // A recording that was written by hand may leave the times out.
        let at_ms = self.at_ms.unwrap_or_default();
        let what = match (self.asked, self.seen, self.ended) {
            (Some(asked), None, None) => What::Asked(asked),
            (None, Some(seen), None) => What::Seen { at_ms, seen },
            (None, None, Some(ended)) => What::Ended { at_ms, ended },
            _ => return Err("it should have exactly one of `asked`, `seen` and `ended`".to_owned()),
        };
        Ok((self.turn, what))
    }
}

/// What an engine was asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asked {
    run: RunId,
    attempt: u32,
    /// The conversation to go on with; none for a new one.
    handle: Option<String>,
    pub(crate) prompt_sha256: String,
}

impl Asked {
    fn new(turn: &Turn) -> Self {
        Self {
            run: turn.run_id,
            attempt: turn.attempt,
            handle: turn.handle.clone(),
            prompt_sha256: prompt_sha256(&turn.prompt),
        }
    }
}

pub(crate) fn prompt_sha256(prompt: &str) -> String {
    Sha256::digest(prompt.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A recorded turn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) asked: Asked,
    /// What was shown, and how many milliseconds after the beginning.
    pub(crate) seen: Vec<(u64, Seen)>,
    /// The end; none if the recording breaks off before.
    pub(crate) ended: Option<(u64, Finished)>,
    /// The turn of the same conversation that came next, by its number.
    pub(crate) next: Option<usize>,
    /// Whether it begins a conversation.
    pub(crate) is_first: bool,
}

/// A recording in memory. Turns are numbered from 1, as in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Recording {
    pub(crate) path: PathBuf,
    pub(crate) turns: Vec<Recorded>,
}

impl Recording {
    pub(crate) fn read(path: &Path) -> Result<Self, RecordingError> {
        let text =
            fs::read_to_string(path).map_err(|error| RecordingError::Io { path: path.to_owned(), error })?;
        Self::parse(path, &text)
    }

    /// Reads the text of a recording; `path` is for messages.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, RecordingError> {
        let broken =
            |line: usize, problem: String| RecordingError::Broken { path: path.to_owned(), line, problem };
        // What has no line feed was being written when its writer was killed.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = whole.lines().enumerate().map(|(index, line)| (index + 1, line));
        let header = lines.next().and_then(|(_, line)| serde_json::from_str::<Header>(line).ok());
        match header {
            Some(Header { adjourn_recording: FORMAT }) => {}
            Some(Header { adjourn_recording: other }) => {
                let problem = format!("it has format {other}, and this version reads format {FORMAT}");
                return Err(broken(1, problem));
            }
            None => {
                let problem = format!("it should begin with {{\"adjourn_recording\":{FORMAT}}}");
                return Err(broken(1, problem));
            }
        }
        let mut recording = Self { path: path.to_owned(), turns: Vec::new() };
        for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let depth = text_depth(line.as_bytes());
            if depth > LINE_DEPTH_MAX {
                let problem =
                    format!("it is nested {depth} levels deep, at most {LINE_DEPTH_MAX} are allowed");
                return Err(broken(number, problem));
            }
            let line = serde_json::from_str(line).map_err(|error| broken(number, error.to_string()))?;
            recording.add(line).map_err(|problem| broken(number, problem))?;
        }
        Ok(recording)
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        let (number, what) = line.what()?;
        match what {
            What::Asked(asked) => self.begin(number, asked),
            What::Seen { at_ms, seen } => {
                self.going_on(number)?.seen.push((at_ms, seen));
                Ok(())
            }
            What::Ended { at_ms, ended } => {
                self.going_on(number)?.ended = Some((at_ms, ended));
                Ok(())
            }
        }
    }

    fn begin(&mut self, number: usize, asked: Asked) -> Result<(), String> {
        let expected = self.turns.len() + 1;
        if number != expected {
            return Err(format!("turn {expected} should come next, not turn {number}"));
        }
        let before = self.turns.iter_mut().rfind(|earlier| earlier.comes_before(&asked));
        let is_first = before.is_none();
        if let Some(before) = before {
            before.next = Some(number);
        }
        self.turns.push(Recorded { asked, seen: Vec::new(), ended: None, next: None, is_first });
        Ok(())
    }

    fn going_on(&mut self, number: usize) -> Result<&mut Recorded, String> {
        let turn = number.checked_sub(1).and_then(|index| self.turns.get_mut(index));
        let turn = turn.ok_or_else(|| format!("turn {number} was never begun"))?;
        if turn.ended.is_some() {
            return Err(format!("turn {number} has ended before"));
        }
        Ok(turn)
    }

    /// The turn with this number.
    pub(crate) fn turn(&self, number: usize) -> Option<&Recorded> {
        self.turns.get(number.checked_sub(1)?)
    }

    /// The number of the turn that begins this conversation, counted from 1.
    pub(crate) fn conversation(&self, number: usize) -> Option<usize> {
        let firsts = self.turns.iter().enumerate().filter(|(_, turn)| turn.is_first);
        firsts.map(|(index, _)| index + 1).nth(number.checked_sub(1)?)
    }

    /// The number of the turn that begins the conversation with this prompt, else of the first there is: prompts name
    /// folders and dates, and are seldom the same again.
    pub(crate) fn first(&self, prompt_sha256: &str) -> Option<usize> {
        let mut firsts = self.turns.iter().enumerate().filter(|(_, turn)| turn.is_first);
        let same = firsts.clone().find(|(_, turn)| turn.asked.prompt_sha256 == prompt_sha256);
        same.or_else(|| firsts.next()).map(|(index, _)| index + 1)
    }
}

impl Recorded {
    /// Whether `asked` goes on with the conversation of this turn: in the same run, or in one that took it over.
    fn comes_before(&self, asked: &Asked) -> bool {
        self.asked.run == asked.run
            || asked.handle.as_deref().is_some_and(|handle| {
                self.asked.handle.as_deref() == Some(handle) || self.shows_handle(handle)
            })
    }

    fn shows_handle(&self, wanted: &str) -> bool {
        self.seen.iter().any(|(_, seen)| match seen {
            Seen::Fact(adjourn_core::Observation::Handle(handle)) => handle == wanted,
            Seen::Fact(_) | Seen::Delta(_) => false,
        })
    }
}
