//! The order of the queue, seen from the journal alone.
//!
//! A run that was queued before a commit, is queued after it, and could have had the slot that another one got in that
//! commit, was passed over. Who may pass whom: a higher priority; another skill, but not twice; nobody else.

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::{Event, Run, RunId, RunStatus};
use adjourn_kernel::Slots;

use crate::mirror::{Mirror, News};
use crate::report::{Violation, ensure};

/// Who waits, since when, and who passed them.
#[derive(Default)]
pub(super) struct Queue {
    /// Counts commits, and at a restart also the runs that are found queued.
    moments: u64,
    /// When each run that waits began to.
    since: BTreeMap<RunId, u64>,
    /// Runs that a slot was kept for when their survey began, and who waited then.
    chosen: BTreeMap<RunId, BTreeSet<RunId>>,
    /// Those of them that are queued in the kernel and not in the journal yet.
    chosen_early: BTreeSet<RunId>,
    /// Runs that may stand before where they should.
    blurred: BTreeSet<RunId>,
    /// The priority that each run was asked for with, whatever its journal says.
    priorities: BTreeMap<RunId, i32>,
    /// How often each skill passed a run that waits.
    passes: BTreeMap<RunId, BTreeMap<Option<String>, u32>>,
}

impl Queue {
    /// After a restart they stand in the order of their last change.
    pub(super) fn restart(&mut self, mirror: &Mirror) {
        let mut queued: Vec<_> =
            mirror.runs.values().filter(|run| run.status() == RunStatus::Queued).collect();
        queued.sort_by_key(|run| (run.updated_at(), run.id()));
        self.since.clear();
        self.passes.clear();
        self.chosen.clear();
        self.chosen_early.clear();
        self.blurred.clear();
        for run in queued {
            self.moments += 1;
            self.since.insert(run.id(), self.moments);
        }
    }

    /// A commit failed: whose turn it is among the skills begins anew.
    pub(super) fn disturb(&mut self) {
        self.passes.clear();
    }

    /// The kernel cannot read. A run that asked for a slot in a commit that failed may keep the place that it got then.
    pub(super) fn held_up(&mut self, mirror: &Mirror) {
        self.disturb();
        self.blurred.extend(mirror.runs.values().filter(|run| !waits(run)).map(Run::id));
    }

    /// Somebody wants a run.
    pub(super) fn wanted(&mut self, run_id: RunId, priority: i32) {
        self.priorities.insert(run_id, priority);
    }

    fn priority(&self, run: &Run) -> i32 {
        self.priorities.get(&run.id()).copied().unwrap_or(run.spec().priority)
    }

    /// A run is looked at before it starts: whoever comes later does not come before it.
    pub(super) fn surveyed(&mut self, run: &Run, mirror: &Mirror) {
        self.chosen.insert(run.id(), self.since.keys().copied().collect());
        let is_queued = |run: &Run| run.status() == RunStatus::Queued;
        if is_queued(run) && !mirror.runs.get(&run.id()).is_some_and(is_queued) {
            self.chosen_early.insert(run.id());
        }
    }

    pub(super) fn committed(
        &mut self,
        news: &[News],
        mirror: &Mirror,
        slots: &Slots,
    ) -> Result<(), Violation> {
        self.moments += 1;
        let before = self.since.clone();
        let still: Vec<_> = before
            .iter()
            // A slot is kept for those already.
            .filter(|(run_id, _)| !self.chosen.contains_key(run_id))
            .filter_map(|(run_id, since)| Some((mirror.runs.get(run_id)?, *since)))
            .filter(|(run, _)| waits(run))
            .collect();
        for one in news {
            let Some(run) = mirror.runs.get(&one.run_id) else { continue };
            let started = one.events.iter().any(|event| matches!(event, Event::TurnStarted { .. }));
            // A sticky run whose process stayed goes on without having waited.
            if started && !one.kept_its_slot {
                let since = before.get(&one.run_id).copied().unwrap_or(self.moments);
                self.check(run, since, &still, slots)?;
                self.blurred.remove(&one.run_id);
            }
            if waits(run) {
                self.chosen_early.remove(&run.id());
                // One whose process stayed begins to wait when it loses it.
                let waited = before.contains_key(&run.id());
                let joined = one.before != Some(RunStatus::Queued) || started || !waited;
                if joined {
                    self.since.insert(run.id(), self.moments);
                }
            } else {
                self.since.remove(&run.id());
                if !self.chosen_early.contains(&run.id()) {
                    self.chosen.remove(&run.id());
                }
                // When it comes again, it comes after them.
                for then in self.chosen.values_mut() {
                    then.remove(&run.id());
                }
                self.passes.remove(&run.id());
            }
        }
        Ok(())
    }

    /// `run` got a slot while all of `still` went on waiting.
    fn check(
        &mut self,
        run: &Run,
        since: u64,
        still: &[(&Run, u64)],
        slots: &Slots,
    ) -> Result<(), Violation> {
        for (other, other_since) in still {
            let (mine, theirs) = (run.spec(), other.spec());
            let (my_priority, their_priority) = (self.priority(run), self.priority(other));
            if (my_priority, &mine.skill) == (their_priority, &theirs.skill) {
                self.passes.remove(&other.id());
            }
            let engine = &theirs.engine;
            let could_have_it = *engine == run.spec().engine || !slots.engine.contains_key(engine);
            let came_later = self.chosen.get(&run.id()).is_some_and(|then| !then.contains(&other.id()));
            if other.id() == run.id() || !could_have_it || came_later {
                continue;
            }
            let found = || format!("{} started while {} waited", run.id(), other.id());
            ensure(my_priority >= their_priority, "a higher priority goes first", found)?;
            if my_priority > their_priority {
                continue;
            }
            if mine.skill == theirs.skill {
                let is_first = since <= *other_since || self.blurred.contains(&run.id());
                ensure(is_first, "who waits longest goes first", found)?;
                continue;
            }
            if self.chosen.contains_key(&run.id()) {
                // It was its turn when its survey began, and surveys take their time.
                self.passes.clear();
                continue;
            }
            let passes = self.passes.entry(other.id()).or_default().entry(mine.skill.clone()).or_default();
            *passes += 1;
            ensure(*passes < 2, "no skill is served twice while another one waits", found)?;
        }
        Ok(())
    }
}

/// Waits for a slot, and has no process that holds one.
fn waits(run: &Run) -> bool {
    run.status() == RunStatus::Queued && run.process().is_none() && run.ending().is_none()
}
