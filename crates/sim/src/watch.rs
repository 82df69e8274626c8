//! What has to hold, whatever happens.

mod asking;
mod deadlines;
mod queue;
mod refused;
mod roundtables;

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::{
    Command, EndCause, Event, Interaction, Item, Reply, Run, RunId, RunSpec, RunStatus, Stream, Timestamp,
};
use adjourn_kernel::{Accepted, Answer, Denied, EngineSlots, Kernel, Room, Slots, StopCause};
use adjourn_store::{After, Store};

use self::asking::Asking;
use self::deadlines::{Overdue, PATIENCE_MS};
use self::queue::Queue;
use self::refused::Refused;
use self::roundtables::RoundtableWatch;
use crate::bug::Bug;
use crate::engine::Engines;
use crate::mirror::{Mirror, News};
use crate::plan::Plan;
use crate::report::{Counts, Violation, ensure};
use crate::simulation::Ticket;

/// What was seen so far, for rules that span more than a moment.
pub(crate) struct Watch {
    slots: Slots,
    bug: Option<Bug>,
    /// The latest wall time that the kernel was told since it started.
    kernel_time: Timestamp,
    /// Since when the kernel is told that the disk is below its reserve, in virtual time.
    below_reserve_since_ms: Option<i64>,
    /// Processes that were reported since the last start, and stay with their runs.
    processes: BTreeSet<RunId>,
    /// Replies that were acknowledged and not yet found in the journal.
    acknowledged: Vec<(RunId, Reply)>,
    /// Runs whose cancel was acknowledged.
    canceled: BTreeSet<RunId>,
    /// Creations that the kernel has to refuse, as its queue was then.
    to_refuse: BTreeMap<RunId, bool>,
    queue: Queue,
    asking: Asking,
    overdue: Overdue,
    refused: Refused,
    roundtables: RoundtableWatch,
}

