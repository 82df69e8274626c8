//! Walks: random command sequences against a few runs, sensible and senseless ones.
//!
//! A [`Step`] is five small numbers. What they mean depends on what is there when the step is taken (the third question,
//! the second contract), so that a failing walk still means something when steps are taken out of it.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use std::sync::LazyLock;

use adjourn_core::{
    Action, By, Choice, Command, Continued, ContractAction, ContractReport, ContractSpec, Create, ErrorCode,
    Evidence, ExecutionId, ExecutionMode, IdempotencyKey, InteractionId, KeyScope, Observation,
    PermissionRequest, Process, Profile, Question, Reply, ReplyKey, RequestContract, ResumesBy, RoundtableId,
    Run, RunError, RunId, RunSpec, RunStatus, Schema, Strict, Survey, ToolCall, TurnEnd, Usage,
};
use proptest::prelude::{Strategy, any};
use serde_json::{Value, json};

use crate::world::World;

/// One step of a walk. All zero is the plainest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Which run.
    run: u8,
    /// Which command.
    what: u8,
    /// Which of the things that the command can be about.
    which: u8,
    /// In which way.
    how: u8,
    /// How long after the step before.
    wait: u8,
}

pub(crate) fn steps(count_max: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (0..6_u8, any::<u8>(), 0..6_u8, any::<u8>(), 0..8_u8)
        .prop_map(|(run, what, which, how, wait)| Step { run, what, which, how, wait });
    proptest::collection::vec(step, 1..count_max)
}

/// A kind of command.
#[derive(Debug, Clone, Copy)]
enum Kind {
    StartTurn,
    EndTurn,
    EndOtherTurn,
    Observe,
    Reply,
    Expire,
    Cancel,
    EndProcess,
    Recover,
    Request,
    Dispatch,
    Report,
    Settle,
    Create,
    CreateAgain,
}

const WHILE_QUEUED: &[Kind] =
    &[Kind::StartTurn, Kind::StartTurn, Kind::StartTurn, Kind::Reply, Kind::Dispatch];
const WHILE_RUNNING: &[Kind] = &[
    Kind::EndTurn,
    Kind::Observe,
    Kind::Request,
    Kind::Dispatch,
    Kind::Report,
    Kind::Reply,
    Kind::EndTurn,
    Kind::Request,
    Kind::Dispatch,
    Kind::EndTurn,
    Kind::Recover,
];
const WHILE_WAITING: &[Kind] =
    &[Kind::Reply, Kind::Reply, Kind::Expire, Kind::Reply, Kind::Expire, Kind::Recover];
const ANYTHING: &[Kind] = &[
    Kind::StartTurn,
    Kind::EndTurn,
    Kind::EndOtherTurn,
    Kind::Observe,
    Kind::Reply,
    Kind::Expire,
    Kind::Cancel,
    Kind::EndProcess,
    Kind::Recover,
    Kind::Request,
    Kind::Dispatch,
    Kind::Report,
    Kind::Settle,
    Kind::Create,
    Kind::CreateAgain,
    Kind::EndProcess,
];

/// How long a question waits in a walk, in seconds.
const SESSION_TIMEOUT_SEC: u32 = 100;

impl Step {
    /// How many seconds after the step before: mostly none, sometimes past every deadline.
    pub(crate) fn wait_seconds(self) -> u32 {
        match self.wait {
            0..=4 => 0,
            5 => 1,
            6 => SESSION_TIMEOUT_SEC / 2,
            _ => SESSION_TIMEOUT_SEC * 2,
        }
    }

    /// Whether the command is decided without knowing who holds the keys it wants.
    pub(crate) fn is_blind(self) -> bool {
        self.how & 0b1110_0000 == 0b1110_0000
    }

