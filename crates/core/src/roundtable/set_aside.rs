//! Going on after a part of a roundtable's journal that cannot be read. See [`SetAside`].

use super::decide::Draft;
use super::event::Event;
use super::spec::{Limits, Pace, RoundtableSpec, Seat};
use super::strategy::Strategy;
use super::{Document, Refusal, Roundtable};
use crate::stream::{Decided, SetAside};
use crate::{RoundtableId, RoundtableRow, Timestamp};

/// The state of a roundtable that is readable only in part.
pub(super) fn salvaged(
    readable: Option<Roundtable>,
    id: RoundtableId,
    set_aside: &SetAside<RoundtableRow>,
) -> Roundtable {
    let row = &set_aside.row;
    let mut table = readable.unwrap_or_else(|| {
        let strategy = Strategy::named(&row.strategy).unwrap_or(Strategy::ALL[0]);
        Roundtable::with_spec(id, row.created_at, &stand_in(row), strategy)
    });
    table.rebase(row.updated_at, set_aside);
    table
}

impl Roundtable {
    /// Takes status and places from the row. Doing so twice is doing it once.
    pub(super) fn rebase(&mut self, at: Timestamp, set_aside: &SetAside<RoundtableRow>) {
        self.status = set_aside.row.status;
        self.seq = set_aside.seq;
        self.frame = set_aside.frame;
        self.local_frame = 0;
        self.updated_at = at;
        // How far the round got is not known.
        self.drop_round();
    }
}

/// The end of a roundtable whose journal cannot be read. `draft` begins with its salvaged state.
pub(super) fn end_unreadable(
    mut draft: Draft,
    set_aside: SetAside<RoundtableRow>,
) -> Result<Decided<Roundtable>, Refusal> {
    let problem = format!("a part of the roundtable's journal cannot be read: {}", set_aside.problem);
    draft.emit(Event::SetAside(Box::new(set_aside)));
    draft.fail(&problem)?;
    Ok(draft.decided())
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
