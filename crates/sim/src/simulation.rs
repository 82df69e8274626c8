//! The simulator: the shell around the kernel, on virtual time.
//!
//! Everything that happens is a [`Todo`] at a moment of virtual time. After each one the kernel is driven until it
//! rests, exactly as its thread does it, and between any two things that a crash can come between there is a
//! [boundary](Simulation::boundary).

mod commit;
mod crash;
mod finish;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adjourn_core::{Command, Process, RunId, Survey, Timestamp};
use adjourn_runtime::{Answer, Effect, Kernel, StopCause};
use adjourn_store::conformance::Random;
use adjourn_store::{Error, Request};

use self::commit::Committing;
use crate::bug::Bug;
use crate::client::{Clients, Reaction};
use crate::disk::{Disk, HastyDisk, MemoryDisk, SqliteDisk};
use crate::engine::Engines;
use crate::mirror::Mirror;
use crate::plan::{Medium, Plan};
use crate::report::{Counts, Step, Stop, Violation, ensure};
use crate::watch::Watch;

/// When every simulation begins: 2026-01-01.
const EPOCH_MILLIS: i64 = 1_767_225_600_000;

/// Ticks in a row, at one moment, after which the kernel is taken never to rest: a page of deadlines or of a sweep is
/// one tick, and no seed has twenty of them.
const TICKS_MAX: u32 = 200;

/// Something that happens at a moment of virtual time.
#[derive(Debug, Clone)]
pub(crate) enum Todo {
    /// Somebody wants the run of this plan.
    Create(usize),
    /// A person does something.
    React(Reaction),
    /// Faults stop.
    Calm,
    /// Whoever waits is answered, and whatever hangs is canceled.
    Tidy,
    /// The kernel wanted to be woken.
    Wake,
    /// The process comes up again.
    Restart,
    /// Something inside of the process that a crash ends.
    Inside(Inside),
}

/// What a crash forgets.
#[derive(Debug, Clone)]
pub(crate) enum Inside {
    /// The batch is written.
    Written,
    /// The batch is synced, or not.
    Synced,
    /// The turn goes on with its next act.
    Turn(RunId, u32),
    /// The turn is stopped.
    StopTurn(RunId, u32, StopCause),
    /// The process that stays dies by itself.
    ProcessDies(RunId, Process),
    /// A call has its effect, if it has one.
    CallLands(RunId, u32, adjourn_core::ExecutionId),
    /// The surroundings of a run were looked at.
    Surveyed(RunId, Survey),
    /// A request that failed is sent again.
    Again(Box<Ticket>),
}

/// Who asked what.
#[derive(Debug, Clone)]
pub(crate) struct Ticket {
    pub(crate) run_id: RunId,
    pub(crate) command: Command,
    pub(crate) from: From,
}

/// Who gets an answer.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// Whoever wants the run of this plan.
    Creator(usize),
    /// A person, who did this.
    Person(Box<Reaction>),
    /// The driver of this turn.
    Turn(u32),
    /// Whoever watches the process that stays.
    Process,
}

/// A simulation that goes on.
pub(crate) struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) random: Random,
    /// Virtual time since the beginning. Never goes back.
    pub(crate) time_ms: i64,
    /// How far the clock that the kernel sees is ahead of it.
    pub(crate) clock_ahead_ms: i64,
    agenda: BTreeMap<(i64, u64), Todo>,
    numbers: u64,
    wakes_at_ms: Option<i64>,
    disk: Box<dyn Disk>,
    /// Shared with the store that the kernel is given.
    failing_reads: Arc<AtomicU32>,
    /// None while everything is down.
    pub(crate) kernel: Option<Kernel<u64>>,
    committing: Option<Committing>,
    outstanding: BTreeMap<u64, Ticket>,
    pub(crate) engines: Engines,
    pub(crate) clients: Clients,
    pub(crate) mirror: Mirror,
    pub(crate) watch: Watch,
    pub(crate) counts: Counts,
    pub(crate) is_calm: bool,
    /// Places at which a crash could have come so far.
    boundaries: u64,
    pub(crate) steps: u64,
    /// None where nobody reads it: writing it down costs more than the simulation.
    log: Option<Vec<String>>,
}

