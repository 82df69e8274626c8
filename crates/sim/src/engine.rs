//! Engines by script: turns that ask, finish, fail, hang or vanish, and the processes that stay.

mod calls;
mod stop;

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::{
    Choice, Command, ContractAction, ContractStatus, ErrorCode, Event, Evidence, IdempotencyKey, Interaction,
    Observation, PermissionRequest, Process, Profile, Question, Refusal, Run, RunError, RunId, Schema,
    Subject, TurnEnd,
};
use adjourn_kernel::{Answer, Denied};
use std::sync::LazyLock;

pub(crate) use self::calls::Ledger;
use crate::plan::{Act, End};
use crate::report::{Step, ensure};
use crate::simulation::{From, Inside, Simulation, Ticket};

/// What goes on in the world on behalf of runs.
#[derive(Default)]
pub(crate) struct Engines {
    /// The turns that go on, and those whose end nobody acknowledged yet.
    pub(crate) turns: BTreeMap<RunId, LiveTurn>,
    /// The processes that are alive between turns, or in them, of sticky runs.
    pub(crate) processes: BTreeMap<RunId, Process>,
    /// Every turn that was ever started.
    pub(crate) started: BTreeSet<(RunId, u32)>,
    /// What was done to the world.
    pub(crate) ledger: Ledger,
    pids: u32,
}

/// A turn that goes on.
pub(crate) struct LiveTurn {
    pub(crate) turn: u32,
    /// What is left to do, the next act last.
    script: Vec<Act>,
    /// When it has to be stopped, in virtual time.
    pub(crate) stop_by_ms: Option<i64>,
    /// It has ended in the world, and that is being reported.
    pub(crate) has_ended: bool,
    /// Its process, which would have stayed, is gone with it.
    lost_process: Option<Process>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Works,
    Hangs,
    Vanished,
}

impl Engines {
    /// Nothing survives a crash but what was done to the world.
    pub(crate) fn crash(&mut self) {
        self.turns.clear();
        self.processes.clear();
    }

    pub(crate) fn has_vanished(&self) -> bool {
        self.turns.values().any(|turn| turn.state == State::Vanished)
    }

    fn begins_to_hang(&mut self, run_id: RunId, turn: u32) {
        if let Some(live) = self.turns.get_mut(&run_id).filter(|live| live.turn == turn) {
            live.state = State::Hangs;
        }
    }

    pub(crate) fn hangs(&self, run_id: RunId) -> bool {
        self.turns.get(&run_id).is_some_and(|turn| turn.state == State::Hangs)
    }

    pub(crate) fn are_idle(&self) -> bool {
        self.turns.is_empty() && self.processes.is_empty()
    }

    /// What is alive: one for each run with a turn or a process.
    pub(crate) fn alive(&self) -> impl Iterator<Item = RunId> {
        let turns = self.turns.iter().filter(|(_, turn)| !turn.has_ended).map(|(run_id, _)| *run_id);
        let alive: BTreeSet<_> = turns.chain(self.processes.keys().copied()).collect();
        alive.into_iter()
    }
}

impl Simulation {
    pub(crate) fn start_turn(&mut self, run: &Run) -> Step {
        let (run_id, turn) = (run.id(), run.turn());
        ensure(self.engines.started.insert((run_id, turn)), "a turn is started once", || {
            format!("turn {turn} of {run_id} is started again")
        })?;
        let is_alone = self.engines.turns.get(&run_id).is_none_or(|other| other.has_ended);
        ensure(is_alone, "a run has one live turn", || format!("turn {turn} of {run_id}"))?;
        self.check_conversation(run)?;
        self.counts.add("turns");
        let live = LiveTurn {
            turn,
            script: self.script(run),
            stop_by_ms: run.spec().hard_timeout_sec.map(|seconds| self.time_ms + i64::from(seconds) * 1000),
            has_ended: false,
            lost_process: None,
            state: State::Works,
        };
        self.engines.turns.insert(run_id, live);
        let delay = self.draw_delay(20);
        self.inside(delay, Inside::Turn(run_id, turn));
        Ok(())
    }

