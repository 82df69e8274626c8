//! From decisions to what is committed, and back.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{BadEvent, Stream, StreamRow};
use crate::{Change, Claim, Entry, Item, Place, StreamId};

/// The events of one entry, and where its first frame stands. What an entry's payload holds, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<E> {
    /// Frame, attempt or round, and frames of that attempt or round before this entry.
    #[serde(rename = "p", with = "place_as_list")]
    pub place: Place,
    /// What happened.
    #[serde(rename = "e")]
    pub events: Vec<E>,
}

/// A [`Record`] that is only written and so need not own its events.
#[derive(Serialize)]
struct RecordToWrite<'a, E> {
    #[serde(rename = "p", with = "place_as_list")]
    place: Place,
    #[serde(rename = "e")]
    events: &'a [E],
}

/// A payload that is not a record.
#[derive(Debug, thiserror::Error)]
pub enum BadEntry {
    /// It cannot be read.
    #[error("entry {seq} of {stream} cannot be read: {source}")]
    Unreadable {
        /// The stream.
        stream: StreamId,
        /// The place of the entry's last event.
        seq: u64,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It can, and does not follow.
    #[error(transparent)]
    Event(#[from] BadEvent),
    /// The stream does not begin at its beginning.
    #[error("the first entry of {stream} is missing")]
    NoBeginning {
        /// The stream.
        stream: StreamId,
    },
    /// An entry before it is missing, or is there twice.
    #[error("entry {seq} of {stream} does not follow the one before it, which ends with {before}")]
    Gap {
        /// The stream.
        stream: StreamId,
        /// The place of the entry's last event.
        seq: u64,
        /// The place of the last event before it.
        before: u64,
    },
}

impl<E: DeserializeOwned> Record<E> {
    /// Reads the payload of an entry.
    pub fn of(entry: &Entry) -> Result<Self, BadEntry> {
        serde_json::from_slice(&entry.payload).map_err(|source| BadEntry::Unreadable {
            stream: entry.stream,
            seq: entry.seq,
            source,
        })
    }
}

/// What has to be committed so that the stream `before` becomes `after` by `events`, and holds `claims` from then on.
pub fn item<S: Stream>(before: Option<&S>, claims: Vec<Claim>, events: &[S::Event], after: &S) -> Item {
    let record = RecordToWrite { place: before.map(S::place).unwrap_or_default(), events };
    let stream = after.id().into();
    let is_set_aside = events.iter().any(|event| S::set_aside_in(event).is_some());
    let mut changes: Vec<_> = is_set_aside.then_some(Change::SetAside(stream)).into_iter().collect();
    changes.push(after.row().into_change());
    changes.extend(claims.into_iter().map(Change::Claimed));
    changes.extend(S::changes(before, events, after));
    Item {
        stream,
        expected_seq: before.map_or(0, S::seq),
        at: after.updated_at(),
        events: u32::try_from(events.len()).expect("a command causes far fewer than four billion events"),
        last_frame: after.place().frame,
        payload: serde_json::to_vec(&record).expect("events are plain data, and plain data is JSON"),
        changes,
    }
}

/// `[frame, attempt, local]`: three numbers that stand in every entry, without their names.
mod place_as_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Place;
    use super::count::checked;

    pub(super) fn serialize<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
        (place.frame, place.attempt, place.local).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
        let (frame, attempt, local) = Deserialize::deserialize(deserializer)?;
        Ok(Place { frame: checked(frame)?, attempt, local: checked(local)? })
    }
}

/// A number of events or frames that stands in an entry.
///
/// A damaged entry may hold any number. One that is so large that counting on would overflow is refused as unreadable.
pub(crate) mod count {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    /// More than a stream can have: a million events per second for a hundred thousand years.
    const COUNT_MAX: u64 = 1 << 62;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        checked(u64::deserialize(deserializer)?)
    }

    pub(super) fn checked<E: Error>(count: u64) -> Result<u64, E> {
        if count > COUNT_MAX {
            return Err(E::custom(format!(
                "{count} is more than the events and frames that a stream can have"
            )));
        }
        Ok(count)
    }
}