impl Simulation {
    pub(crate) fn new(plan: Plan, is_logged: bool) -> anyhow::Result<Self> {
        let disk: Box<dyn Disk> = match (plan.medium, plan.bug) {
            (Medium::Memory, Some(Bug::AcknowledgesEarly)) => Box::new(HastyDisk::default()),
            (Medium::Memory, _) => Box::new(MemoryDisk::default()),
            (Medium::Sqlite, _) => Box::new(SqliteDisk::new()?),
        };
        let mut simulation = Self {
            random: Random::new(plan.seed),
            time_ms: 0,
            clock_ahead_ms: 0,
            agenda: BTreeMap::new(),
            numbers: 0,
            wakes_at_ms: None,
            disk,
            failing_reads: Arc::default(),
            kernel: None,
            committing: None,
            outstanding: BTreeMap::new(),
            engines: Engines::default(),
            clients: Clients::default(),
            mirror: Mirror::default(),
            watch: Watch::new(&plan),
            counts: Counts::default(),
            is_calm: false,
            boundaries: 0,
            steps: 0,
            log: is_logged.then(Vec::new),
            plan,
        };
        simulation.later(0, Todo::Restart);
        for index in 0..simulation.plan.runs.len() {
            let run = &simulation.plan.runs[index];
            for _ in 0..run.asks {
                simulation.later(simulation.plan.runs[index].at_ms, Todo::Create(index));
            }
        }
        simulation.later(simulation.plan.calm_at_ms, Todo::Calm);
        Ok(simulation)
    }

    /// Runs to the end, or to the first thing that is broken.
    pub(crate) fn run(&mut self) -> Result<(), Violation> {
        while let Some(((at, _), todo)) = self.agenda.pop_first() {
            self.steps += 1;
            self.time_ms = self.time_ms.max(at);
            self.log(|| format!("{todo:?}"));
            if matches!(todo, Todo::Tidy) && self.is_finished() {
                return self.finish();
            }
            self.disturb();
            let step = self.take(todo).and_then(|()| self.pump());
            match step {
                Ok(()) => {}
                Err(Stop::Crash(unsynced)) => self.crash(unsynced)?,
                Err(Stop::Broken(violation)) => return Err(violation),
            }
        }
        Err(Violation::new("a simulation comes to its end", "nothing is left to do"))
    }

    fn take(&mut self, todo: Todo) -> Step {
        match todo {
            Todo::Restart => self.restart(),
            Todo::Wake => {
                self.wakes_at_ms = None;
                Ok(())
            }
            Todo::Calm => {
                self.calm();
                Ok(())
            }
            Todo::Tidy => self.tidy(),
            Todo::Inside(inside) => self.take_inside(inside),
            // Whoever finds nobody there tries again.
            Todo::Create(_) | Todo::React(_) if self.kernel.is_none() => {
                self.later(700, todo);
                Ok(())
            }
            Todo::Create(index) => self.create(index),
            Todo::React(reaction) => self.react(reaction),
        }
    }

    fn take_inside(&mut self, inside: Inside) -> Step {
        match inside {
            Inside::Written => self.written(),
            Inside::Synced => self.synced(),
            Inside::Turn(run_id, turn) => self.go_on(run_id, turn),
            Inside::StopTurn(run_id, turn, cause) => self.stop_turn(run_id, turn, cause),
            Inside::ProcessDies(run_id, process) => self.process_dies(run_id, process),
            Inside::CallLands(run_id, turn, id) => self.call_lands(run_id, turn, id),
            Inside::Surveyed(run_id, survey) => {
                if let Some(kernel) = &mut self.kernel {
                    kernel.surveyed(run_id, survey);
                }
                Ok(())
            }
            Inside::Again(ticket) => {
                self.ask_again(*ticket);
                Ok(())
            }
        }
    }

    /// Drives the kernel until it rests.
    fn pump(&mut self) -> Step {
        for _ in 0..TICKS_MAX {
            self.submit()?;
            self.tell()?;
            let now = self.now();
            let Some(kernel) = &mut self.kernel else { return Ok(()) };
            match kernel.next_tick() {
                Some(at) if at <= now && self.plan.bug != Some(Bug::LosesTimers) => {
                    let is_early = self.plan.bug == Some(Bug::FiresEarly);
                    kernel.tick(if is_early { now.plus_seconds(20) } else { now });
                    self.watch.saw_time(now);
                }
                Some(_) | None => return self.rest(),
            }
        }
        Err(Violation::new("the kernel comes to rest", format!("it was ticked {TICKS_MAX} times in a row"))
            .into())
    }