    /// What the engine is going to do, the next act last.
    fn script(&mut self, run: &Run) -> Vec<Act> {
        let mut script = vec![];
        if run.profile() == Profile::StickyProcess && !self.engines.processes.contains_key(&run.id()) {
            script.push(Act::Process);
        }
        let cleared = run.contracts().filter(|contract| contract.is_cleared());
        script.extend(cleared.map(|contract| Act::MakeApproved(contract.spec.execution_id)));
        if run.process().is_some() && run.open_interactions().any(is_permission) {
            // Only some of what its process waits for was decided.
            script.push(Act::Permissions(0));
        }
        let attempts = match self.clients.plan_of(run.id()) {
            Some(index) => Some(&self.plan.runs[index].attempts),
            None => self.roundtables.script(run.id()),
        };
        let last = attempts.map_or(0, |attempts| attempts.len() - 1);
        let index = usize::try_from(run.attempt_number()).unwrap_or(usize::MAX).saturating_sub(1).min(last);
        match attempts {
            Some(attempts) => script.extend(what_is_left(run, &attempts[index])),
            None => script.push(Act::End(End::Fail)),
        }
        script.reverse();
        script
    }

    /// The turn does what comes next.
    pub(crate) fn go_on(&mut self, run_id: RunId, turn: u32) -> Step {
        let is_calm = self.is_calm;
        let Some(live) = self.engines.turns.get_mut(&run_id).filter(|live| live.turn == turn) else {
            return Ok(());
        };
        if live.has_ended || live.state != State::Works {
            return Ok(());
        }
        let observe = |observation| Command::Observe { turn, observations: vec![observation] };
        let command = match live.script.pop() {
            Some(Act::Work(ms)) => {
                self.inside(ms, Inside::Turn(run_id, turn));
                return Ok(());
            }
            Some(Act::Say) => observe(Observation::Message { text: "I am at it.".to_owned(), raw: None }),
            Some(Act::Handle) => observe(Observation::Handle(format!("handle of {run_id}"))),
            Some(Act::Process) => {
                self.engines.pids += 1;
                let process = Process { pid: self.engines.pids, started: 1 };
                self.engines.processes.insert(run_id, process);
                observe(Observation::Process(process))
            }
            Some(Act::Call(call)) => self.wanted_call(run_id, turn, call),
            Some(Act::MakeApproved(id)) => Command::DispatchContract(id),
            Some(Act::Form) => self.wanted_form(run_id, turn),
            Some(Act::Permissions(count)) => {
                live.has_ended = true;
                self.counts.add("permissions that are asked for");
                let end = TurnEnd::NeedsPermission((0..count).map(|each| permission(turn, each)).collect());
                Command::EndTurn { turn, observations: Vec::new(), end }
            }
            Some(Act::Print(text)) => {
                live.has_ended = true;
                self.hear_early(run_id, &text);
                let end = TurnEnd::Completed(Box::new(Evidence::read(&text, None)));
                Command::EndTurn { turn, observations: Vec::new(), end }
            }
            Some(Act::End(End::Hang)) => {
                live.state = State::Hangs;
                return Ok(());
            }
            Some(Act::End(End::Vanish)) if !is_calm => {
                live.state = State::Vanished;
                self.counts.add("fault: a turn vanishes");
                return Ok(());
            }
            Some(Act::End(end)) => {
                if end == End::DoneWrong {
                    live.script = vec![Act::End(End::Done), Act::Work(10)];
                } else if end == End::DoneWrongAlways {
                    live.script = vec![Act::End(end), Act::Work(10)];
                }
                live.has_ended = true;
                Command::EndTurn { turn, observations: Vec::new(), end: how(end) }
            }
            None => Command::EndTurn { turn, observations: Vec::new(), end: how(End::Done) },
        };
        self.ask(Ticket { run_id, command, from: From::Turn(turn) });
        Ok(())
    }

    pub(crate) fn turn_answered(&mut self, turn: u32, ticket: &Ticket, answer: Answer) -> Step {
        let run_id = ticket.run_id;
        match answer {
            Ok(accepted) => match &ticket.command {
                Command::EndTurn { .. } => {
                    self.end_acknowledged(run_id, turn, &accepted.events, &accepted.state);
                }
                Command::RequestContract(_) | Command::DispatchContract(_) => {
                    self.call_acknowledged(turn, ticket);
                }
                _ => self.next_act(run_id, turn),
            },
            Err(Denied::Refused(Refusal::Stale { .. })) => {
                let was_current = self.engines.turns.get(&run_id).is_some_and(|live| live.turn == turn);
                if was_current {
                    self.engines.turns.remove(&run_id);
                }
            }
            Err(Denied::Refused(refusal)) => {
                self.check_answered(ticket, &refusal)?;
                self.next_act(run_id, turn);
            }
            Err(_) => {
                let delay = 300 + self.draw_delay(1000);
                self.inside(delay, Inside::Again(Box::new(ticket.clone())));
            }
        }
        Ok(())
    }

