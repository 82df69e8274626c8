//! Opening a roundtable, and its rounds.

use super::super::Roundtable;
use super::super::command::Open;
use super::super::strategy::Strategy;
use super::{Decided, Draft, Event, Refusal};
use crate::{RoundtableId, Timestamp};

pub(super) fn open(id: RoundtableId, open: &Open, now: Timestamp) -> Result<Decided<Roundtable>, Refusal> {
    let problems = open.spec.problems(&open.known_roles);
    if !problems.is_empty() {
        return Err(Refusal::Invalid(problems));
    }
    let mut spec = open.spec.clone();
    let strategy = Strategy::named(&spec.strategy).expect("the name was checked with all the rest");
    spec.participants = strategy.seated(&spec.participants);
    let event = Event::Opened(Box::new(spec));
    let table = Roundtable::opened(id, now, &event).expect("a roundtable begins with its opening");
    Ok(Decided { events: vec![event], state: table })
}

pub(super) fn open_round(draft: &mut Draft) -> Result<(), Refusal> {
    draft.active()?;
    let table = &draft.table;
    if let Some(round) = &table.current {
        return Err(Refusal::RoundGoesOn(round.number));
    }
    if let Some(pending) = table.pending() {
        return Err(Refusal::Waits(pending.interaction_id));
    }
    let number = table.recorded_rounds() + 1;
    assert!(number <= table.spec.limits.max_rounds, "the last round that was allowed closed the roundtable");
    let phase = table.strategy.phase(number);
    let speakers = phase.speakers(&table.spec.participants);
    let speakers = speakers.into_iter().map(|seat| seat.role.clone()).collect();
    draft.emit(Event::RoundOpened { number, phase: phase.name.to_owned(), speakers });
    Ok(())
}