    /// The command that these numbers mean in `world`, and the run that it is for.
    pub(crate) fn command(self, world: &World) -> (RunId, Command) {
        let new = RunId::from_bits(world.runs.len() as u128 + 1);
        let Some(run) = self.run(world) else { return (new, self.create(world)) };
        let turn = run.turn();
        let command = match self.kind(run) {
            Kind::StartTurn => Command::StartTurn,
            // Without a handle most ends are the end of the run, and there is little more to see of it.
            Kind::EndTurn if run.handle().is_none() && self.which > 0 => {
                Command::Observe { turn, observations: self.observations() }
            }
            Kind::EndTurn => Command::EndTurn { turn, observations: Vec::new(), end: self.turn_end() },
            Kind::EndOtherTurn => Command::EndTurn {
                turn: turn.wrapping_sub(1),
                observations: Vec::new(),
                end: self.turn_end(),
            },
            Kind::Observe => Command::Observe { turn, observations: self.observations() },
            Kind::Reply => Command::Reply(self.reply(run)),
            Kind::Expire => Command::Expire(self.question(run)),
            Kind::Cancel => Command::Cancel(if self.how.is_multiple_of(2) { By::USER } else { By::SYSTEM }),
            Kind::EndProcess => {
                let other = Process { pid: 7 + u32::from(self.which % 2), started: 1 };
                let process = run.process().filter(|_| self.which < 5).unwrap_or(other);
                Command::ReportProcessEnded { process, loadable: !self.how.is_multiple_of(4) }
            }
            Kind::Recover => Command::Recover(self.survey()),
            Kind::Request => Command::RequestContract(self.request(run)),
            Kind::Dispatch => Command::DispatchContract(self.contract(run)),
            Kind::Report => Command::ReportContract { id: self.contract(run), report: self.report() },
            Kind::Settle if self.how % 4 == 3 => {
                Command::CancelContract { id: self.contract(run), by: By::USER }
            }
            Kind::Settle => {
                let (id, happened) = (self.contract(run), self.how.is_multiple_of(2));
                Command::SettleContract { id, happened, note: None, by: By::USER }
            }
            Kind::CreateAgain => self.create(world),
            Kind::Create => return (new, self.create(world)),
        };
        (run.id(), command)
    }

    /// Mostly something that fits the status of the run, sometimes anything.
    fn kind(self, run: &Run) -> Kind {
        let fitting: &[Kind] = match run.status() {
            _ if self.what % 8 > 4 => ANYTHING,
            RunStatus::Queued => WHILE_QUEUED,
            RunStatus::Running => WHILE_RUNNING,
            RunStatus::WaitingUser => WHILE_WAITING,
            RunStatus::Succeeded | RunStatus::Failed | RunStatus::Canceled => ANYTHING,
        };
        pick(fitting, self.what / 8).expect("there are some")
    }

    /// A run that is not over, or sometimes any.
    fn run(self, world: &World) -> Option<&Run> {
        let living: Vec<_> = world.runs.values().filter(|run| !run.status().is_terminal()).collect();
        let all: Vec<_> = world.runs.values().collect();
        pick(if self.run < 5 { &living } else { &all }, self.run)
    }

    /// The creation of a run of any kind, which continues another one if that has ended.
    fn create(self, world: &World) -> Command {
        let bit = |place: u8| self.how >> place & 1 == 1;
        let mode = if bit(0) { ExecutionMode::Auto } else { ExecutionMode::Interactive };
        let ended: Vec<_> = world.runs.values().filter(|run| run.status().is_terminal()).collect();
        let continues = pick(&ended, self.which).map(|run| Continued {
            run_id: run.id(),
            root: run.root(),
            handle: run.handle().map(str::to_owned),
        });
        let spec = RunSpec {
            profile: if bit(1) { Profile::StickyProcess } else { Profile::Resumable },
            strict: if bit(2) { Strict::Off } else { Strict::On },
            resumes_by: if bit(3) { ResumesBy::Journal } else { ResumesBy::Handle },
            max_attempt: [None, None, Some(1), Some(2)][usize::from(self.how >> 4 & 3)],
            repair_limit: u32::from(self.which % 3),
            session_timeout_sec: SESSION_TIMEOUT_SEC,
            skill: (!bit(6)).then(|| "skill".to_owned()),
            roundtable: bit(7).then(|| RoundtableId::from_bits(1)),
            continues,
            ..RunSpec::new("engine", mode)
        };
        let key = (self.which > 2)
            .then(|| ReplyKey { key: "create".to_owned(), digest: (self.how % 2).to_string() });
        Command::Create(Create { spec, key })
    }