    /// Sends a request that failed again, or the next one of a call.
    pub(crate) fn ask_again(&mut self, ticket: Ticket) {
        let is_idle_talk = match (&ticket.from, &ticket.command) {
            (
                From::Turn(turn),
                Command::Observe { .. } | Command::RequestContract(_) | Command::DispatchContract(_),
            ) => self.is_stopped(ticket.run_id, *turn),
            _ => false,
        };
        if !is_idle_talk {
            self.ask(ticket);
        }
    }

    fn is_stopped(&self, run_id: RunId, turn: u32) -> bool {
        self.engines.turns.get(&run_id).is_none_or(|live| live.turn != turn || live.has_ended)
    }

    fn next_act(&mut self, run_id: RunId, turn: u32) {
        let delay = self.draw_delay(30);
        self.inside(delay, Inside::Turn(run_id, turn));
    }

    fn end_acknowledged(&mut self, run_id: RunId, turn: u32, events: &[Event], run: &Run) {
        let Some(live) = self.engines.turns.get_mut(&run_id).filter(|live| live.turn == turn) else { return };
        if events.iter().any(|event| matches!(event, Event::RepairStarted { .. })) {
            live.has_ended = false;
            self.counts.add("repairs");
            self.next_act(run_id, turn);
            return;
        }
        let lost_process = live.lost_process;
        self.engines.turns.remove(&run_id);
        if let Some(process) = lost_process {
            let command = Command::ReportProcessEnded { process, loadable: true };
            self.inside(0, Inside::Again(Box::new(Ticket { run_id, command, from: From::Process })));
        }
        let Some(&process) = self.engines.processes.get(&run_id) else { return };
        if run.process().is_none() {
            // It went on as resumable, or ended: nothing stays with it.
            self.engines.processes.remove(&run_id);
        } else if !self.is_calm && self.random.once_in(6) {
            let delay = crate::seeded::delay(&mut self.random);
            self.inside(delay, Inside::ProcessDies(run_id, process));
        }
    }
}

/// An engine that goes on in an attempt does not ask again for what it has; a call that came to nothing, it may.
fn what_is_left(run: &Run, acts: &[Act]) -> Vec<Act> {
    let of_attempt = || run.contracts().filter(|contract| contract.attempt_number == run.attempt_number());
    let has_patience = run.restarts() > 0 && of_attempt().count() < 2 * acts.len();
    let (mut forms, mut calls) = (0, 0);
    for contract in of_attempt() {
        match (&contract.spec.action, contract.status) {
            (ContractAction::EcsRequest(_), _) => forms += 1,
            (ContractAction::ToolCall(_), ContractStatus::Failed | ContractStatus::Cancelled)
                if has_patience => {}
            (ContractAction::ToolCall(_), _) => calls += 1,
        }
    }
    let asked = run.interactions().iter().filter(|one| one.attempt_number == run.attempt_number());
    let mut permissions = asked.filter(|one| is_permission(one)).count();
    let mut left = |act: &&Act| {
        let had = match act {
            Act::Form => &mut forms,
            Act::Call(_) => &mut calls,
            Act::Permissions(count) => {
                let had = permissions >= usize::from(*count);
                permissions = permissions.saturating_sub(usize::from(*count));
                return !had;
            }
            _ => return true,
        };
        if *had == 0 {
            return true;
        }
        *had -= 1;
        false
    };
    acts.iter().filter(|act| left(act)).cloned().collect()
}

fn is_permission(interaction: &Interaction) -> bool {
    matches!(interaction.subject, Subject::Permission(_))
}

/// Every other turn asks for what the one before asked for.
fn permission(turn: u32, each: u8) -> PermissionRequest {
    let options = vec![Choice::new("a", "Allow"), Choice::new("b", "Reject")];
    PermissionRequest {
        digest: IdempotencyKey::of("agent", "push", &serde_json::json!([turn / 2, each])),
        question: Question::choose_one("May I?", options),
    }
}

/// How a turn ended, as its driver reports it.
fn how(end: End) -> TurnEnd {
    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        Schema::compile(&serde_json::json!({ "type": "object", "required": ["n"] })).expect("it is a schema")
    });
    let text = match end {
        End::Ask => r#"{"ask_user": {"prompt": "Which?", "options": ["a", "b"]}}"#,
        End::AskBadly => r#"{"ask_user": 5}"#,
        End::Done | End::Vanish => r#"{"__SKILL_DONE__": true, "n": 1}"#,
        End::DoneWrong | End::DoneWrongAlways => r#"{"__SKILL_DONE__": true}"#,
        End::Prose => "I wonder.",
        End::Fail | End::Hang => {
            let message = "it exited with 1".to_owned();
            return TurnEnd::Failed(RunError { code: ErrorCode::EngineExitNonzero, message });
        }
    };
    TurnEnd::Completed(Box::new(Evidence::read(text, Some(&SCHEMA))))
}
