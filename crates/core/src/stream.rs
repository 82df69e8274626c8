//! A stream: one journaled state machine. Runs and roundtables are the two kinds.
//!
//! A command is decided into events, events are committed as an [`Item`](crate::Item), and the state is the fold of all
//! events. Everything that has to be the same for both kinds is written here once, over the trait [`Stream`].

mod folding;
mod record;
mod set_aside;

use std::fmt;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use folding::Folding;
use folding::fold_entry;
pub(crate) use record::count;
pub use record::{BadEntry, Record, item};
pub use set_aside::SetAside;

use crate::run::Known;
use crate::{Change, Claim, ClaimKey, Entry, Notice, Place, StreamId, Timestamp, Wanted};

/// A journaled state machine: commands in, events out. Its state is the fold of its events.
pub trait Stream: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Tells streams of one kind apart.
    type Id: Copy + fmt::Debug + fmt::Display + Hash + Ord + Into<StreamId> + Send + Sync + 'static;
    /// Something asked of the stream.
    type Command: fmt::Debug + Send + 'static;
    /// A fact.
    type Event: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// Why a command changed nothing.
    type Refusal: std::error::Error + Clone + Send + Sync + 'static;
    /// What a list shows of the stream.
    type Row: StreamRow;

    /// The id of the stream.
    fn id(&self) -> Self::Id;

    /// The place of the last event, counted from 1.
    fn seq(&self) -> u64;

    /// Where the next frame stands.
    fn place(&self) -> Place;

    /// When the last event was decided.
    fn updated_at(&self) -> Timestamp;

    /// Whether nothing happens to it any more.
    fn is_over(&self) -> bool;

    /// The keys that a command wants to hold, so that whoever decides it can find out who holds them.
    fn keys(state: Option<&Self>, command: &Self::Command) -> Vec<ClaimKey>;

    /// Decides a command to the stream `id`, which has no state before its first event.
    fn decide_on(
        id: Self::Id,
        state: Option<&Self>,
        command: &Self::Command,
        known: &Known,
    ) -> Result<Decided<Self>, Self::Refusal>;

    /// The keys that are held from now on if this command creates the stream `id`.
    fn claims(command: &Self::Command, id: Self::Id) -> Vec<Claim>;

    /// The stream that the same request created before, where a refusal says so.
    fn created_before(refusal: &Self::Refusal) -> Option<Self::Id>;

    /// The refusal to create what the same request created before and what was removed since.
    fn created_and_removed(command: &Self::Command, earlier: Self::Id) -> Self::Refusal;

    /// The state after the first event.
    fn begin(id: Self::Id, at: Timestamp, event: &Self::Event) -> Result<Self, BadEvent>;

    /// Adds one event. After an event that does not follow, the state is of no further use.
    fn apply_event(&mut self, at: Timestamp, event: &Self::Event) -> Result<(), BadEvent>;

    /// The state that the entries of a stream add up to; none where there are none.
    fn fold<'a>(
        id: Self::Id,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Option<Self>, BadEntry> {
        let mut state = None;
        for entry in entries {
            fold_entry(id, &mut state, entry)?;
        }
        Ok(state)
    }

    /// The state after one more entry.
    fn fold_on(id: Self::Id, mut state: Option<Self>, entry: &Entry) -> Result<Self, BadEntry> {
        fold_entry(id, &mut state, entry)?;
        state.ok_or(BadEntry::NoBeginning { stream: entry.stream })
    }

    /// The row of the stream.
    fn row(&self) -> Self::Row;

    /// Changes to other rows than the stream's own, by the events that made `before` become `after`.
    fn changes(before: Option<&Self>, events: &[Self::Event], after: &Self) -> Vec<Change>;

    /// All rows of the stream: what [`changes`](Self::changes) over its whole life comes to, for a check of the journal.
    fn rows(&self) -> Vec<Change>;

    /// What somebody outside is told of the events that made `before` become `after`, if anything.
    fn notice(before: Option<&Self>, events: &[Self::Event], after: &Self, wanted: Wanted) -> Option<Notice>;

    /// What an event says about an unreadable part before it.
    fn set_aside_in(event: &Self::Event) -> Option<&SetAside<Self::Row>>;

    /// The state of a stream that is readable only in part: `readable` is what the entries before the damage add up to,
    /// none where the first is damaged.
    fn salvaged(readable: Option<Self>, id: Self::Id, set_aside: &SetAside<Self::Row>) -> Self;

    /// The end of a stream that cannot be read, decided on its [salvaged](Self::salvaged) state.
    fn end_unreadable(
        &self,
        set_aside: SetAside<Self::Row>,
        known: &Known,
    ) -> Result<Decided<Self>, Self::Refusal>;

    /// Whether a command is one of those that end a stream which cannot be read. The others are refused until it is ended.
    fn ends_unreadable(command: &Self::Command) -> bool;
}

/// The row that a list shows of a stream.
pub trait StreamRow: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// The number of the last frame of the stream.
    fn last_frame(&self) -> u64;

    /// Whether nothing happens to the stream any more.
    fn is_over(&self) -> bool;

    /// The change that makes this the row of its stream.
    fn into_change(self) -> Change;
}

/// Events that follow from a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided<S: Stream> {
    /// Facts to be committed before anything is done about them. None where the command changes nothing, because what it
    /// asks for is so already.
    pub events: Vec<S::Event>,
    /// The state with these facts.
    pub state: S,
}

/// An event that does not follow from the ones before it: the journal was not written by this code, or was damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of {stream} does not follow from the ones before it: {problem}")]
pub struct BadEvent {
    /// The stream.
    pub stream: StreamId,
    /// The place of the event.
    pub seq: u64,
    /// What is wrong with it.
    pub problem: String,
}
