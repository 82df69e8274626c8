//! The record of an unreadable part of a stream.

use serde::{Deserialize, Serialize};

/// Where a stream stood when a part of its journal was found to be unreadable.
///
/// A stream with an entry that cannot be read has no state, so nothing can be decided about it, not even its end. An event
/// with this is the way out: its fold needs nothing of what is before it. It carries the stream's row, which was written in
/// the commit of the last entry and says where the stream stood. The state after it is what could be read before the
/// damage, with status and places of the row. The events that end the stream follow in the same commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAside<R> {
    /// The place of the last event in the stream.
    #[serde(deserialize_with = "super::count::deserialize")]
    pub seq: u64,
    /// The number of the last frame of the stream.
    #[serde(deserialize_with = "super::count::deserialize")]
    pub frame: u64,
    /// The stream's row.
    pub row: R,
    /// What cannot be read, and why.
    pub problem: String,
}