    fn tell(&mut self) -> Step {
        let Some(kernel) = &mut self.kernel else { return Ok(()) };
        let (answers, effects) = (kernel.take_answers(), kernel.take_effects());
        for (number, answer) in answers {
            let ticket = self.outstanding.remove(&number);
            let ticket = ticket.ok_or_else(|| {
                Violation::new("a request is answered once", format!("request {number} is answered again"))
            })?;
            self.answered(&ticket, answer)?;
            self.boundary("crash after an answer")?;
        }
        for effect in effects {
            self.carry_out(effect)?;
            self.boundary("crash after an effect")?;
        }
        Ok(())
    }

    fn answered(&mut self, ticket: &Ticket, answer: Answer) -> Step {
        self.log(|| {
            let told = match &answer {
                Ok(accepted) => format!("ok, {} with {:?}", accepted.run.status(), accepted.events),
                Err(denied) => denied.to_string(),
            };
            format!("  {:?} of {} by {:?}: {told}", ticket.command, ticket.run_id, ticket.from)
        });
        if let Ok(accepted) = &answer {
            self.watch.is_durable(
                self.disk.durable().as_ref(),
                &accepted.run,
                "an answer is told when it is durable",
            )?;
        }
        match &ticket.from {
            From::Creator(index) => self.created(*index, ticket, answer)?,
            From::Person(reaction) => self.reacted(reaction.as_ref().clone(), ticket, answer)?,
            From::Turn(turn) => self.turn_answered(*turn, ticket, answer)?,
            From::Process => self.process_answered(ticket, &answer),
        }
        Ok(())
    }

    fn carry_out(&mut self, effect: Effect) -> Step {
        self.log(|| match &effect {
            Effect::StartTurn(run) => format!("  start turn {} of {}", run.turn(), run.id()),
            Effect::StopTurn { run_id, turn, cause } => format!("  stop turn {turn} of {run_id}: {cause:?}"),
            Effect::Survey(run) => format!("  survey {} ({})", run.id(), run.status()),
        });
        match effect {
            Effect::StartTurn(run) => {
                self.watch.is_durable(
                    self.disk.durable().as_ref(),
                    &run,
                    "a turn is started when its start is durable",
                )?;
                match self.plan.bug {
                    Some(Bug::NeverStarts) if self.random.once_in(3) => return Ok(()),
                    Some(Bug::StartsTwice) if self.random.once_in(3) => self.start_turn(&run)?,
                    _ => {}
                }
                self.start_turn(&run)
            }
            Effect::StopTurn { run_id, turn, cause } => self.stop_wanted(run_id, turn, cause),
            Effect::Survey(run) => {
                self.counts.add("surveys");
                self.watch.survey_began(run.id());
                let survey = self.draw_survey();
                let delay = self.draw_delay(200);
                self.inside(delay, Inside::Surveyed(run.id(), survey));
                Ok(())
            }
        }
    }

    fn draw_survey(&mut self) -> Survey {
        if self.is_calm || self.plan.faults.survey == 0 || !self.random.once_in(self.plan.faults.survey) {
            return Survey::INTACT;
        }
        self.counts.add("fault: a restart finds something missing");
        let lost = self.random.below(3);
        Survey { engine: lost != 0, workspace: lost != 1, handle: lost != 2 }
    }

    /// What holds whenever the kernel rests, and when it wants to be woken.
    fn rest(&mut self) -> Step {
        self.check_rest()?;
        let Some(kernel) = &self.kernel else { return Ok(()) };
        if let Some(at) = kernel.next_tick().filter(|_| self.plan.bug != Some(Bug::LosesTimers)) {
            let at_ms = (at.millis() - EPOCH_MILLIS - self.clock_ahead_ms).max(self.time_ms + 1);
            if self.wakes_at_ms.is_none_or(|other| at_ms < other) {
                self.wakes_at_ms = Some(at_ms);
                self.later(at_ms - self.time_ms, Todo::Wake);
            }
        }
        Ok(())
    }

