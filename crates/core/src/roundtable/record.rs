//! From decisions to what is committed, and back.

use serde::{Deserialize, Serialize};

use super::Roundtable;
use super::event::Event;
use super::frame::{self, Frame};
use crate::projection::place_as_list;
use crate::{BadEntry, Entry, Item, Place, RoundtableId, StreamId};

/// The events of one entry, and where its first frame stands. What an entry's payload holds, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Frame, round and frames of the round before this entry.
    #[serde(rename = "p", with = "place_as_list")]
    pub place: Place,
    /// What happened.
    #[serde(rename = "e")]
    pub events: Vec<Event>,
}

/// A [`Record`] that is only written and so need not own its events.
#[derive(Serialize)]
struct RecordToWrite<'a> {
    #[serde(rename = "p", with = "place_as_list")]
    place: Place,
    #[serde(rename = "e")]
    events: &'a [Event],
}

impl Record {
    /// Reads the payload of an entry.
    pub fn of(entry: &Entry) -> Result<Self, BadEntry> {
        serde_json::from_slice(&entry.payload).map_err(|source| BadEntry::Unreadable {
            stream: entry.stream,
            seq: entry.seq,
            source,
        })
    }

    /// The frames of an entry.
    pub fn frames(&self, table: &Roundtable, entry: &Entry) -> Vec<Frame> {
        frame::render(table.id, &table.spec.facilitator.engine, self.place, entry.at, &self.events)
    }
}

impl Roundtable {
    /// The state that the entries of a roundtable's stream add up to; none where there are none.
    pub fn fold<'a>(
        id: RoundtableId,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Option<Self>, BadEntry> {
        let mut table = None;
        for entry in entries {
            table = Some(Self::fold_on(id, table, entry)?);
        }
        Ok(table)
    }

    /// The state after one more entry.
    pub fn fold_on(id: RoundtableId, table: Option<Self>, entry: &Entry) -> Result<Self, BadEntry> {
        let record = Record::of(entry)?;
        let (mut table, events) = match (table, record.events.split_first()) {
            (Some(table), _) => (table, record.events.as_slice()),
            (None, Some((first, rest))) => (Self::opened(id, entry.at, first)?, rest),
            (None, None) => return Err(BadEntry::NoBeginning { stream: entry.stream }),
        };
        for event in events {
            table.apply(entry.at, event)?;
        }
        Ok(table)
    }
}

/// What has to be committed so that the roundtable `before` becomes `after` by `events`.
pub fn item(before: Option<&Roundtable>, events: &[Event], after: &Roundtable) -> Item {
    let record = RecordToWrite { place: before.map(Roundtable::place).unwrap_or_default(), events };
    Item {
        stream: StreamId::Roundtable(after.id),
        expected_seq: before.map_or(0, Roundtable::seq),
        at: after.updated_at,
        events: u32::try_from(events.len()).expect("a command causes far fewer than four billion events"),
        last_frame: after.frame,
        payload: serde_json::to_vec(&record).expect("events are plain data, and plain data is JSON"),
        changes: Vec::new(),
    }
}
