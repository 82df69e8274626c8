//! Deadlines after the wall clock was set.
//!
//! A deadline means "so long after the question", and is kept as a moment of wall time, because that is what a person
//! reads. When the clock is set, the moment is moved with it, so that the meaning stays. Nothing has to remember how far
//! this got: a question carries the boot that its deadline was set in, so moving it twice is moving it once.

use super::super::event::Event;
use super::Draft;

/// Has the deadlines of open questions follow the wall clock. A deadline of an earlier boot stays where it is: nobody can
/// tell how the clock was set in between. From now on it is measured against this boot.
pub(super) fn move_deadlines(draft: &mut Draft) {
    let Some(boot) = draft.known.boot else { return };
    let open = draft.run.open_interactions();
    let moved = open.filter_map(|open| {
        let deadline_at = open.deadline_at?;
        let by_ms = match open.deadline_boot {
            Some(earlier) if earlier.id == boot.id => boot.clock_set_since(earlier)?,
            Some(_) | None => 0,
        };
        let id = open.interaction_id;
        Some(Event::DeadlineMoved { id, deadline_at: deadline_at.plus_millis(by_ms), boot, by_ms })
    });
    for event in moved.collect::<Vec<_>>() {
        draft.emit(event);
    }
}