    /// A place at which a crash can come.
    pub(crate) fn boundary(&mut self, name: &'static str) -> Step {
        let number = self.boundaries;
        self.boundaries += 1;
        if let Some(&unsynced) = self.plan.crashes.0.get(&number) {
            self.log(|| format!("  boundary {number}: {name}, unsynced is {unsynced:?}"));
            self.counts.add(name);
            return Err(Stop::Crash(unsynced));
        }
        let often = self.plan.faults.crash;
        if !self.is_calm && often > 0 && self.random.once_in(often) {
            self.counts.add(name);
            let kept = self.random.once_in(2);
            return Err(Stop::Crash(if kept { crate::Unsynced::Kept } else { crate::Unsynced::Lost }));
        }
        Ok(())
    }

    /// Places at which a crash could have come so far.
    pub(crate) fn boundaries(&self) -> u64 {
        self.boundaries
    }

    /// Faults that are not crashes and not about one commit.
    fn disturb(&mut self) {
        if self.is_calm {
            return;
        }
        let faults = self.plan.faults;
        if faults.read > 0 && self.random.once_in(faults.read) {
            self.counts.add("fault: reads fail");
            let count = 1 + self.random.below(3);
            self.failing_reads.store(u32::try_from(count).expect("it is small"), Ordering::Relaxed);
        }
        if faults.clock > 0 && self.random.once_in(faults.clock) {
            let back = self.random.once_in(2);
            self.counts.add(if back {
                "fault: the clock is set back"
            } else {
                "fault: the clock is set forward"
            });
            let by = if back { 3000 } else { *self.random.one_of(&[2000, 60_000, 4_000_000]) };
            let by = self.random.below(by).cast_signed();
            self.clock_ahead_ms += if back { -by } else { by };
        }
    }

    /// Asks the kernel.
    pub(crate) fn ask(&mut self, ticket: Ticket) {
        let at = self.now();
        let number = self.number();
        if self.lies_about(&ticket) {
            return;
        }
        let Some(kernel) = &mut self.kernel else { return };
        let mut command = ticket.command.clone();
        if let (Command::Create(create), Some(Bug::TurnsPriorityAround)) = (&mut command, self.plan.bug) {
            create.spec.priority = -create.spec.priority;
        }
        let request = Request { run_id: ticket.run_id, command, at, ticket: number };
        self.outstanding.insert(number, ticket);
        kernel.ask(request);
        self.watch.saw_time(at);
    }

    pub(crate) fn has_outstanding(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// What time the kernel is told.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(EPOCH_MILLIS + self.time_ms + self.clock_ahead_ms)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Up to `most` milliseconds.
    pub(crate) fn draw_delay(&mut self, most: u64) -> i64 {
        self.random.below(most).cast_signed()
    }

    pub(crate) fn later(&mut self, delay_ms: i64, todo: Todo) {
        let number = self.number();
        self.agenda.insert((self.time_ms + delay_ms, number), todo);
    }

    pub(crate) fn inside(&mut self, delay_ms: i64, inside: Inside) {
        self.later(delay_ms, Todo::Inside(inside));
    }

    pub(crate) fn log(&mut self, line: impl FnOnce() -> String) {
        let (step, at) = (self.steps, self.time_ms);
        if let Some(log) = &mut self.log {
            log.push(format!("{step:>5} {:>9.3}s {}", at as f64 / 1000.0, line()));
        }
    }

    pub(crate) fn take_log(&mut self) -> Vec<String> {
        self.log.take().unwrap_or_default()
    }

    fn failed() -> Error {
        Error::Failed { doing: "commit", problem: "the disk is full".to_owned() }
    }

    fn check_rest(&mut self) -> Result<(), Violation> {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        let time_ms = self.time_ms;
        self.watch.always(kernel, &self.engines)?;
        if !kernel.is_committing() && kernel.open_len() == 0 {
            self.watch.at_rest(kernel, &self.mirror, &self.engines, time_ms)?;
        }
        ensure(self.steps < finish::STEPS_MAX, "a simulation comes to its end", || {
            format!("{} steps were not enough", finish::STEPS_MAX)
        })
    }
}
