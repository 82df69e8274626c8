//! Steps of the wall clock: each is noticed once, and the deadlines of open questions follow it.
//!
//! What a deadline means after the clock was set is decided in the core, from what the question itself carries. Here it is
//! only seen to that every open question is looked at, a page at a time, so that whoever asks something meanwhile hardly
//! waits. If the process is killed halfway, the next one looks at every question anyway, as it recovers its run.

use std::collections::BTreeSet;

use adjourn_core::{Boot, Command, RunId};
use adjourn_store::OpenCursor;

use super::{Kernel, Ticket};

/// Questions that are looked at in one step.
const PAGE: usize = 64;

/// What is known about steps of the wall clock.
pub(super) struct ClockSteps {
    /// The boot as the clock had it when it was last set.
    boot: Boot,
    /// How far the open questions were looked at since then; none where all of them were.
    looked_up_to: Option<Cursor>,
    /// Runs whose question was decided before the clock was set and became durable after.
    late: BTreeSet<RunId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Start,
    After(OpenCursor),
}

impl ClockSteps {
    pub(super) fn new(boot: Boot) -> Self {
        Self { boot, looked_up_to: None, late: BTreeSet::new() }
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        usize::from(self.looked_up_to.is_some()) + self.late.len()
    }

    /// Takes note of the boot as the clock has it now.
    pub(super) fn look(&mut self, boot: Boot) {
        if let Some(by_ms) = boot.clock_set_since(self.boot) {
            let way = if by_ms < 0 { "back" } else { "forward" };
            let seconds = by_ms.unsigned_abs() / 1000;
            tracing::warn!(
                by_ms,
                "the clock was set {way} by {seconds} s: deadlines of questions move with it"
            );
            self.boot = boot;
            self.start_over();
        }
    }

    /// Every open question is looked at again.
    pub(super) fn start_over(&mut self) {
        self.looked_up_to = Some(Cursor::Start);
    }

    /// A question became durable whose deadline was set when the clock had the boot like this.
    pub(super) fn opened(&mut self, run_id: RunId, boot: Boot) {
        if self.boot.clock_set_since(boot).is_some() {
            self.late.insert(run_id);
        }
    }
}

impl<T, U> Kernel<T, U> {
    /// Whether questions are still to be looked at after the clock was set, and it is time to: the page before is on its
    /// way to the disk.
    pub(super) fn has_deadlines_to_move(&self) -> bool {
        let ClockSteps { looked_up_to, late, .. } = &self.clock_steps;
        (looked_up_to.is_some() || !late.is_empty()) && self.open_len() == 0
    }

    /// Has the next deadlines follow the clock.
    pub(super) fn move_deadlines(&mut self) {
        if self.retry_at.is_some() || !self.has_deadlines_to_move() {
            return;
        }
        for run_id in std::mem::take(&mut self.clock_steps.late) {
            self.move_deadlines_of(run_id);
        }
        let after = match self.clock_steps.looked_up_to {
            None => return,
            Some(Cursor::Start) => None,
            Some(Cursor::After(cursor)) => Some(cursor),
        };
        let Ok(page) = self.store.open_interactions(after, PAGE) else {
            self.retry_later();
            return;
        };
        let last = page.last().map(|open| OpenCursor {
            created_at: open.created_at,
            stream: open.stream,
            interaction_id: open.interaction_id,
        });
        self.clock_steps.looked_up_to = last.filter(|_| page.len() == PAGE).map(Cursor::After);
        let dated = page.iter().filter(|open| open.deadline_at.is_some());
        let runs: BTreeSet<RunId> = dated.filter_map(|open| open.stream.run()).collect();
        for run_id in runs {
            self.move_deadlines_of(run_id);
        }
    }

    fn move_deadlines_of(&mut self, run_id: RunId) {
        // Whatever a restart left behind follows the clock when it is recovered.
        if !self.recovery.is_due(run_id) {
            self.offer(run_id, Command::MoveDeadlines, Ticket::MoveDeadlines);
        }
    }
}
