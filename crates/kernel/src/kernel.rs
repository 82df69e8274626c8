//! The kernel: everything that decides when something happens, without doing any of it.
//!
//! It sits on the decider and adds what a journal does not know: who gets a slot, which deadline has come, what a
//! restart left behind. It is a step function like the decider. Whoever drives it hands in requests, the time and the
//! outcome of commits, and takes out batches, answers and effects. **An effect comes out only after the fact that
//! announces it is durable.** In production a thread drives it and tasks carry the effects out; the simulator drives
//! the same code on virtual time.

mod answers;
mod clock_steps;
mod deadlines;
mod effect;
mod engines;
mod recovery;
mod recovery_steps;
mod roundtables;
mod scheduler;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::roundtable::Roundtable;
use adjourn_core::{Command, Item, RoundtableId, Run, RunId, Survey, Wanted};
use adjourn_store::{Error, Outcome, Store};

use self::clock_steps::ClockSteps;
use self::deadlines::Deadlines;
pub use self::effect::{Effect, NotCreated, Preparation, StopCause};
use self::engines::MissingEngines;
use self::recovery::Recovery;
use self::roundtables::{RoundtableTicket, Roundtables};
use self::scheduler::Arrival;
pub use self::scheduler::{EngineSlots, Scheduler, SlotUse, Slots};
use crate::clock::{Now, Steady};
use crate::decider::{Decider, News, Request};
use crate::denied::{Answer, Denied};
use crate::room::{DiskSpace, Room};

/// States of runs that are kept in memory although they could be loaded: a few kilobytes each.
const WARM_MAX: usize = 2048;

/// States of roundtables that are kept in memory although they could be loaded: some tens of kilobytes each.
const WARM_ROUNDTABLES_MAX: usize = 64;

/// How long the kernel waits after its own command could not be committed.
///
/// A full disk does not get emptier by being asked a thousand times a second.
const RETRY_AFTER_SEC: u32 = 1;

/// Whose command it was.
enum Ticket<T> {
    /// Somebody asked and gets the answer.
    Asked(T),
    /// The kernel wanted a deadline to count.
    Expire(RunId, adjourn_core::InteractionId),
    /// The kernel wanted the deadlines of a run to follow the wall clock.
    MoveDeadlines,
    /// The kernel wanted a turn to start.
    Start(RunId),
    /// The kernel wanted a run to be put right, and this was found of its surroundings.
    Recover(RunId, Survey),
    /// The kernel wanted a run to end whose journal cannot be read.
    SetAside(RunId),
    /// The kernel wanted a run canceled whose roundtable is closed.
    CancelAbandoned(RoundtableId),
}

/// Whether turns begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begins {
    Turns,
    Nothing,
}

/// Decides when something happens.
pub struct Kernel<T, U = T> {
    store: Arc<dyn Store>,
    decider: Decider<Ticket<T>>,
    roundtable_decider: Decider<RoundtableTicket<U>, Roundtable>,
    /// How many items of the batch that is being committed are of runs. The others are of roundtables.
    runs_in_flight: Option<usize>,
    scheduler: Scheduler,
    deadlines: Deadlines,
    clock_steps: ClockSteps,
    recovery: Recovery<T>,
    engines: MissingEngines,
    roundtables: Roundtables,
    /// What the clocks said when the kernel was last told. Wall time may go back, and facts are dated by it as it is;
    /// durations are measured in steady time.
    now: Now,
    /// When the kernel tries again after the journal did not answer. Until then it begins nothing.
    retry_at: Option<Steady>,
    /// Whether the disk has room. Below its reserve no turn begins and no run is created.
    room: Room,
    /// Whether turns begin. Not any more once somebody wants to stop.
    begins: Begins,
    /// Runs that could not be read when they had to be.
    unread: BTreeSet<RunId>,
    answers: Vec<(T, Answer)>,
    roundtable_answers: Vec<(U, Answer<Roundtable>)>,
    effects: Vec<Effect>,
}

impl<T, U> Kernel<T, U> {
    /// A kernel over what `store` holds. Nothing is recovered yet; that goes on while the kernel works.
    pub fn new(store: Arc<dyn Store>, slots: Slots, now: Now) -> Result<Self, Error> {
        Self::with_warm_max(store, slots, now, WARM_MAX)
    }

    /// A kernel that keeps up to `warm_max` states of runs in memory: with few of them, states are loaded all the time.
    pub fn with_warm_max(
        store: Arc<dyn Store>,
        slots: Slots,
        now: Now,
        warm_max: usize,
    ) -> Result<Self, Error> {
        let mut scheduler = Scheduler::new(slots);
        let recovery = Recovery::begin(store.as_ref(), &mut scheduler)?;
        let deadlines = Deadlines::begin(store.as_ref())?;
        Ok(Self {
            decider: Decider::new(store.clone(), warm_max),
            roundtable_decider: Decider::new(store.clone(), warm_max.min(WARM_ROUNDTABLES_MAX)),
            runs_in_flight: None,
            store,
            scheduler,
            deadlines,
            clock_steps: ClockSteps::new(now.boot()),
            recovery,
            engines: MissingEngines::default(),
            roundtables: Roundtables::begin(),
            now,
            retry_at: None,
            room: Room::Enough,
            begins: Begins::Turns,
            unread: BTreeSet::new(),
            answers: Vec::new(),
            roundtable_answers: Vec::new(),
            effects: Vec::new(),
        })
    }

