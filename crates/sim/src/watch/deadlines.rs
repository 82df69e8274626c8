//! Deadlines fire, and nobody waits for a slot that is free.

use std::collections::BTreeMap;

use adjourn_core::{InteractionId, Run, RunId, RunStatus, Strict, Subject};
use adjourn_kernel::Kernel;

use crate::engine::Engines;
use crate::mirror::Mirror;
use crate::report::{Violation, ensure};

/// How long after its moment something may happen: a slow disk takes three seconds per commit, and two commits can be
/// in the way.
pub(super) const PATIENCE_MS: i64 = 10_000;

/// How far a deadline may be off after the clock was set by so little that it does not follow: twice, before and after it
/// was last looked at.
const CLOCK_TOLERANCE_MS: i64 = 4000;

/// What should have happened by now, and since when.
#[derive(Default)]
pub(super) struct Overdue {
    since: BTreeMap<Late, i64>,
    /// When each question was asked, as far as it can be told from its commit, and how long it waits for an answer.
    asked: BTreeMap<(RunId, InteractionId), Asked>,
    stopped: BTreeMap<RunId, u32>,
}

struct Asked {
    at_ms: i64,
    wait_ms: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Late {
    /// A question should have expired.
    Question(RunId, InteractionId),
    /// A turn should have been stopped.
    Turn(RunId, u32),
    /// A run should have started.
    Start(RunId),
}

impl Overdue {
    /// Something went wrong: whatever is late has its reason.
    pub(super) fn forget(&mut self) {
        self.since.clear();
    }

    /// A turn was told to stop.
    pub(super) fn stopped(&mut self, run_id: RunId, turn: u32) {
        self.stopped.insert(run_id, turn);
    }

    /// A question with a deadline became durable.
    pub(super) fn asked(&mut self, run_id: RunId, id: InteractionId, at_ms: i64, wait_ms: i64) {
        self.asked.insert((run_id, id), Asked { at_ms, wait_ms });
    }

    /// A question expired: not before its time, whatever the wall clock says.
    pub(super) fn expired(
        &mut self,
        run_id: RunId,
        id: InteractionId,
        time_ms: i64,
    ) -> Result<(), Violation> {
        let Some(Asked { at_ms, wait_ms }) = self.asked.remove(&(run_id, id)) else { return Ok(()) };
        let earliest = at_ms + wait_ms - PATIENCE_MS - CLOCK_TOLERANCE_MS;
        ensure(time_ms >= earliest, "a question waits as long as it was meant to", || {
            format!("question {id} of {run_id} expired after {} ms of {wait_ms}", time_ms - at_ms)
        })
    }

    pub(super) fn check(
        &mut self,
        has_room: bool,
        time_ms: i64,
        kernel: &Kernel<u64>,
        mirror: &Mirror,
        engines: &Engines,
    ) -> Result<(), Violation> {
        let mut late = Vec::new();
        for run in mirror.runs.values().filter(|run| kernel.is_right(run.id())) {
            late.extend(self.questions(run, time_ms).map(|id| Late::Question(run.id(), id)));
            if has_room && run.status() == RunStatus::Queued && could_start(run, kernel) {
                late.push(Late::Start(run.id()));
            }
        }
        for (run_id, live) in &engines.turns {
            let is_over = live.has_ended || self.stopped.get(run_id) == Some(&live.turn);
            if !is_over && live.stop_by_ms.is_some_and(|by| by <= time_ms) {
                late.push(Late::Turn(*run_id, live.turn));
            }
        }
        self.since.retain(|one, _| late.contains(one));
        for one in late {
            let since = *self.since.entry(one).or_insert(time_ms);
            ensure(time_ms - since < PATIENCE_MS, "what is due happens", || {
                format!("{one:?} is late by {} ms", time_ms - since)
            })?;
        }
        Ok(())
    }

    /// The questions that should have expired.
    fn questions(&self, run: &Run, time_ms: i64) -> impl Iterator<Item = InteractionId> {
        let can_expire = move |subject: Subject| {
            let has_own_timeout = subject.execution_id().and_then(|id| run.own_timeout(id)).is_some();
            let ends_the_wait =
                subject.is_agents_own() && !has_own_timeout && run.spec().strict == Strict::On;
            run.ending().is_none() && (!ends_the_wait || run.status() == RunStatus::WaitingUser)
        };
        let is_over = move |id: InteractionId| {
            let asked = self.asked.get(&(run.id(), id));
            asked.is_some_and(|asked| asked.at_ms + asked.wait_ms + CLOCK_TOLERANCE_MS <= time_ms)
        };
        run.open_interactions()
            .filter(move |open| open.deadline_at.is_some() && can_expire(open.subject))
            .map(|open| open.interaction_id)
            .filter(move |id| is_over(*id))
    }
}

fn could_start(run: &Run, kernel: &Kernel<u64>) -> bool {
    let slots = kernel.slots();
    let limits = slots.limits();
    let engine = &run.spec().engine;
    let has_room = limits.engine.get(engine).is_none_or(|most| slots.held_by(engine) < *most);
    let is_passed_over = slots.is_blocked(run.id());
    run.ending().is_none() && slots.held() < limits.total && has_room && !is_passed_over
}
