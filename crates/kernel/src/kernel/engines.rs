//! Runs whose engine is not there: passed over by the scheduler, and looked for again until it is.
//!
//! Nothing of this is journaled. A run stays `queued`, and whether its engine is there is found out by a look at its
//! surroundings, as after a restart. That takes place elsewhere, and only for engines that a run missed before: all others cost
//! nothing.

use std::collections::{BTreeSet, HashSet};

use adjourn_core::{Run, RunId, RunStatus, Survey};
use adjourn_store::Error;

use super::{Effect, Kernel};
use crate::clock::Steady;

/// How long a blocked run waits for the next look. A person who installed an agent sees the run go on at once, and a look is
/// a few system calls.
const LOOK_EVERY_SEC: u32 = 2;

/// Runs that are looked at at once. One that finds its engine frees all others of that engine.
const LOOK_AT_ONCE_MAX: usize = 64;

/// What is known about engines that are not there.
#[derive(Default)]
pub(super) struct MissingEngines {
    /// Engines that a run missed. Before each turn of theirs it is looked whether they are there.
    missed: BTreeSet<String>,
    /// Runs whose engine is being looked for.
    looking: BTreeSet<RunId>,
    /// Runs whose engine was just found, and which have their slot.
    found: HashSet<RunId>,
    /// When blocked runs are looked at again, while there are some.
    look_at: Option<Steady>,
    /// The last blocked run that was looked at.
    last: Option<RunId>,
}

impl MissingEngines {
    /// How much is remembered about runs.
    pub(super) fn len(&self) -> usize {
        self.looking.len() + self.found.len()
    }

    /// Takes note of a run as it is decided to be.
    pub(super) fn observe(&mut self, run: &Run) {
        if run.status() != RunStatus::Queued {
            self.found.remove(&run.id());
        }
    }

    /// Ends the look for the engine of a run; whether there was one. What is found counts once.
    pub(super) fn end_look(&mut self, run_id: RunId) -> bool {
        self.looking.remove(&run_id)
    }

    /// When blocked runs are looked at again.
    pub(super) fn look_at(&self) -> Option<Steady> {
        self.look_at
    }
}

impl<T, U> Kernel<T, U> {
    /// Says that an engine is missing: its runs are not started before it is found.
    pub fn miss_engine(&mut self, engine: &str) {
        self.engines.missed.insert(engine.to_owned());
    }

    /// Whether the engine of the run that is next has to be looked for before its turn; then that begins, and its slot is kept.
    pub(super) fn looks_for_engine(&mut self, run_id: RunId) -> bool {
        if self.engines.found.remove(&run_id) {
            return false;
        }
        let engine = self.scheduler.engine_of_queued(run_id);
        if !engine.is_some_and(|engine| self.engines.missed.contains(engine)) || self.is_new(run_id) {
            return false;
        }
        self.scheduler.reserve(run_id);
        self.look_for_engine(run_id);
        true
    }

    /// Whether a run was created since the start and has had no turn: whoever asks for one on an engine that is not there is
    /// told so by its failure.
    fn is_new(&mut self, run_id: RunId) -> bool {
        !self.recovery.is_old(run_id)
            && matches!(self.decider.state(run_id), Ok(Some(run)) if run.turn() == 0)
    }

    fn look_for_engine(&mut self, run_id: RunId) {
        if self.engines.looking.contains(&run_id) {
            return;
        }
        match self.decider.state(run_id) {
            Ok(Some(run)) => {
                self.engines.looking.insert(run_id);
                self.effects.push(Effect::Survey(run));
            }
            Ok(None) => self.scheduler.forget(run_id),
            Err(Error::Damaged { .. }) => self.set_aside(run_id),
            Err(_) => {
                self.unread.insert(run_id);
                self.retry_later();
            }
        }
    }

    /// Takes note of whether the engine of a run is there.
    pub(super) fn looked_for_engine(&mut self, run_id: RunId, survey: Survey) {
        if !survey.engine {
            self.block(run_id);
            return;
        }
        if self.scheduler.is_blocked(run_id) {
            if let Some(engine) = self.scheduler.engine_of_queued(run_id).map(str::to_owned) {
                self.scheduler.unblock(&engine);
            }
        } else if self.scheduler.is_reserved(run_id) {
            self.engines.found.insert(run_id);
            self.look_up(run_id);
        }
    }

    /// Takes note that the engine of a run was just found, which has its slot: nothing has to look for it once more.
    pub(super) fn found_engine(&mut self, run_id: RunId) {
        if self.scheduler.is_reserved(run_id) {
            self.engines.found.insert(run_id);
        }
    }

    /// Passes a run over whose engine is not there.
    pub(super) fn block(&mut self, run_id: RunId) {
        let Ok(Some(run)) = self.decider.state(run_id) else { return };
        self.engines.missed.insert(run.spec().engine.clone());
        self.scheduler.block(run_id);
        if self.scheduler.has_blocked() {
            let next = self.now.steady.plus_seconds(LOOK_EVERY_SEC);
            self.engines.look_at.get_or_insert(next);
        }
    }

    /// Looks for the engines of blocked runs once it is time.
    pub(super) fn look_for_engines(&mut self) {
        if self.retry_at.is_some() || self.engines.look_at.is_none_or(|at| at > self.now.steady) {
            return;
        }
        self.engines.look_at = None;
        if !self.scheduler.has_blocked() {
            return;
        }
        self.engines.look_at = Some(self.now.steady.plus_seconds(LOOK_EVERY_SEC));
        let blocked = self.scheduler.blocked_after(self.engines.last, LOOK_AT_ONCE_MAX);
        self.engines.last = blocked.last().copied();
        for run_id in blocked {
            self.look_for_engine(run_id);
        }
    }
}
