//! The way of a round through the kernel, step by step.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use adjourn_core::machines::{RoundtableStatus, RoundtableTrigger};
use adjourn_core::roundtable::{
    Command, Criterion, CriterionId, Document, DoneWhen, Event, Limits, Open, Pace, Purpose, Role,
    Roundtable, RoundtableSpec, Seat, Start, TopicId, TopicSpec,
};
use adjourn_core::{
    By, Command as RunCommand, Create, Evidence, ExecutionMode, Record, RoundtableId, RunId, RunSpec,
    RunStatus, Survey, TurnEnd,
};
use adjourn_kernel::{Effect, NotCreated, Preparation, Slots};
use adjourn_store::{After, Store};
use serde_json::{Value, json};

use crate::kernel::{Desk, at, full, one_slot, plain, run_id};

fn roundtable_id(n: u128) -> RoundtableId {
    RoundtableId::from_bits(n)
}

/// One topic with one criterion, a facilitator and one participant: over after one round that covers it.
fn spec() -> RoundtableSpec {
    let criterion = Criterion { id: CriterionId::new("a"), text: "it is said how".to_owned() };
    RoundtableSpec {
        subject: "a shop for bicycles".to_owned(),
        workflow: "specs".to_owned(),
        document: Document::Requirements,
        strategy: "standard".to_owned(),
        limits: Limits { min_rounds: 1, max_rounds: 3, ..Limits::default() },
        agenda: vec![TopicSpec {
            topic_id: TopicId::new("scope"),
            title: "What is in scope".to_owned(),
            critical: false,
            done_when: DoneWhen { criteria: vec![criterion], ..DoneWhen::default() },
        }],
        facilitator: Seat::facilitator("exec"),
        participants: vec![Seat::participant("architect", "exec")],
        pace: Pace::Continuous,
        context: None,
        labels: Default::default(),
    }
}

/// What an agent prints that does what it is asked for.
fn document(purpose: &Purpose) -> Value {
    match purpose {
        Purpose::Ask => json!({ "question": "What is in scope?" }),
        Purpose::Answer(_) => json!({ "position": "Bicycles.", "confidence": 0.9 }),
        Purpose::Synthesis => json!({
            "summary": "Bicycles are.",
            "proposals": [{
                "action": "create_artifact",
                "kind": "requirement",
                "title": "Bicycles",
                "body": "They are sold.",
                "covers": ["a"],
                "proposed_by": "architect",
            }],
        }),
    }
}

/// Something that is left to be done for the kernel.
#[derive(Debug, Clone)]
enum DueStep {
    Prepared(RoundtableId, Purpose),
    Create(RoundtableId, RunId),
    Created(RunId),
    Prints(RunId),
    Surveyed(RunId),
}

/// A kernel with roundtables, and what it wants done.
struct Meeting {
    desk: Desk,
    steps: VecDeque<DueStep>,
    /// Runs that were given out so far.
    runs: u128,
}

impl Meeting {
    fn new(slots: Slots) -> Self {
        Self { desk: Desk::new(slots), steps: VecDeque::new(), runs: 0 }
    }

    fn opens(&mut self, n: u128) {
        let known_roles = BTreeSet::from([Role::new("architect")]);
        let open = Command::Open(Box::new(Open { spec: spec(), known_roles, key: None }));
        self.asks(n, open);
        self.desk.commits();
    }

    fn asks(&mut self, n: u128, command: Command) {
        self.desk.kernel.look(self.desk.now());
        self.desk.kernel.ask_roundtable(roundtable_id(n), command, "asked");
    }

    fn roundtable(&self, n: u128) -> Roundtable {
        let found = adjourn_kernel::load::<Roundtable>(self.desk.memory.as_ref(), roundtable_id(n));
        found.unwrap().unwrap()
    }

    fn events(&self, n: u128) -> Vec<Event> {
        let entries = self.desk.memory.read(roundtable_id(n).into(), After::START, usize::MAX).unwrap();
        entries.iter().flat_map(|entry| Record::<Event>::of(entry).unwrap().events).collect()
    }

    /// Says that an agent can be asked, by a run of this number.
    fn is_ready(&mut self, n: u128, purpose: Purpose, run: u128) {
        let found = Preparation::Ready { run_id: run_id(run), start: Start::Fresh };
        self.desk.kernel.activation_prepared(roundtable_id(n), purpose, found);
        self.desk.commits();
    }

