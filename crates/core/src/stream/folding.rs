//! The fold of a stream's entries into its state.

use super::{BadEntry, Record, SetAside, Stream, StreamRow};
use crate::{Entry, excerpt};

/// Bytes of the description of a damage: a parser may repeat a part of what it cannot read.
const PROBLEM_BYTES_MAX: usize = 400;

/// Adds one entry to the state before it.
pub(super) fn fold_entry<S: Stream>(id: S::Id, state: &mut Option<S>, entry: &Entry) -> Result<(), BadEntry> {
    let record = Record::<S::Event>::of(entry)?;
    let stream = entry.stream;
    if let Some(set_aside) = record.events.first().and_then(S::set_aside_in) {
        *state = Some(S::salvaged(state.take(), id, set_aside));
    }
    let before = state.as_ref().map_or(0, S::seq);
    if before + u64::from(entry.events) != entry.seq {
        return Err(match before {
            0 => BadEntry::NoBeginning { stream },
            _ => BadEntry::Gap { stream, seq: entry.seq, before },
        });
    }
    let mut events = record.events.iter();
    if state.is_none() {
        let first = events.next().ok_or(BadEntry::NoBeginning { stream })?;
        *state = Some(S::begin(id, entry.at, first)?);
    }
    let Some(state) = state else { return Err(BadEntry::NoBeginning { stream }) };
    for event in events {
        state.apply_event(entry.at, event)?;
    }
    Ok(())
}

/// The fold of a stream, entry by entry, over parts that cannot be read.
#[derive(Debug)]
pub struct Folding<S: Stream> {
    id: S::Id,
    state: Option<S>,
    /// The first entry that could not be read, unless the stream was set aside after it.
    damage: Option<BadEntry>,
    /// The place of the last event of the stream so far.
    seq: u64,
    /// The number of the last frame of the stream so far.
    frame: u64,
}

impl<S: Stream> Folding<S> {
    /// The fold of the empty stream.
    pub fn new(id: S::Id) -> Self {
        Self { id, state: None, damage: None, seq: 0, frame: 0 }
    }

    /// Adds one entry. After one that cannot be read, others count only from the one on that
    /// [sets it aside](Stream::set_aside_in).
    pub fn add(&mut self, entry: &Entry) {
        self.seq = self.seq.max(entry.seq);
        self.frame = self.frame.max(entry.last_frame);
        if self.damage.is_some() && !begins_again::<S>(entry) {
            return;
        }
        self.damage = fold_entry(self.id, &mut self.state, entry).err();
    }

    /// The place of the last event of the stream so far, readable or not.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What is wrong with the stream, if something is.
    pub fn damage(&self) -> Option<&BadEntry> {
        self.damage.as_ref()
    }

    /// The state, none where there are no entries; or the damage.
    pub fn finish(self) -> Result<Option<S>, BadEntry> {
        match self.damage {
            None => Ok(self.state),
            Some(damage) => Err(damage),
        }
    }

    /// What can be said of a damaged stream whose row is `row`, and where it stands.
    pub fn salvage(self, row: S::Row) -> (S, SetAside<S::Row>) {
        let problem =
            self.damage.map_or_else(|| "an entry is missing".to_owned(), |damage| damage.to_string());
        let problem = excerpt::head(&problem, PROBLEM_BYTES_MAX);
        let frame = self.frame.max(row.last_frame());
        let set_aside = SetAside { seq: self.seq, frame, row, problem };
        (S::salvaged(self.state, self.id, &set_aside), set_aside)
    }
}

/// Whether an entry begins by setting aside what is before it.
fn begins_again<S: Stream>(entry: &Entry) -> bool {
    let first = Record::<S::Event>::of(entry).map(|record| record.events.into_iter().next());
    first.is_ok_and(|first| first.is_some_and(|first| S::set_aside_in(&first).is_some()))
}
