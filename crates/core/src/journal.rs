//! The shape of the journal: streams of entries, and the rows that can be looked up.
//!
//! An entry holds the events that one command added to one stream, as bytes: whoever keeps the journal knows where an
//! entry belongs and never what is in it. The rows are what the events of a run mean for somebody who looks things up.
//! They are computed here, purely, and written in the same commit as the events, so that every store keeps the same ones.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machines::RoundtableStatus;
use crate::{
    ContractStatus, ExecutionId, InteractionId, Notice, Question, RoundtableId, RunId, RunStatus, Timestamp,
};

/// The ordered facts of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// The facts of a run.
    Run(RunId),
    /// The facts of a roundtable.
    Roundtable(RoundtableId),
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(id) => id.fmt(f),
            Self::Roundtable(id) => id.fmt(f),
        }
    }
}

impl From<RunId> for StreamId {
    fn from(id: RunId) -> Self {
        Self::Run(id)
    }
}

impl From<RoundtableId> for StreamId {
    fn from(id: RoundtableId) -> Self {
        Self::Roundtable(id)
    }
}

impl StreamId {
    /// The run whose facts these are; none where they are a roundtable's.
    pub const fn run(self) -> Option<RunId> {
        match self {
            Self::Run(id) => Some(id),
            Self::Roundtable(_) => None,
        }
    }

    /// The roundtable whose facts these are; none where they are a run's.
    pub const fn roundtable(self) -> Option<RoundtableId> {
        match self {
            Self::Roundtable(id) => Some(id),
            Self::Run(_) => None,
        }
    }
}

/// What one command adds to one stream: accepted or refused as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The place of the stream's last event when this was decided; 0 for a stream that must not exist yet.
    pub expected_seq: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// How many events the payload holds; at least one.
    pub events: u32,
    /// The number of the last frame that the stream renders to with these events.
    pub last_frame: u64,
    /// The events, encoded.
    pub payload: Vec<u8>,
    /// The rows that change with them.
    pub changes: Vec<Change>,
}

/// An [`Item`] that was committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The stream it belongs to.
    pub stream: StreamId,
    /// The place of its last event among the events of all streams, counted from 1.
    pub position: u64,
    /// The place of its last event in its stream, counted from 1.
    pub seq: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// How many events the payload holds.
    pub events: u32,
    /// The number of the last frame that the stream renders to up to here.
    pub last_frame: u64,
    /// The events, encoded.
    pub payload: Vec<u8>,
}

/// A change to what can be looked up, in the same commit as the events that mean it.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The run's row is this one now. Labels, skill, engine, priority and `created_at` never change after the first.
    Run(RunRow),
    /// The roundtable's row is this one now. What it is about, its labels and `created_at` never change after the first.
    Roundtable(RoundtableRow),
    /// A question was opened.
    InteractionOpened(OpenInteraction),
    /// A question is no longer open.
    InteractionClosed(StreamId, InteractionId),
    /// The contract's row is this one now.
    Contract(ContractRow),
    /// A key is held from now on. Refuses the whole item if another holder has it.
    Claimed(Claim),
    /// A key is free again.
    Released(ClaimKey),
    /// Somebody is to be told.
    Notice(Notice),
    /// The stream cannot be read and has ended: none of its questions is open any more, and none of its contracts is
    /// under way. Keys that it holds stay held. Comes before the other changes of its item.
    SetAside(StreamId),
}

/// What a list of runs shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunRow {
    /// The run.
    pub run_id: RunId,
    /// Its status.
    pub status: RunStatus,
    /// The skill it runs; none for a bare prompt.
    pub skill: Option<String>,
    /// The engine that executes it.
    pub engine: String,
    /// The current attempt.
    pub attempt_number: u32,
    /// Who goes first in the queue: higher does.
    pub priority: i32,
    /// Why it failed.
    pub error_code: Option<String>,
    /// The number of the last frame of its stream.
    pub seq: u64,
    /// When it was created.
    #[serde(with = "crate::time::wire")]
    pub created_at: Timestamp,
    /// When its last event was decided.
    #[serde(with = "crate::time::wire")]
    pub updated_at: Timestamp,
    /// What its creator wanted to find it by.
    pub labels: BTreeMap<String, String>,
}

/// What a list of roundtables shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RoundtableRow {
    /// The roundtable.
    pub roundtable_id: RoundtableId,
    /// Its status.
    pub status: RoundtableStatus,
    /// What is discussed.
    pub subject: String,
    /// The workflow that its agenda comes from.
    pub workflow: String,
    /// How it is discussed.
    pub strategy: String,
    /// How many rounds are recorded.
    pub rounds: u32,
    /// Why it ended.
    pub close_reason: Option<String>,
    /// The number of the last frame of its stream.
    pub seq: u64,
    /// When it was opened.
    #[serde(with = "crate::time::wire")]
    pub created_at: Timestamp,
    /// When its last event was decided.
    #[serde(with = "crate::time::wire")]
    pub updated_at: Timestamp,
    /// What its creator wanted to find it by.
    pub labels: BTreeMap<String, String>,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenInteraction {
    /// Who waits: a run, or a roundtable.
    pub stream: StreamId,
    /// The question's number there.
    pub interaction_id: InteractionId,
    /// What is asked.
    pub question: Question,
    /// When it was asked.
    pub created_at: Timestamp,
    /// When something happens without an answer.
    pub deadline_at: Option<Timestamp>,
}

/// Where a contract is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ContractRow {
    /// The contract.
    pub execution_id: ExecutionId,
    /// The run it belongs to.
    pub run_id: RunId,
    /// Its status.
    pub status: ContractStatus,
    /// It may or may not have happened, and a person has to say.
    pub unknown: bool,
}

/// Something that at most one holder may have, over all streams.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClaimKey {
    /// Where the key is unique.
    pub scope: String,
    /// The key.
    pub key: String,
}

/// A held key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What is held.
    pub key: ClaimKey,
    /// Who holds it.
    pub holder: Holder,
}

/// Who holds a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The run that holds it, or the roundtable.
    pub stream: StreamId,
    /// The contract of that run, where it is one that holds it.
    pub execution_id: Option<ExecutionId>,
    /// A digest of what it was held for, so that the same request can be told from another one with the same key.
    pub digest: Option<String>,
}