    /// Creates an announced run, without telling the kernel what came of it.
    fn creates(&mut self, n: u128, run: RunId) {
        let roundtable = Some(roundtable_id(n));
        let spec = RunSpec { roundtable, ..RunSpec::new("exec", ExecutionMode::Auto) };
        self.desk.asks(run, RunCommand::Create(Create { spec, key: None }));
        self.desk.commits();
    }

    fn is_created(&mut self, run: RunId) {
        self.desk.kernel.activation_created(run, Ok(()));
        self.desk.commits();
    }

    fn prints(&mut self, run: u128, mut document: Value) {
        document["__SKILL_DONE__"] = json!(true);
        let evidence = Evidence::read(&document.to_string(), None);
        self.desk.ends(run, TurnEnd::Completed(Box::new(evidence)));
        self.desk.commits();
    }

    /// Takes down what the kernel wants done.
    fn listen(&mut self) {
        for effect in self.desk.kernel.take_effects() {
            self.steps.extend(match effect {
                Effect::PrepareActivation { roundtable, purpose } => {
                    Some(DueStep::Prepared(roundtable.id(), purpose))
                }
                Effect::CreateActivation { roundtable, run_id } => {
                    Some(DueStep::Create(roundtable.id(), run_id))
                }
                Effect::StartTurn(run) => Some(DueStep::Prints(run.id())),
                Effect::Survey(run) => Some(DueStep::Surveyed(run.id())),
                Effect::StopTurn { .. } | Effect::ForgetCall(..) | Effect::ForgetRoundtable(_) => None,
            });
        }
    }

    /// Does the next thing that the kernel wants done; false where there is none.
    fn steps(&mut self) -> bool {
        self.listen();
        let Some(step) = self.steps.pop_front() else { return false };
        match step {
            DueStep::Prepared(id, purpose) => {
                self.runs += 1;
                self.is_ready(id.bits(), purpose, self.runs);
            }
            DueStep::Create(id, run) => {
                self.creates(id.bits(), run);
                self.steps.push_back(DueStep::Created(run));
            }
            DueStep::Created(run) => self.is_created(run),
            DueStep::Prints(run) => {
                let state = self.roundtable(1);
                let activation = state.current().and_then(|round| round.activation(run));
                let purpose = activation.unwrap().purpose.clone();
                self.prints(run.bits(), document(&purpose));
            }
            DueStep::Surveyed(run) => {
                self.desk.kernel.surveyed(run, Survey::INTACT);
                self.desk.commits();
            }
        }
        true
    }

    /// Everything stops, and starts again.
    fn restarts(self) -> Self {
        Self { desk: self.desk.restart(), steps: VecDeque::new(), runs: self.runs }
    }

    fn effects(&mut self) -> Vec<String> {
        self.desk.effects()
    }
}

fn architect() -> Purpose {
    Purpose::Answer(Role::new("architect"))
}

#[test]
fn a_round_goes_from_its_question_to_its_record() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    let opened = meeting.desk.memory.read(roundtable_id(1).into(), After::START, 9).unwrap();
    assert_eq!(opened.len(), 1, "the first round is opened in the commit of the roundtable");
    assert_eq!(meeting.effects(), ["prepare facilitator"]);

    meeting.is_ready(1, Purpose::Ask, 1);
    assert_eq!(meeting.effects(), ["create 1"]);
    meeting.creates(1, run_id(1));
    assert_eq!(meeting.effects(), ["start 1"]);
    meeting.is_created(run_id(1));
    assert_eq!(meeting.effects(), [""; 0]);
    meeting.prints(1, document(&Purpose::Ask));
    assert_eq!(meeting.effects(), ["prepare architect"]);

    meeting.is_ready(1, architect(), 2);
    assert_eq!(meeting.effects(), ["create 2"]);
    meeting.creates(1, run_id(2));
    meeting.is_created(run_id(2));
    meeting.prints(2, document(&architect()));
    assert_eq!(meeting.effects(), ["start 2", "prepare facilitator"]);

    meeting.is_ready(1, Purpose::Synthesis, 3);
    meeting.creates(1, run_id(3));
    meeting.is_created(run_id(3));
    meeting.prints(3, document(&Purpose::Synthesis));
    assert_eq!(meeting.effects(), ["create 3", "start 3", "forget 1"]);

    let roundtable = meeting.roundtable(1);
    assert_eq!(roundtable.closing().map(|closing| closing.reason), Some(RoundtableTrigger::Conclude));
    assert_eq!((roundtable.rounds().len(), roundtable.artifacts().len()), (1, 1));
    meeting.desk.passes(0);
    assert_eq!(meeting.desk.kernel.memory(), 0);
}

