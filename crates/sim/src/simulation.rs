//! The simulator: the shell around the kernel, on virtual time.
//!
//! Everything that happens is a [`Todo`] at a moment of virtual time. After each one the kernel is driven until it
//! rests, exactly as its thread does it, and between any two things that a crash can come between there is a
//! [boundary](Simulation::boundary).

mod commit;
mod crash;
mod disk_state;
mod finish;
mod prune;
mod shell;
mod todo;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adjourn_core::{Command, ExecutionId, Item, Strict, Timestamp};
use adjourn_kernel::{Kernel, Now, Steady};
use adjourn_store::conformance::Random;
use adjourn_store::{Error, Store};

use self::commit::Committing;
use self::disk_state::DiskState;
pub(crate) use self::todo::{From, Inside, Ticket, Todo};
use crate::bug::Bug;
use crate::client::Clients;
use crate::disk::{Disk, HastyDisk, MemoryDisk, SqliteDisk};
use crate::engine::Engines;
use crate::mirror::Mirror;
use crate::plan::{Medium, Plan};
use crate::report::{Counts, Step, Stop, Violation};
use crate::roundtable::RoundtableClients;
use crate::watch::Watch;

/// When every simulation begins: 2026-01-01.
const EPOCH_MILLIS: i64 = 1_767_225_600_000;

/// A simulation that goes on.
pub(crate) struct Simulation {
    pub(crate) plan: Plan,
    pub(crate) random: Random,
    /// Virtual time since the beginning. Never goes back.
    pub(crate) time_ms: i64,
    /// How far the wall clock is ahead of it.
    pub(crate) clock_ahead_ms: i64,
    /// How often the process was started.
    starts: u64,
    /// What is left of the disk.
    disk_state: DiskState,
    /// Since when a call is known to be in doubt.
    in_doubt_since: BTreeMap<ExecutionId, i64>,
    agenda: BTreeMap<(i64, u64), Todo>,
    numbers: u64,
    wakes_at_ms: Option<i64>,
    disk: Box<dyn Disk>,
    /// Shared with the store that the kernel is given.
    failing_reads: Arc<AtomicU32>,
    /// None while everything is down.
    pub(crate) kernel: Option<Kernel<u64>>,
    committing: Option<Committing>,
    /// A batch whose sync failed and that is still in the log: a crash may bring it back.
    left_behind: Option<Arc<[Item]>>,
    outstanding: BTreeMap<u64, Ticket>,
    pub(crate) engines: Engines,
    pub(crate) clients: Clients,
    pub(crate) roundtables: RoundtableClients,
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
            starts: 0,
            disk_state: DiskState::Roomy,
            in_doubt_since: BTreeMap::new(),
            agenda: BTreeMap::new(),
            numbers: 0,
            wakes_at_ms: None,
            disk,
            failing_reads: Arc::default(),
            kernel: None,
            committing: None,
            left_behind: None,
            outstanding: BTreeMap::new(),
            engines: Engines::default(),
            clients: Clients::default(),
            roundtables: RoundtableClients::default(),
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
            let (at_ms, every_ms) = (run.at_ms, run.asks_every_ms);
            for nth in 0..i64::from(run.asks) {
                simulation.later(at_ms + nth * every_ms, Todo::Create(index));
            }
        }
        for index in 0..simulation.plan.roundtables.len() {
            let roundtable = &simulation.plan.roundtables[index];
            let (at_ms, asks) = (roundtable.at_ms, roundtable.asks);
            for _ in 0..asks {
                simulation.later(at_ms, Todo::Open(index));
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
                // One that was overtaken by an earlier one changes nothing, or each of them would bring another.
                if self.wakes_at_ms.is_some_and(|at| at <= self.time_ms) {
                    self.wakes_at_ms = None;
                }
                Ok(())
            }
            Todo::Calm => {
                self.calm();
                Ok(())
            }
            Todo::Tidy => self.tidy(),
            Todo::DiskChanges(state) => {
                self.disk_changes(state);
                Ok(())
            }
            Todo::Inside(inside) => self.take_inside(inside),
            // Whoever finds nobody there tries again.
            Todo::Create(_) | Todo::React(_) | Todo::Open(_) | Todo::ReactAtRoundtable(_)
                if self.kernel.is_none() =>
            {
                self.later(700, todo);
                Ok(())
            }
            Todo::Create(index) => self.create(index),
            Todo::React(reaction) => self.react(reaction),
            Todo::Open(index) => self.open_roundtable(index),
            Todo::ReactAtRoundtable(reaction) => self.react_at_roundtable(reaction),
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
            Inside::DiskLooked => {
                self.tell_room();
                Ok(())
            }
            Inside::Surveyed(run_id, survey) => {
                if let Some(kernel) = &mut self.kernel {
                    kernel.surveyed(run_id, survey);
                }
                Ok(())
            }
            Inside::Prepared(id, purpose) => self.activation_prepared(id, purpose),
            Inside::CreateActivation(id, run_id) => self.create_activation(id, run_id),
            Inside::ActivationCreated(run_id, created) => self.activation_created(run_id, created),
            Inside::Again(ticket) => {
                self.ask_again(*ticket);
                Ok(())
            }
        }
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
            // Moments, minutes, hours.
            let by = *self.random.one_of(&[3000, 60_000, 8_000_000]);
            let by = self.random.below(by).cast_signed();
            self.clock_ahead_ms += if back { -by } else { by };
            // While something is due, the clock is looked at every second.
            let delay = self.draw_delay(1000);
            self.later(delay, Todo::Wake);
        }
        self.fill_disk();
    }

    /// Asks the kernel.
    pub(crate) fn ask(&mut self, ticket: Ticket) {
        let now = self.now();
        let number = self.number();
        if self.lies_about(&ticket) {
            return;
        }
        let Some(kernel) = &mut self.kernel else { return };
        let mut command = ticket.command.clone();
        if let Command::Create(create) = &mut command {
            match self.plan.bug {
                Some(Bug::TurnsPriorityAround) => create.spec.priority = -create.spec.priority,
                Some(Bug::ForgetsTheLimitOfAttempts) => create.spec.max_attempt = None,
                Some(Bug::TakesEveryRunForStrict) => create.spec.strict = Strict::On,
                _ => {}
            }
        }
        let run_id = ticket.run_id;
        self.outstanding.insert(number, ticket);
        self.watch.saw_time(now.wall);
        kernel.look(now);
        kernel.ask(run_id, command, number);
    }

    pub(crate) fn has_outstanding(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// What the kernel is told of the time.
    pub(crate) fn now(&self) -> Now {
        let wall = Timestamp::from_millis(EPOCH_MILLIS + self.time_ms + self.clock_ahead_ms);
        let steady = match self.plan.bug {
            Some(Bug::MeasuresByTheWallClock) => self.time_ms + self.clock_ahead_ms,
            _ => self.time_ms,
        };
        // A crash of the process is no boot of the machine.
        let boot_id = if self.plan.bug == Some(Bug::TakesStartsForBoots) { self.starts } else { 0 };
        Now { wall, steady: Steady::from_millis(steady), boot_id }
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Everything that would be there if everything stopped now.
    pub(crate) fn durable(&self) -> Arc<dyn Store> {
        self.disk.durable()
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

    fn unresolved() -> Error {
        Error::Unresolved { doing: "commit", problem: "the disk does not answer".to_owned() }
    }
}