    /// Says what somebody is to be told of from now on.
    pub fn want(&mut self, wanted: Wanted) {
        self.decider.want(wanted);
        self.roundtable_decider.want(wanted);
    }

    /// Says what the clocks say. Everything that is decided from now on is dated by this.
    pub fn look(&mut self, now: Now) {
        self.now = now;
        self.clock_steps.look(now.boot());
    }

    /// Says whether the disk has room.
    pub fn set_room(&mut self, room: Room) {
        self.room = room;
        self.queue_has_room();
        self.plan();
    }

    /// Takes a request. Its answer comes when it is durable.
    pub fn ask(&mut self, run_id: RunId, command: Command, ticket: T) {
        if let Command::Create(create) = &command
            && let Err(denied) = self.admit(&create.spec.engine)
            && !self.creates_nothing(&command)
        {
            self.answers.push((ticket, Err(denied)));
            return;
        }
        if self.recovery.is_due(run_id) {
            self.recover_first(run_id, command, ticket);
            return;
        }
        if self.is_unreadable(run_id) {
            self.set_aside(run_id);
        }
        self.offer(run_id, command, Ticket::Asked(ticket));
        self.plan();
    }

    /// Whether one more run on `engine` may be created.
    fn admit(&self, engine: &str) -> Result<(), Denied> {
        match self.room {
            Room::Enough => self.scheduler.admit(engine),
            Room::BelowReserve(DiskSpace { free_bytes, reserve_bytes }) => {
                Err(Denied::DiskReserve { free_bytes, reserve_bytes })
            }
        }
    }

    /// Whether a request to create a run only finds the one that it created before, or is refused anyway: then it needs
    /// no place in the queue.
    fn creates_nothing(&self, create: &Command) -> bool {
        let mut wanted = Run::wants(None, create).into_iter();
        wanted.any(|key| matches!(self.store.holder(&key), Ok(Some(_))))
    }

    /// Says what time it is: deadlines that have come count now.
    pub fn tick(&mut self, now: Now) {
        self.look(now);
        if self.retry_at.is_some_and(|at| at <= now.steady) {
            self.retry_at = None;
            self.deadlines.look_again();
            self.try_again();
        }
        for (run_id, turn) in self.deadlines.overdue_turns(now.steady) {
            self.effects.push(Effect::StopTurn { run_id, turn, cause: StopCause::TimedOut });
        }
        self.move_deadlines();
        self.expire();
        self.sweep();
        self.tick_roundtables();
        self.look_for_engines();
        self.plan();
    }

    /// How long from `now` until the next [`tick`](Self::tick) is needed, if nothing else happens before: nothing where it is
    /// needed at once.
    pub fn next_tick(&self, now: &Now) -> Option<Duration> {
        let begins = match self.retry_at {
            Some(at) => Some(now.until_steady(at)),
            None => {
                let is_at_work = self.recovery.is_sweeping()
                    || self.roundtables.is_sweeping()
                    || self.has_deadlines_to_move();
                let at_once = is_at_work.then_some(Duration::ZERO);
                let question = self.deadlines.next_question().map(|at| now.until_wall(at));
                let engines = self.engines.look_at().map(|at| now.until_steady(at));
                let roundtables = self.roundtables.look_at().map(|at| now.until_steady(at));
                question.into_iter().chain(at_once).chain(engines).chain(roundtables).min()
            }
        };
        let turn = self.deadlines.next_turn().map(|at| now.until_steady(at));
        turn.into_iter().chain(begins).min()
    }

    /// Says what was found of a run's surroundings, as [`Effect::Survey`] asked. Counts once.
    pub fn surveyed(&mut self, run_id: RunId, survey: Survey) {
        // A look for its engine serves a run as well whose recovery did not become durable meanwhile.
        let was_looked_for = self.engines.end_look(run_id);
        if self.recovery.is_surveying(run_id) {
            self.recover(run_id, survey);
        } else if was_looked_for {
            self.looked_for_engine(run_id, survey);
        }
        self.plan();
    }

    /// Begins no turn any more. Those that are going on go on, and whatever else is asked is decided: a run that is
    /// answered now waits, durably, for whoever opens the journal next.
    pub fn drain(&mut self) {
        self.begins = Begins::Nothing;
    }

    /// The items to commit now, if there are any and none are being committed.
    pub fn submit(&mut self) -> Option<Arc<[Item]>> {
        while self.runs_in_flight.is_none() && self.open_len() > 0 {
            let (runs, roundtables) = (self.decider.submit(), self.roundtable_decider.submit());
            self.runs_in_flight = match (&runs, &roundtables) {
                (None, None) => None,
                (runs, _) => Some(runs.as_ref().map_or(0, |runs| runs.len())),
            };
            // Answers that stood on durable states can be told now, and may lead to more.
            self.collect();
            self.plan();
            match (runs, roundtables) {
                (Some(runs), Some(roundtables)) => {
                    return Some(runs.iter().chain(&*roundtables).cloned().collect());
                }
                (Some(items), None) | (None, Some(items)) => return Some(items),
                (None, None) => {}
            }
        }
        None
    }