#[test]
fn xx_32_a_round_goes_on_after_a_restart_at_any_step() {
    let mut steps = 0;
    let mut whole = Meeting::new(one_slot());
    whole.opens(1);
    while whole.steps() {
        steps += 1;
    }
    assert_eq!(steps, 12, "three agents: prepared, created, reported, heard");

    for stop in 0..=steps {
        let mut meeting = Meeting::new(one_slot());
        meeting.opens(1);
        for _ in 0..stop {
            assert!(meeting.steps());
        }
        let mut meeting = meeting.restarts();
        while meeting.steps() {}
        let roundtable = meeting.roundtable(1);
        let closed = roundtable.closing().map(|closing| closing.reason);
        assert_eq!(closed, Some(RoundtableTrigger::Conclude), "after step {stop}");
        let heard = |event: &&Event| {
            matches!(
                event,
                Event::FocusRecorded { .. } | Event::AnswerRecorded { .. } | Event::SynthesisRecorded { .. }
            )
        };
        assert_eq!(meeting.events(1).iter().filter(heard).count(), 3, "after step {stop}");
        let announced = |event: &&Event| matches!(event, Event::ActivationStarted { .. });
        assert_eq!(meeting.events(1).iter().filter(announced).count(), 3, "after step {stop}");
        assert_eq!(meeting.desk.kernel.memory(), 0, "after step {stop}");
    }
}

#[test]
fn closing_a_roundtable_cancels_the_run_that_is_being_created() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    assert_eq!(meeting.effects(), ["prepare facilitator", "create 1"]);
    meeting.asks(1, Command::Close(By::USER));
    meeting.desk.commits();
    assert_eq!(meeting.effects(), ["forget 1"]);

    meeting.creates(1, run_id(1));
    meeting.is_created(run_id(1));
    assert_eq!(meeting.effects(), ["start 1", "end 1"]);
    meeting.prints(1, document(&Purpose::Ask));
    assert_eq!(meeting.desk.status(1), RunStatus::Canceled);
    assert_eq!(meeting.roundtable(1).status(), RoundtableStatus::Closed);
    meeting.desk.passes(0);
    assert_eq!(meeting.desk.kernel.memory(), 0);
}

#[test]
fn closing_a_roundtable_cancels_the_runs_that_are_at_work() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    meeting.creates(1, run_id(1));
    meeting.is_created(run_id(1));
    meeting.effects();
    meeting.asks(1, Command::Close(By::USER));
    meeting.desk.commits();
    assert_eq!(meeting.effects(), ["forget 1", "end 1"]);
}

#[test]
fn a_run_is_not_canceled_for_a_closing_that_was_not_committed() {
    let mut meeting = Meeting::new(one_slot());
    meeting.desk.creates(9, plain());
    meeting.desk.commits();
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    meeting.creates(1, run_id(1));
    assert_eq!(meeting.desk.status(1), RunStatus::Queued);

    let mut meeting = meeting.restarts();
    assert_eq!(meeting.effects(), ["survey 9"]);
    meeting.desk.kernel.surveyed(run_id(9), Survey::INTACT);
    meeting.desk.commits();
    assert_eq!(meeting.effects(), ["survey 1"]);

    meeting.asks(1, Command::Close(By::USER));
    assert!(meeting.desk.kernel.submit().is_some(), "the closing is being committed");
    meeting.desk.kernel.surveyed(run_id(1), Survey::INTACT);
    meeting.desk.kernel.settle(Err(full()));
    meeting.desk.commits();
    meeting.desk.passes(1);
    assert_eq!(meeting.roundtable(1).status(), RoundtableStatus::Active);
    assert_eq!(meeting.desk.status(1), RunStatus::Running);

    meeting.asks(1, Command::Close(By::USER));
    meeting.desk.commits();
    assert_eq!(meeting.effects(), ["start 1", "forget 1", "end 1"]);
}

#[test]
fn an_agent_is_not_prepared_twice_for_a_closing_that_was_not_committed() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    assert_eq!(meeting.effects(), ["prepare facilitator"]);
    meeting.asks(1, Command::Close(By::USER));
    meeting.desk.fails_to_commit();
    meeting.desk.passes(1);
    assert_eq!(meeting.effects(), [""; 0], "it is being prepared");
    meeting.is_ready(1, Purpose::Ask, 1);
    assert_eq!(meeting.effects(), ["create 1"]);
}