    fn turn_end(self) -> TurnEnd {
        match self.how % 16 {
            0..=10 => {
                let evidence = pick(&EVIDENCE, self.how / 16).expect("there is some");
                TurnEnd::Completed(Box::new(evidence))
            }
            11..=12 => TurnEnd::Suspended,
            13..=14 => TurnEnd::NeedsPermission(vec![permission(self.which), permission(self.how / 16)]),
            _ => TurnEnd::Failed(RunError { code: ErrorCode::EngineExitNonzero, message: "1".to_owned() }),
        }
    }

    fn observations(self) -> Vec<Observation> {
        let process = Process { pid: 7 + u32::from(self.which % 2), started: 1 };
        let all = [
            Observation::Handle(format!("handle {}", self.which % 2)),
            Observation::Process(process),
            Observation::Message { text: "hello".to_owned(), raw: None },
            Observation::Reasoning { text: "hm".to_owned(), raw: None },
            Observation::ToolCall { name: "ls".to_owned(), detail: json!({}), raw: None },
            Observation::CommandExecution { command: "ls".to_owned(), detail: Value::Null, raw: None },
            Observation::Usage(Usage {
                input_tokens: u64::MAX / 2,
                output_tokens: 1,
                cost_usd: Some(f64::from(self.how) / 7.0),
            }),
        ];
        // Half of all reports hold what a wait needs.
        let bits = if self.how.is_multiple_of(2) { self.how | 0b11 } else { self.how };
        all.into_iter().enumerate().filter(|(place, _)| bits >> place & 1 == 1).map(|(_, one)| one).collect()
    }

    fn reply(self, run: &Run) -> Reply {
        let actions = [None, Some(Action::Approve), Some(Action::Reject), Some(Action::Edit)];
        let answers = [
            json!("yes"),
            json!({"n": self.which % 2}),
            json!("happened"),
            json!("did_not_happen"),
            json!({"value": "cancel_run", "note": "nobody knows"}),
            json!(true),
            json!(""),
            json!("a"),
        ];
        let key = (self.how >= 0b1010_0000).then(|| ReplyKey {
            key: format!("reply {}", self.which % 3),
            digest: (self.how % 2).to_string(),
        });
        Reply {
            interaction_id: self.question(run),
            response: pick(&answers, self.how / 4).expect("there are some"),
            action: actions[usize::from(self.how % 4)],
            by: By::USER,
            key,
            edited_id: fresh_id(run),
            edited_key: None,
        }
    }

    /// Mostly an open question, sometimes any, sometimes none.
    fn question(self, run: &Run) -> InteractionId {
        let open: Vec<_> = run.open_interactions().map(|interaction| interaction.interaction_id).collect();
        match pick(&open, self.which) {
            Some(id) if self.which < 5 => id,
            Some(_) | None => InteractionId(u32::from(self.which)),
        }
    }

    fn contract(self, run: &Run) -> ExecutionId {
        let (living, ended): (Vec<_>, Vec<_>) =
            run.contracts().partition(|contract| !contract.status.is_terminal());
        let ids: Vec<_> = living.into_iter().chain(ended).map(|one| one.spec.execution_id).collect();
        pick(&ids, self.which).unwrap_or(ExecutionId::from_bits(0))
    }

    fn survey(self) -> Survey {
        // Mostly intact, since a run that lost something has nothing more to show.
        let lost = self.how % 32;
        Survey { engine: lost != 1, workspace: lost != 2, handle: lost != 3 }
    }