    /// Takes the outcome of the batch that was submitted.
    pub fn settle(&mut self, outcome: Result<Vec<Outcome>, Error>) {
        let Some(runs) = self.runs_in_flight.take() else { return };
        if outcome.is_err() && runs > 0 {
            // The slots that these runs were given may not be free after all.
            self.scheduler.take_back();
            self.decider.retract(|ticket| matches!(ticket, Ticket::Start(_)));
        }
        let (of_runs, of_roundtables) = match outcome {
            Ok(mut outcomes) => {
                let of_roundtables = outcomes.split_off(runs);
                (Ok(outcomes), Ok(of_roundtables))
            }
            Err(error) => (Err(error.clone()), Err(error)),
        };
        self.decider.settle(of_runs);
        self.roundtable_decider.settle(of_roundtables);
        self.collect();
        self.plan();
    }

    /// Decisions that wait to be committed.
    pub fn open_len(&self) -> usize {
        self.decider.open_len() + self.roundtable_decider.open_len()
    }

    /// Whether a batch is being committed.
    pub fn is_committing(&self) -> bool {
        self.runs_in_flight.is_some()
    }

    /// Answers that may be told now.
    pub fn take_answers(&mut self) -> Vec<(T, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// What has to be done now. The facts that announce it are durable.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// How the slots are used.
    pub fn slots(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Whether a run is right: what a restart left of it was looked at, or there was no restart since its creation.
    pub fn is_right(&self, run_id: RunId) -> bool {
        !self.recovery.is_due(run_id)
    }

    /// Whether the journal did not answer, so that nothing begins until it does.
    pub fn is_held_up(&self) -> bool {
        self.retry_at.is_some()
    }

    /// How many things are remembered about runs, besides states that could be forgotten. With every run at its end,
    /// none.
    pub fn memory(&self) -> usize {
        self.scheduler.len()
            + self.deadlines.len()
            + self.clock_steps.len()
            + self.recovery.len()
            + self.engines.len()
            + self.unread.len()
            + self.roundtables.len()
            + self.decider.undurable_len()
            + self.roundtable_decider.undurable_len()
    }

    /// Takes note of what changed and has everything begin that can, until nothing changes any more.
    fn plan(&mut self) {
        loop {
            self.absorb_roundtables();
            self.give_out_slots();
            if !self.decider.has_news() && !self.roundtable_decider.has_news() {
                return;
            }
        }
    }

    /// Gives out the slots that are free, after taking note of what changed.
    fn give_out_slots(&mut self) {
        self.absorb();
        while self.retry_at.is_none()
            && self.begins == Begins::Turns
            && self.room == Room::Enough
            && let Some(run_id) = self.scheduler.next()
        {
            if self.recovery.is_due(run_id) {
                self.scheduler.reserve(run_id);
                self.survey(run_id);
                continue;
            }
            if self.looks_for_engine(run_id) {
                continue;
            }
            self.offer(run_id, Command::StartTurn, Ticket::Start(run_id));
            self.absorb();
            // If the run could not be read, nobody behind it gets its slot.
            self.collect();
        }
        self.collect();
    }

    /// Has a command decided. It is dated by the clock that the kernel looked at last and not by the one of whoever asks, so
    /// that a deadline and the boot that it is kept with come from one look.
    fn offer(&mut self, run_id: RunId, command: Command, ticket: Ticket<T>) {
        let (at, boot) = (self.now.wall, Some(self.now.boot()));
        self.decider.offer(Request { id: run_id, command, at, boot, ticket });
    }

    fn absorb(&mut self) {
        for news in self.decider.take_news() {
            match news {
                News::Changed(run) => self.note(&run, Arrival::New),
                News::Forgotten(run_id) => self.look_up(run_id),
            }
        }
    }

    /// Takes note of a run as its journal has it. Where that cannot be read, everything stays as it was believed to be
    /// and nothing begins, until it can.
    fn look_up(&mut self, run_id: RunId) {
        match self.decider.state(run_id) {
            Ok(Some(run)) => self.note(&run, Arrival::Again),
            Ok(None) => self.scheduler.forget(run_id),
            Err(Error::Damaged { .. }) => self.set_aside(run_id),
            Err(_) => {
                self.unread.insert(run_id);
                self.retry_later();
            }
        }
    }

    fn retry_later(&mut self) {
        // Whoever comes meanwhile may come first.
        self.scheduler.take_back();
        self.retry_at = Some(self.now.steady.plus_seconds(RETRY_AFTER_SEC));
    }

    fn note(&mut self, run: &Run, arrival: Arrival) {
        self.recovery.is_right(run.id());
        self.scheduler.observe(run, arrival);
        self.engines.observe(run);
        self.deadlines.observe(run);
    }
}