#[test]
fn an_agent_that_cannot_be_asked_now_is_asked_a_second_later() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    assert_eq!(meeting.effects(), ["prepare facilitator"]);
    meeting.desk.kernel.activation_prepared(roundtable_id(1), Purpose::Ask, Preparation::NotNow);
    meeting.desk.commits();
    meeting.desk.passes(0);
    assert_eq!(meeting.effects(), [""; 0]);
    meeting.desk.passes(1);
    assert_eq!(meeting.effects(), ["prepare facilitator"]);
}

#[test]
fn a_run_that_cannot_be_created_now_is_created_a_second_later() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    assert_eq!(meeting.effects(), ["prepare facilitator", "create 1"]);
    meeting.desk.kernel.activation_created(run_id(1), Err(NotCreated::NotNow));
    meeting.desk.passes(0);
    assert_eq!(meeting.effects(), [""; 0]);
    meeting.desk.passes(1);
    assert_eq!(meeting.effects(), ["create 1"]);
}

#[test]
fn a_run_that_cannot_be_created_at_all_is_lost_and_another_is_announced() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    meeting.effects();
    let lost = NotCreated::Lost("it has no workspace".to_owned());
    meeting.desk.kernel.activation_created(run_id(1), Err(lost));
    meeting.desk.commits();
    let expected = Event::FacilitatorLost { run_id: run_id(1), reason: "it has no workspace".to_owned() };
    assert_eq!(meeting.events(1).last(), Some(&expected));
    assert_eq!(meeting.effects(), ["prepare facilitator"]);
}

#[test]
fn a_run_that_said_nonsense_is_lost_and_the_journal_says_why() {
    for (document, why) in [
        (json!({ "n": 1 }), "what it printed cannot be used: `.`: missing field `question`"),
        (json!({ "question": " " }), "/question: is blank, it should be some text"),
    ] {
        let mut meeting = Meeting::new(one_slot());
        meeting.opens(1);
        meeting.is_ready(1, Purpose::Ask, 1);
        meeting.creates(1, run_id(1));
        meeting.is_created(run_id(1));
        meeting.effects();
        meeting.prints(1, document);
        let expected = Event::FacilitatorLost { run_id: run_id(1), reason: why.to_owned() };
        assert_eq!(meeting.events(1).last(), Some(&expected));
        assert_eq!(meeting.effects(), ["prepare facilitator"]);
    }
}

#[test]
fn what_a_run_said_is_recorded_when_its_end_is_durable() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.is_ready(1, Purpose::Ask, 1);
    meeting.creates(1, run_id(1));
    meeting.is_created(run_id(1));
    let mut said = document(&Purpose::Ask);
    said["__SKILL_DONE__"] = json!(true);
    let end = TurnEnd::Completed(Box::new(Evidence::read(&said.to_string(), None)));
    meeting.desk.ends(1, end.clone());
    meeting.desk.fails_to_commit();
    meeting.desk.commits();
    assert!(matches!(meeting.events(1).last(), Some(Event::ActivationStarted { .. })));
    meeting.desk.ends(1, end);
    let items = meeting.desk.kernel.submit().unwrap();
    assert_eq!(items.len(), 1, "the end of the run alone");
    let outcome = meeting.desk.memory.commit(&items);
    meeting.desk.kernel.settle(outcome);
    meeting.desk.commits();
    assert!(matches!(meeting.events(1).last(), Some(Event::FocusRecorded { .. })));
}

#[test]
fn a_roundtable_whose_journal_is_damaged_is_closed_and_the_others_go_on() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    meeting.opens(2);
    meeting.desk.memory.damage(roundtable_id(1).into());
    let mut meeting = meeting.restarts();
    meeting.desk.commits();
    assert_eq!(meeting.effects(), ["prepare facilitator", "forget 1"]);
    let row = |n| meeting.desk.memory.roundtable(roundtable_id(n)).unwrap().unwrap();
    assert_eq!((row(1).status, row(2).status), (RoundtableStatus::Closed, RoundtableStatus::Active));
    assert_eq!(row(1).close_reason.as_deref(), Some(RoundtableTrigger::Fail.name()));
}

#[test]
fn a_roundtable_that_cannot_be_read_after_a_restart_goes_on_a_second_later() {
    let mut meeting = Meeting::new(one_slot());
    meeting.opens(1);
    let memory: Arc<_> = meeting.desk.memory.clone();
    let mut desk = Desk::over(memory, one_slot(), at(0, 0));
    desk.store.fail_reads_after(3, 1);
    desk.passes(0);
    assert_eq!(desk.effects(), [""; 0]);
    desk.passes(1);
    assert_eq!(desk.effects(), ["prepare facilitator"]);
}
