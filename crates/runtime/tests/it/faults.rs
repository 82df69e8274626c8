//! A journal that cannot commit for a while: nothing is lost, and what the kernel wanted is tried again.

use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{
    By, Command, Create, Evidence, ExecutionId, ExecutionMode, InteractionId, Observation, Reply, RunId,
    RunSpec, RunStatus, Strict, Survey, Timestamp, TurnEnd,
};
use adjourn_kernel::load;
use adjourn_kernel::{Answer, Denied, Effect, Kernel, Now, Slots, Steady};
use adjourn_store::{Error, SqliteStore, Store};
use serde_json::json;

const RUN: RunId = RunId::from_bits(1);

/// A moment at which nobody has set the wall clock.
fn at(wall: Timestamp) -> Now {
    Now { wall, steady: Steady::from_millis(wall.millis()), boot_id: 0 }
}

/// The kernel, its journal, and the test as its driver.
struct Bench {
    _folder: tempfile::TempDir,
    store: Arc<SqliteStore>,
    kernel: Kernel<()>,
    now: Timestamp,
}

impl Bench {
    /// With a run that was just asked for, and so many slots.
    fn new(slots: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        let now = Timestamp::from_millis(1_000);
        let slots = Slots { total: slots, ..Slots::default() };
        let kernel = Kernel::new(store.clone(), slots, at(now)).unwrap();
        let mut bench = Self { _folder: folder, store, kernel, now };
        let mut spec = RunSpec::new("scripted", ExecutionMode::Interactive);
        (spec.strict, spec.session_timeout_sec) = (Strict::Off, 60);
        bench.asks(Command::Create(Create { spec, key: None }));
        bench.commits();
        bench
    }

    /// With a run whose first turn goes on.
    fn running() -> Self {
        let mut bench = Self::new(1);
        assert!(matches!(bench.kernel.take_effects()[..], [Effect::StartTurn(_)]));
        bench
    }

    /// With a run that waits for an answer.
    fn waiting() -> Self {
        let mut bench = Self::running();
        bench.asks(ends_with_question());
        bench.commits();
        assert_eq!(bench.status(), RunStatus::WaitingUser);
        bench.kernel.take_answers();
        bench
    }

    /// Another kernel over the same journal.
    fn restarts(&mut self) {
        self.kernel = Kernel::new(self.store.clone(), Slots::default(), at(self.now)).unwrap();
        self.passes(0);
    }

    fn asks(&mut self, command: Command) {
        self.kernel.look(at(self.now));
        self.kernel.ask(RUN, command, ());
    }

    fn passes(&mut self, seconds: u32) {
        self.now = self.now.plus_seconds(seconds);
        let now = at(self.now);
        if self.kernel.next_tick(&now) == Some(Duration::ZERO) {
            self.kernel.tick(now);
        }
    }

    /// Everything is committed that wants to be.
    fn commits(&mut self) {
        while let Some(items) = self.kernel.submit() {
            self.kernel.settle(self.store.commit(&items));
        }
    }

    /// The next commit fails.
    fn fails(&mut self) {
        self.kernel.submit().expect("there is something to commit");
        self.kernel.settle(Err(Error::Failed { doing: "commit", problem: "disk full".to_owned() }));
    }

    /// Says that everything is where it was, of each run that this is asked of.
    fn surveys(&mut self) -> usize {
        let effects = self.kernel.take_effects();
        let asked = effects.into_iter().filter_map(|effect| match effect {
            Effect::Survey(run) => Some(run.id()),
            Effect::StartTurn(_)
            | Effect::StopTurn { .. }
            | Effect::ForgetCall(..)
            | Effect::PrepareActivation { .. }
            | Effect::CreateActivation { .. }
            | Effect::ForgetRoundtable(_) => None,
        });
        asked.map(|id| self.kernel.surveyed(id, Survey::INTACT)).count()
    }

    fn answer(&mut self) -> Answer {
        self.kernel.take_answers().pop().expect("whoever asked is answered").1
    }

    fn status(&self) -> RunStatus {
        load::<adjourn_core::Run>(self.store.as_ref(), RUN).unwrap().unwrap().status()
    }
}

fn ends_with_question() -> Command {
    let observations = vec![Observation::Handle("h".to_owned())];
    let end = TurnEnd::Completed(Box::new(Evidence::read("Which database?", None)));
    Command::EndTurn { turn: 1, observations, end }
}

fn reply() -> Command {
    Command::Reply(Reply {
        interaction_id: InteractionId(1),
        response: json!("SQLite"),
        action: None,
        by: By::USER,
        key: None,
        edited_id: ExecutionId::from_bits(1),
        edited_key: None,
    })
}

#[test]
fn a_reply_that_could_not_be_written_down_is_told_so_and_can_be_given_again() {
    let mut bench = Bench::waiting();
    bench.asks(reply());
    bench.fails();
    assert!(matches!(bench.answer(), Err(Denied::Failed(_))));
    assert_eq!((bench.status(), bench.kernel.take_effects().len()), (RunStatus::WaitingUser, 0));
    bench.asks(reply());
    bench.commits();
    assert!(bench.answer().is_ok());
    bench.passes(1);
    bench.commits();
    assert!(matches!(&bench.kernel.take_effects()[..], [Effect::StartTurn(run)] if run.turn() == 2));
}

#[test]
fn a_turn_whose_start_could_not_be_written_down_starts_later() {
    let mut bench = Bench::new(0);
    assert_eq!(bench.status(), RunStatus::Queued);
    bench.restarts();
    assert_eq!(bench.surveys(), 1);
    bench.fails();
    assert_eq!((bench.status(), bench.kernel.take_effects().len()), (RunStatus::Queued, 0));
    bench.passes(1);
    bench.commits();
    assert!(matches!(&bench.kernel.take_effects()[..], [Effect::StartTurn(run)] if run.turn() == 1));
}

#[test]
fn a_recovery_that_could_not_be_written_down_is_tried_again() {
    let mut bench = Bench::running();
    bench.restarts();
    assert_eq!(bench.surveys(), 1);
    bench.fails();
    assert_eq!(bench.status(), RunStatus::Running, "and nobody works on it");
    bench.passes(1);
    bench.surveys();
    bench.commits();
    bench.passes(1);
    bench.commits();
    assert!(matches!(&bench.kernel.take_effects()[..], [Effect::StartTurn(run)] if run.restarts() == 1));
}

#[test]
fn an_expiry_that_could_not_be_written_down_is_tried_again() {
    let mut bench = Bench::waiting();
    bench.passes(60);
    bench.fails();
    assert_eq!(bench.status(), RunStatus::WaitingUser);
    bench.passes(1);
    bench.commits();
    assert_eq!(bench.status(), RunStatus::Running, "decided, and its next turn began");
}

#[test]
fn a_deadline_that_comes_while_its_question_is_written_down_counts() {
    let mut bench = Bench::running();
    bench.asks(ends_with_question());
    let items = bench.kernel.submit().unwrap();
    bench.passes(61);
    bench.kernel.settle(bench.store.commit(&items));
    bench.passes(1);
    bench.commits();
    assert_eq!(bench.status(), RunStatus::Running, "decided, and its next turn began");
}