impl Watch {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            slots: plan.slots.clone(),
            bug: plan.bug,
            kernel_time: Timestamp::default(),
            below_reserve_since_ms: None,
            processes: BTreeSet::new(),
            acknowledged: Vec::new(),
            canceled: BTreeSet::new(),
            to_refuse: BTreeMap::new(),
            queue: Queue::default(),
            asking: Asking::default(),
            overdue: Overdue::default(),
            refused: Refused::default(),
            roundtables: RoundtableWatch::default(),
        }
    }

    /// A batch was refused for certain.
    pub(crate) fn refused(&mut self, items: &[Item]) {
        self.refused.add(items);
    }

    /// A batch is written, which may be one that was refused before and asked for again.
    pub(crate) fn written_again(&mut self, items: &[Item]) {
        self.refused.remove(items);
    }

    /// After a crash nothing is there that was refused.
    pub(crate) fn refused_stays_away(&mut self, store: &dyn Store) -> Result<(), Violation> {
        self.refused.stays_away(store)
    }

    pub(crate) fn saw_time(&mut self, now: Timestamp) {
        self.kernel_time = self.kernel_time.max(now);
    }

    /// The kernel is told whether the disk has room.
    pub(crate) fn told_room(&mut self, room: Room, time_ms: i64) {
        self.below_reserve_since_ms = match room {
            Room::Enough => None,
            Room::BelowReserve(_) => self.below_reserve_since_ms.or(Some(time_ms)),
        };
    }

    /// A crash brings a commit back that nobody could tell the fate of. It may have been decided before the disk filled up.
    pub(crate) fn commit_came_back(&mut self, time_ms: i64) {
        self.below_reserve_since_ms = self.below_reserve_since_ms.map(|_| time_ms);
    }

    pub(crate) fn crashed(&mut self, mirror: &Mirror) {
        self.processes.clear();
        self.to_refuse.clear();
        self.overdue.forget();
        self.roundtables.crashed();
        self.queue.restart(mirror);
    }

    pub(crate) fn restarted(&mut self, now: Timestamp) {
        self.kernel_time = now;
    }

    /// The surroundings of a run are being looked at.
    pub(crate) fn survey_began(&mut self, run: &Run, mirror: &Mirror) {
        self.queue.surveyed(run, mirror);
    }

    pub(crate) fn commit_failed(&mut self) {
        self.overdue.forget();
        self.roundtables.forget_late();
        self.queue.disturb();
    }

    /// Everything that the state stands on would be there after a crash.
    pub(crate) fn is_durable<S: Stream>(
        &self,
        store: &dyn Store,
        state: &S,
        rule: &'static str,
    ) -> Result<(), Violation> {
        let last = After::Seq(state.seq().saturating_sub(1));
        let entries = store.read(state.id().into(), last, 1);
        let is_there = entries.is_ok_and(|entries| !entries.is_empty());
        ensure(is_there, rule, || format!("event {} of {} is not durable", state.seq(), state.id()))
    }

    /// What a commit brought.
    pub(crate) fn committed(
        &mut self,
        news: &[News],
        mirror: &Mirror,
        time_ms: i64,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        // What was decided before may take this long to become durable.
        let is_below_reserve = self.below_reserve_since_ms.is_some_and(|since| since + PATIENCE_MS < time_ms);
        for one in news {
            ensure(one.at <= self.kernel_time, "nothing happens before its time", || {
                format!("{} at {}, and it is {}", one.run_id, one.at, self.kernel_time)
            })?;
            for event in &one.events {
                match event {
                    Event::Observed(adjourn_core::Observation::Process(_)) => {
                        self.processes.insert(one.run_id);
                    }
                    Event::InteractionOpened { id, deadline_at: Some(deadline_at), .. } => {
                        let wait_ms = deadline_at.millis_since(one.at);
                        self.overdue.asked(one.run_id, *id, time_ms, wait_ms);
                    }
                    Event::InteractionExpired { id, .. } => {
                        counts.add("questions that expired");
                        self.overdue.expired(one.run_id, *id, time_ms)?;
                    }
                    Event::DeadlineMoved { by_ms, .. } if *by_ms != 0 => counts.add("deadlines that moved"),
                    Event::TurnStarted { .. } | Event::Created(_) => {
                        ensure(
                            !is_below_reserve,
                            "nothing begins while the disk is below its reserve",
                            || format!("{}: {event:?}", one.run_id),
                        )?;
                    }
                    Event::StatusChanged { trigger, .. } => counts.add(trigger.name()),
                    _ => {}
                }
            }
        }
        self.asking.committed(news, mirror, counts)?;
        self.queue.committed(news, mirror, &self.slots)
    }

    pub(crate) fn creating(&mut self, kernel: Option<&Kernel<u64>>, run_id: RunId, spec: &RunSpec) {
        self.queue.wanted(run_id, spec.priority);
        self.asking.wanted(run_id, spec);
        // While the journal does not answer nothing starts, and whether a run would wait cannot be told.
        let Some(kernel) = kernel.filter(|kernel| !kernel.is_held_up()) else {
            self.to_refuse.remove(&run_id);
            return;
        };
        let slots = kernel.slots();
        // A slot that is kept for a run that is being put right is not free.
        let has_room =
            slots.usage().total.held < self.slots.total && self.engine_has_room(kernel, &spec.engine);
        // With all others waiting for engines that have no room, one that has is not refused.
        let waits_for_room =
            |row: (&String, &EngineSlots)| row.1.waiting == 0 || !self.engine_has_room(kernel, row.0);
        let finds_a_slot = has_room && slots.usage().engine.iter().all(waits_for_room);
        let is_full = slots.in_line() >= self.slots.queue_max && !finds_a_slot;
        self.to_refuse.insert(run_id, is_full);
    }

    fn engine_has_room(&self, kernel: &Kernel<u64>, engine: &str) -> bool {
        let held = kernel.slots().usage().engine.get(engine).map_or(0, |slots| slots.held);
        self.slots.engine.get(engine).is_none_or(|most| held < *most)
    }

    pub(crate) fn create_answered(&mut self, run_id: RunId, answer: &Answer) -> Result<(), Violation> {
        let Some(is_full) = self.to_refuse.remove(&run_id) else { return Ok(()) };
        let is_refused = matches!(answer, Err(Denied::QueueFull { .. }));
        // Whoever only finds the run that was created before needs no place.
        let is_created = answer.as_ref().is_ok_and(|accepted| !accepted.events.is_empty());
        let is_kept = if is_full { !is_created } else { !is_refused };
        ensure(is_kept, "no more runs wait than may", || {
            format!("{run_id}: the queue was full: {is_full}; it was refused: {is_refused}")
        })
    }

    pub(crate) fn reply_acknowledged(&mut self, ticket: &Ticket) {
        if let Command::Reply(reply) = &ticket.command {
            self.acknowledged.push((ticket.run_id, reply.clone()));
        }
    }

    pub(crate) fn cancel_acknowledged(&mut self, accepted: &Accepted) {
        let is_end = |event: &Event| {
            matches!(
                event,
                Event::EndRequested(EndCause::Canceled(_))
                    | Event::StatusChanged { to: RunStatus::Canceled, .. }
            )
        };
        if accepted.events.iter().any(is_end) {
            self.canceled.insert(accepted.state.id());
        }
    }

    /// A turn is stopped for a reason, and not before its time.
    pub(crate) fn stop_is_due(
        &mut self,
        run_id: RunId,
        turn: u32,
        cause: StopCause,
        engines: &Engines,
        (mirror, time_ms): (&Mirror, i64),
    ) -> Result<(), Violation> {
        let run = mirror.runs.get(&run_id);
        match cause {
            StopCause::Ending => {
                let ends = run.is_some_and(|run| run.ending().is_some() || run.status().is_terminal());
                ensure(ends, "a run is stopped when its end is durable", || run_id.to_string())
            }
            StopCause::TimedOut => {
                ensure(engines.started.contains(&(run_id, turn)), "a turn times out after it began", || {
                    format!("turn {turn} of {run_id}")
                })?;
                let live = engines.turns.get(&run_id).filter(|live| live.turn == turn);
                let is_due = live.is_none_or(|live| live.stop_by_ms.is_some_and(|by| by <= time_ms));
                ensure(is_due, "a turn has the time that it may take", || {
                    format!("turn {turn} of {run_id}")
                })?;
                self.overdue.stopped(run_id, turn);
                Ok(())
            }
        }
    }

    /// What holds at every moment.
    pub(crate) fn always(&self, kernel: &Kernel<u64>, engines: &Engines) -> Result<(), Violation> {
        let slots = kernel.slots();
        // What it cannot read, it believes to be as it was decided, and begins nothing.
        if !kernel.is_held_up() {
            ensure(slots.held() <= self.slots.total, "no more slots are held than there are", || {
                format!("{} of {}", slots.held(), self.slots.total)
            })?;
            for (engine, most) in &self.slots.engine {
                let held = slots.held_by(engine);
                ensure(held <= *most, "no more slots of an engine are held than there are", || {
                    format!("{held} of {most} of {engine}")
                })?;
            }
        }
        let alive = engines.alive().count();
        ensure(alive <= self.slots.total, "no more is alive than there are slots", || {
            format!("{alive} of {}", self.slots.total)
        })
    }

    /// What holds when everything that was decided is durable.
    pub(crate) fn at_rest(
        &mut self,
        kernel: &Kernel<u64>,
        mirror: &Mirror,
        engines: &Engines,
        time_ms: i64,
    ) -> Result<(), Violation> {
        self.replies_are_kept(mirror)?;
        if kernel.is_held_up() {
            self.queue.held_up(mirror);
            return Ok(());
        }
        let mut holders: BTreeSet<_> = kernel.slots().holders().collect();
        if self.bug == Some(Bug::LeaksSlot) {
            holders.extend(mirror.runs.values().filter(|run| run.status().is_terminal()).map(Run::id));
        }
        let expected = self.slots_by_state(mirror);
        ensure(holders == expected, "slots are held by exactly those whose state says so", || {
            format!("held by {holders:?}, and should be by {expected:?}")
        })?;
        let waits = |run: &&Run| run.status() == RunStatus::Queued && !expected.contains(&run.id());
        let waiting = mirror.runs.values().filter(waits).count();
        let queued = kernel.slots().waiting();
        ensure(queued == waiting, "everyone who is queued is in the queue", || {
            format!("{queued} are in the queue, and {waiting} are queued")
        })?;
        for run in mirror.runs.values().filter(|run| run.status() == RunStatus::Running) {
            let is_started = engines.started.contains(&(run.id(), run.turn()));
            ensure(
                is_started || !kernel.is_right(run.id()),
                "a turn that began was given to its engine",
                || format!("turn {} of {}", run.turn(), run.id()),
            )?;
        }
        let has_room = self.below_reserve_since_ms.is_none();
        self.roundtables.at_rest(kernel, mirror, time_ms)?;
        self.overdue.check(has_room, time_ms, kernel, mirror, engines)
    }

    fn slots_by_state(&self, mirror: &Mirror) -> BTreeSet<RunId> {
        let holds = |run: &&Run| match run.status() {
            RunStatus::Running => true,
            // A process that a crash ended is still in the state of its run, until that is put right.
            _ => run.holds_slot() && self.processes.contains(&run.id()),
        };
        mirror.runs.values().filter(holds).map(Run::id).collect()
    }

    fn replies_are_kept(&mut self, mirror: &Mirror) -> Result<(), Violation> {
        for (run_id, reply) in self.acknowledged.drain(..) {
            let run = mirror.runs.get(&run_id);
            let kept = run
                .and_then(|run| run.interaction(reply.interaction_id))
                .is_some_and(|found| is_by(found, &reply));
            ensure(kept, "a reply that was accepted is never lost", || {
                format!("question {} of {run_id}: {reply:?}", reply.interaction_id)
            })?;
        }
        Ok(())
    }

    /// What holds when every run has ended.
    pub(crate) fn at_the_end(
        &mut self,
        kernel: &Kernel<u64>,
        mirror: &Mirror,
        store: &dyn Store,
    ) -> Result<(), Violation> {
        self.replies_are_kept(mirror)?;
        mirror.check_ends()?;
        for run_id in &self.canceled {
            let status = mirror.runs.get(run_id).map(Run::status);
            ensure(status == Some(RunStatus::Canceled), "a run that was canceled is canceled", || {
                format!("{run_id} is {status:?}")
            })?;
        }
        for run in mirror.runs.values().filter(|run| !mirror.removed.contains(&run.id())) {
            let folded = adjourn_kernel::load::<Run>(store, run.id());
            ensure(
                folded.is_ok_and(|folded| folded.as_ref() == Some(run)),
                "the state is the fold of its events",
                || run.id().to_string(),
            )?;
            let row = store.run(run.id()).ok().flatten();
            let is_right = row.is_some_and(|row| row.status == run.status() && row.seq == run.last_frame());
            ensure(is_right, "the row says what the run says", || run.id().to_string())?;
        }
        self.roundtables.at_the_end(mirror, store)?;
        let held = kernel.memory();
        ensure(held == 0, "a kernel without work remembers nothing", || format!("{held} things"))
    }
}

/// Whether a question was resolved by this reply, or by the same one sent before.
fn is_by(interaction: &Interaction, reply: &Reply) -> bool {
    interaction.resolution.as_ref().is_some_and(|resolution| {
        resolution.by == reply.by || (reply.key.is_some() && resolution.key == reply.key)
    })
}
