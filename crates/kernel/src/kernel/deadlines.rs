//! Deadlines: of questions, which are durable, and of turns, which begin again with every turn.
//!
//! Those of questions are moments of wall time, and are compared with the wall clock as it is. Those of turns are
//! durations, and run on the steady clock.
//!
//! The deadlines of questions are rows, and only the next one is remembered here. However many runs wait, they cost no
//! memory, and a restart finds them where they were.

use std::collections::{BTreeSet, HashMap, HashSet};

use adjourn_core::{Command, InteractionId, Refusal, Run, RunId, RunStatus, Timestamp};
use adjourn_store::{Error, Store};

use super::{Kernel, Ticket};
use crate::clock::Steady;
use crate::denied::{Answer, Denied};

/// Questions that are expired at once. The rest comes with the next tick, which follows immediately.
const DUE_PAGE: usize = 256;

/// Which deadline is next.
pub(super) struct Deadlines {
    /// No question expires before this.
    next_question: Option<Timestamp>,
    /// Questions whose expiry is being decided, or was refused until their run changes.
    set_aside: HashMap<RunId, HashSet<InteractionId>>,
    /// When turns that go on have to end. Only a turn whose start is durable goes on.
    turns: BTreeSet<(Steady, RunId, u32)>,
    turn_of: HashMap<RunId, (Steady, u32)>,
}

impl Deadlines {
    pub(super) fn begin(store: &dyn Store) -> Result<Self, Error> {
        let first = store.deadlines(1)?.into_iter().next();
        Ok(Self {
            next_question: first.and_then(|open| open.deadline_at),
            set_aside: HashMap::new(),
            turns: BTreeSet::new(),
            turn_of: HashMap::new(),
        })
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        self.set_aside.values().map(HashSet::len).sum::<usize>() + self.turns.len() + self.turn_of.len()
    }

    /// When the first question expires.
    pub(super) fn next_question(&self) -> Option<Timestamp> {
        self.next_question
    }

    /// When the first turn has to end.
    pub(super) fn next_turn(&self) -> Option<Steady> {
        self.turns.first().map(|(at, _, _)| *at)
    }

    /// Takes note of a run as it is decided to be.
    pub(super) fn observe(&mut self, run: &Run) {
        self.set_aside.remove(&run.id());
        self.look_at(run);
    }

    /// Takes note of a run whose state is durable. A question can be found only now: whoever looked for it in between
    /// did not see it.
    pub(super) fn committed(&mut self, run: &Run) {
        let id = run.id();
        // Refused because of what was just becoming durable, an expiry is tried again when it is due by the new row.
        self.set_aside.remove(&id);
        self.look_at(run);
        if let Some((at, turn)) = self.turn_of.get(&id).copied()
            && (run.status() != RunStatus::Running || turn != run.turn())
        {
            self.turns.remove(&(at, id, turn));
            self.turn_of.remove(&id);
        }
    }

    /// A turn begins now, and its time with it.
    pub(super) fn turn_begins(&mut self, run: &Run, now: Steady) {
        if let Some(seconds) = run.spec().hard_timeout_sec {
            let at = now.plus_seconds(seconds);
            self.turns.insert((at, run.id(), run.turn()));
            self.turn_of.insert(run.id(), (at, run.turn()));
        }
    }

    fn look_at(&mut self, run: &Run) {
        if let Some(deadline) = run.wait_deadline_at() {
            self.next_question = Some(self.next_question.map_or(deadline, |next| next.min(deadline)));
        }
    }

    /// The turns that took longer than they may.
    pub(super) fn overdue_turns(&mut self, now: Steady) -> Vec<(RunId, u32)> {
        let mut overdue = Vec::new();
        while let Some(&(at, run_id, turn)) = self.turns.first()
            && at <= now
        {
            self.turns.remove(&(at, run_id, turn));
            self.turn_of.remove(&run_id);
            overdue.push((run_id, turn));
        }
        overdue
    }

    /// The questions whose deadline has come, each of them once until it is [decided](Self::decided).
    pub(super) fn due(
        &mut self,
        store: &dyn Store,
        now: Timestamp,
    ) -> Result<Vec<(RunId, InteractionId)>, Error> {
        if self.next_question.is_none_or(|next| next > now) {
            return Ok(Vec::new());
        }
        let aside: usize = self.set_aside.values().map(HashSet::len).sum();
        let page = store.deadlines(DUE_PAGE + aside)?;
        let mut due = Vec::new();
        self.next_question = None;
        for open in page {
            let Some(deadline) = open.deadline_at else { continue };
            if deadline > now {
                self.next_question = Some(deadline);
                break;
            }
            // A roundtable waits for as long as it takes.
            let Some(run_id) = open.stream.run() else { continue };
            let ids = self.set_aside.entry(run_id).or_default();
            if ids.insert(open.interaction_id) {
                due.push((run_id, open.interaction_id));
            }
        }
        if due.len() >= DUE_PAGE {
            self.next_question = Some(now);
        }
        Ok(due)
    }

    /// An expiry was decided. One that was not due is tried again when its run has changed.
    pub(super) fn decided(&mut self, run_id: RunId, id: InteractionId, answer: &Answer) {
        if matches!(answer, Err(Denied::Refused(Refusal::NotDue(_)))) {
            return;
        }
        if let Some(ids) = self.set_aside.get_mut(&run_id) {
            ids.remove(&id);
            if ids.is_empty() {
                self.set_aside.remove(&run_id);
            }
        }
    }

    /// A question's run is not ready for its expiry yet.
    pub(super) fn postpone(&mut self, run_id: RunId, id: InteractionId) {
        self.set_aside.entry(run_id).or_default().insert(id);
    }

    /// Everything that was set aside is looked at again.
    pub(super) fn look_again(&mut self) {
        self.set_aside.clear();
        self.next_question = Some(Timestamp::default());
    }
}

impl<T, U> Kernel<T, U> {
    pub(super) fn expire(&mut self) {
        if self.retry_at.is_some() {
            return;
        }
        match self.deadlines.due(self.store.as_ref(), self.now.wall) {
            Ok(due) => {
                for (run_id, id) in due {
                    if self.recovery.is_due(run_id) {
                        // An overdue question counts after the run was put right.
                        self.deadlines.postpone(run_id, id);
                        self.survey(run_id);
                        continue;
                    }
                    self.offer(run_id, Command::Expire(id), Ticket::Expire(run_id, id));
                }
            }
            Err(_) => self.retry_later(),
        }
    }
}