    fn request(self, run: &Run) -> RequestContract {
        let form = self.how.is_multiple_of(4);
        let question = pick(&QUESTIONS, self.which).expect("there are some");
        let arguments = json!({"n": self.which % 2});
        let action = if form {
            ContractAction::EcsRequest(question)
        } else {
            let call = ToolCall {
                service: "mail".to_owned(),
                method: "send".to_owned(),
                arguments: arguments.clone(),
            };
            ContractAction::ToolCall(call)
        };
        let scope = KeyScope::ALL[usize::from(self.how >> 2 & 3)];
        let spec = ContractSpec {
            execution_id: fresh_id(run),
            action,
            irreversible: !form && self.how >> 4 & 1 == 0,
            idempotency_key: IdempotencyKey::of("mail", "send", &arguments),
            scope: run.scope(scope),
            timeout_seconds: match self.which {
                0..=3 => None,
                4 => Some(SESSION_TIMEOUT_SEC / 4),
                _ => Some(SESSION_TIMEOUT_SEC * 2),
            },
            edited_from: None,
            call_ref: None,
            definition: None,
        };
        let approval = (self.how % 4 > 1).then(|| Question::confirm("May it?"));
        RequestContract { turn: run.turn(), spec, approval }
    }

    fn report(self) -> ContractReport {
        match self.how % 5 {
            4 => ContractReport::NeedsInput {
                question: Box::new(pick(&QUESTIONS, self.which).expect("there are some")),
                state: json!({"step": self.which}),
            },
            0 => ContractReport::Succeeded(json!({"sent": true})),
            1 => ContractReport::Failed("no".to_owned()),
            2 => ContractReport::Rejected("never".to_owned()),
            _ => ContractReport::Lost("timeout".to_owned()),
        }
    }
}

/// The `index`-th of `all`, however many there are.
fn pick<T: Clone>(all: &[T], index: u8) -> Option<T> {
    all.get(usize::from(index).checked_rem(all.len())?).cloned()
}

/// An id that no contract has, of this run or of another.
pub(crate) fn fresh_id(run: &Run) -> ExecutionId {
    ExecutionId::from_bits((run.id().bits() << 32) + run.contracts().count() as u128 + 1)
}

static QUESTIONS: LazyLock<Vec<Question>> = LazyLock::new(|| {
    let with_default = Question { default: Some(json!("b")), ..Question::open_text("What?") };
    let null_default = Question { default: Some(Value::Null), ..Question::confirm("Sure?") };
    let options = vec![Choice::new("a", "A"), Choice::new("b", "B")];
    vec![Question::open_text("Why?"), with_default, Question::choose_one("Which?", options), null_default]
});

/// Turns of every kind: done, wrongly done, asking, asking badly, saying nothing, and looking done.
static EVIDENCE: LazyLock<Vec<Evidence>> = LazyLock::new(|| {
    let schema = Schema::compile(&json!({"type": "object", "required": ["n"]})).unwrap();
    let texts = [
        r#"{"__SKILL_DONE__": false, "message": "Why?"}"#,
        r#"{"__SKILL_DONE__": true, "n": 1}"#,
        r#"{"__SKILL_DONE__": true}"#,
        r#"{"ask_user": {"prompt": "Which?", "options": ["a", "b"], "default": null}}"#,
        r#"{"ask_user": 5}"#,
        r#"{"n": 1}"#,
        "",
        "I wonder.",
    ];
    let read = |schema: Option<&Schema>| texts.map(|text| Evidence::read(text, schema));
    read(Some(&schema)).into_iter().chain(read(None)).collect()
});

/// One of a few permissions: an agent asks for the same thing more than once.
pub(crate) fn permission(which: u8) -> PermissionRequest {
    let options = vec![Choice::new("allow", "Allow"), Choice::new("reject", "Reject")];
    PermissionRequest {
        digest: IdempotencyKey::of("agent", "write", &json!(which % 3)),
        question: Question::choose_one("May I?", options),
    }
}
