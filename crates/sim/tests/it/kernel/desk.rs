//! A kernel that a test drives step by step.

use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{
    Command, Create, Evidence, ExecutionMode, Observation, RunId, RunSpec, RunStatus, Survey, Timestamp,
    TurnEnd,
};
use adjourn_kernel::{Answer, Effect, Kernel, Now, Slots, Steady, StopCause};
use adjourn_sim::{FlakyStore, MemoryStore};
use adjourn_store::{Error, Store};

/// A kernel, its store, and the time, in seconds.
pub(crate) struct Desk {
    pub(crate) memory: Arc<MemoryStore>,
    pub(crate) store: Arc<FlakyStore>,
    pub(crate) kernel: Kernel<&'static str>,
    pub(super) slots: Slots,
    /// Time that passed, whatever the wall clock says.
    pub(crate) seconds: i64,
    /// How far the wall clock was set ahead.
    pub(crate) ahead: i64,
    pub(crate) boot_id: u64,
}

/// A moment that many seconds after the boot, with a wall clock that was set ahead.
pub(crate) fn at(seconds: i64, ahead: i64) -> Now {
    let wall = Timestamp::from_millis((seconds + ahead) * 1000);
    Now { wall, steady: Steady::from_millis(seconds * 1000), boot_id: 0 }
}

/// A run that waits for nobody and asks for nothing.
pub(crate) fn plain() -> RunSpec {
    RunSpec::new("exec", ExecutionMode::Interactive)
}

pub(crate) fn run_id(n: u128) -> RunId {
    RunId::from_bits(n)
}

pub(crate) fn one_slot() -> Slots {
    Slots { total: 1, ..Slots::default() }
}

pub(crate) fn asks() -> TurnEnd {
    TurnEnd::Completed(Box::new(Evidence::read(r#"{"ask_user": {"prompt": "Why?"}}"#, None)))
}

pub(crate) fn done() -> TurnEnd {
    TurnEnd::Completed(Box::new(Evidence::read(r#"{"__SKILL_DONE__": true, "n": 1}"#, None)))
}

pub(crate) fn full() -> Error {
    Error::Failed { doing: "commit", problem: "the disk is full".to_owned() }
}

impl Desk {
    pub(crate) fn new(slots: Slots) -> Self {
        Self::over(Arc::new(MemoryStore::new()), slots, at(0, 0))
    }

    pub(crate) fn over(memory: Arc<MemoryStore>, slots: Slots, now: Now) -> Self {
        let store = Arc::new(FlakyStore::new(memory.clone()));
        // Nothing is kept in memory that is durable: what can be loaded is.
        let kernel = Kernel::with_warm_max(store.clone(), slots.clone(), now, 0).unwrap();
        Self { memory, store, kernel, slots, seconds: 0, ahead: 0, boot_id: 0 }
    }

    /// Everything stops, and starts again.
    pub(crate) fn restart(self) -> Self {
        let mut desk =
            Self::over(self.memory, self.slots, Now { boot_id: self.boot_id, ..at(0, self.ahead) });
        (desk.ahead, desk.boot_id) = (self.ahead, self.boot_id);
        desk.passes(self.seconds);
        desk
    }

    pub(crate) fn now(&self) -> Now {
        Now { boot_id: self.boot_id, ..at(self.seconds, self.ahead) }
    }

    /// Says of each run that was left behind that everything is where it was.
    pub(crate) fn recovers(&mut self) {
        for effect in self.kernel.take_effects() {
            if let Effect::Survey(run) = effect {
                self.kernel.surveyed(run.id(), Survey::INTACT);
            }
        }
        self.commits();
    }

    pub(crate) fn asks(&mut self, run_id: RunId, command: Command) {
        self.kernel.look(self.now());
        self.kernel.ask(run_id, command, "asked");
    }

    pub(crate) fn creates(&mut self, n: u128, spec: RunSpec) {
        self.asks(run_id(n), Command::Create(Create { spec, key: None }));
    }

    pub(crate) fn ends(&mut self, n: u128, end: TurnEnd) {
        let turn = self.run(n).unwrap().turn();
        let observations = vec![Observation::Handle("handle".to_owned())];
        self.asks(run_id(n), Command::EndTurn { turn, observations, end });
    }

    /// Commits until nothing is left to commit.
    pub(crate) fn commits(&mut self) {
        while let Some(items) = self.kernel.submit() {
            let outcome = self.memory.commit(&items);
            self.kernel.settle(outcome);
        }
    }

    pub(crate) fn fails_to_commit(&mut self) {
        assert!(self.kernel.submit().is_some(), "there is something to commit");
        self.kernel.settle(Err(full()));
    }

    /// Time passes, and the kernel is told as long as it wants to be.
    pub(crate) fn passes(&mut self, seconds: i64) {
        self.seconds += seconds;
        let now = self.now();
        for _ in 0..100 {
            self.kernel.look(now);
            if self.kernel.next_tick(&now) != Some(Duration::ZERO) {
                return;
            }
            self.kernel.tick(now);
            self.commits();
        }
        panic!("the kernel does not come to rest");
    }

    pub(crate) fn effects(&mut self) -> Vec<String> {
        let told = |effect: Effect| match effect {
            Effect::StartTurn(run) => format!("start {}", run.id().bits()),
            Effect::StopTurn { run_id, cause: StopCause::Ending, .. } => format!("end {}", run_id.bits()),
            Effect::StopTurn { run_id, cause: StopCause::TimedOut, .. } => format!("stop {}", run_id.bits()),
            Effect::Survey(run) => format!("survey {}", run.id().bits()),
            Effect::ForgetCall(_, id) => format!("forget {}", id.bits()),
            Effect::PrepareActivation { purpose, .. } => format!("prepare {}", purpose.role()),
            Effect::CreateActivation { run_id, .. } => format!("create {}", run_id.bits()),
            Effect::ForgetRoundtable(roundtable) => format!("forget {}", roundtable.bits()),
        };
        self.kernel.take_effects().into_iter().map(told).collect()
    }

    pub(crate) fn run(&self, n: u128) -> Option<adjourn_core::Run> {
        adjourn_kernel::load::<adjourn_core::Run>(self.memory.as_ref(), run_id(n)).unwrap()
    }

    pub(crate) fn status(&self, n: u128) -> RunStatus {
        self.run(n).unwrap().status()
    }

    pub(crate) fn answers(&mut self) -> Vec<Answer> {
        self.kernel.take_answers().into_iter().map(|(_, answer)| answer).collect()
    }
}
