//! Going on after a part of a roundtable's journal that cannot be read. The same as for a run: see `run/set_aside.rs`.

use serde::{Deserialize, Serialize};

use super::decide::{Decided, Draft};
use super::event::Event;
use super::spec::{Limits, Pace, RoundtableSpec, Seat};
use super::strategy::Strategy;
use super::{Document, Refusal, Roundtable};
use crate::{RoundtableId, RoundtableRow, Timestamp};

/// Where a roundtable stood when a part of its journal was found to be unreadable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetAside {
    /// The place of the last event in the stream.
    #[serde(deserialize_with = "crate::projection::count::deserialize")]
    pub seq: u64,
    /// The number of the last frame of the stream.
    #[serde(deserialize_with = "crate::projection::count::deserialize")]
    pub frame: u64,
    /// The roundtable's row.
    pub row: RoundtableRow,
    /// What cannot be read, and why.
    pub problem: String,
}

impl Roundtable {
    /// The state of a roundtable whose journal is readable only in part: `readable` is what the entries before the damage
    /// add up to, none where the first is damaged.
    pub fn salvaged(readable: Option<Self>, id: RoundtableId, set_aside: &SetAside) -> Self {
        let row = &set_aside.row;
        let mut table = readable.unwrap_or_else(|| {
            let strategy = Strategy::named(&row.strategy).unwrap_or(Strategy::ALL[0]);
            Self::with_spec(id, row.created_at, &stand_in(row), strategy)
        });
        table.rebase(row.updated_at, set_aside);
        table
    }

    /// Takes status and places from the row. Doing so twice is doing it once.
    pub(super) fn rebase(&mut self, at: Timestamp, set_aside: &SetAside) {
        self.status = set_aside.row.status;
        self.seq = set_aside.seq;
        self.frame = set_aside.frame;
        self.local_frame = 0;
        self.updated_at = at;
        // How far the round got is not known.
        self.current = None;
    }

    /// The end of a roundtable whose journal cannot be read. `self` is the [salvaged](Self::salvaged) state.
    pub fn set_aside(&self, set_aside: SetAside, now: Timestamp) -> Result<Decided, Refusal> {
        let problem = format!("a part of the roundtable's journal cannot be read: {}", set_aside.problem);
        let mut draft = Draft { table: self.clone(), events: Vec::new(), now };
        draft.emit(Event::SetAside(Box::new(set_aside)));
        draft.fail(&problem)?;
        Ok(Decided { events: draft.events, table: draft.table })
    }
}

/// What a row says about a roundtable whose specification is lost.
fn stand_in(row: &RoundtableRow) -> RoundtableSpec {
    RoundtableSpec {
        subject: row.subject.clone(),
        workflow: row.workflow.clone(),
        document: Document::Requirements,
        strategy: row.strategy.clone(),
        limits: Limits::default(),
        agenda: Vec::new(),
        facilitator: Seat::facilitator(""),
        participants: Vec::new(),
        pace: Pace::Continuous,
        context: None,
        labels: row.labels.clone(),
    }
}
