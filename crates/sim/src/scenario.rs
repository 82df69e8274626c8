//! The ways of single runs whose every crash is tried out.

use adjourn_core::roundtable::{
    Criterion, CriterionId, Document, DoneWhen, Limits, Pace, RoundtableSpec, Seat, TopicId, TopicSpec,
};
use adjourn_core::{ExecutionMode, Profile, RunSpec, Strict};
use adjourn_kernel::Slots;

use crate::plan::{
    Act, Agents, Call, Crashes, End, Faults, Goes, Medium, Person, Plan, RoundtablePlan, RunPlan,
};

/// A run without chance: it goes the same way each time, up to where it is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Asks, is answered, ends.
    Pause,
    /// Its result is repaired.
    Repair,
    /// Makes an irreversible call that a person allows.
    Approval,
    /// Makes an irreversible call that nobody has to allow.
    Call,
    /// Is canceled while its turn goes on.
    Cancel,
    /// Asks, and nobody answers in time.
    Expiry,
    /// Asks and is answered in a process that stays.
    Sticky,
    /// Wants two permissions in a process that stays, and waits for them in its turn.
    Permissions,
    /// Makes an irreversible call that a person allows, and whose tool then wants to know something.
    Elicitation,
    /// Three runs that continue each other, each of which makes the same irreversible call, asks, and makes it again; at
    /// each restart everything is pruned that may go.
    Chain,
    /// A roundtable of a facilitator and two participants holds two rounds, with a question to a person after the first; at
    /// each restart everything is pruned that may go.
    Roundtable,
    /// A roundtable is closed by a person while the run of an agent is being created.
    ClosedRoundtable,
}

impl Scenario {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Pause,
        Self::Repair,
        Self::Approval,
        Self::Call,
        Self::Cancel,
        Self::Expiry,
        Self::Sticky,
        Self::Permissions,
        Self::Elicitation,
        Self::Chain,
        Self::Roundtable,
        Self::ClosedRoundtable,
    ];

    /// The plan, without any crash.
    pub fn plan(self) -> Plan {
        let work = [Act::Handle, Act::Work(50), Act::Say];
        let attempt = |rest: &[Act]| [&work[..], rest].concat();
        let done = attempt(&[Act::End(End::Done)]);
        let call = |approval| {
            let call = Call { number: 0, irreversible: true, everywhere: false, approval, goes: Goes::Well };
            attempt(&[Act::Call(call), Act::End(End::Done)])
        };
        let attempts = match self {
            Self::Pause | Self::Expiry | Self::Sticky => vec![attempt(&[Act::End(End::Ask)]), done],
            Self::Permissions => vec![attempt(&[Act::Permissions(2), Act::End(End::Done)]), done],
            Self::Repair => vec![attempt(&[Act::End(End::DoneWrong)])],
            Self::Approval => vec![call(true), done],
            Self::Call => vec![call(false)],
            Self::Elicitation => {
                let call = Call {
                    number: 0,
                    irreversible: true,
                    everywhere: false,
                    approval: true,
                    goes: Goes::Asks,
                };
                vec![attempt(&[Act::Call(call), Act::End(End::Done)]), done]
            }
            // Their runs are created as they need them.
            Self::Roundtable | Self::ClosedRoundtable => Vec::new(),
            Self::Cancel => vec![attempt(&[Act::Work(60_000), Act::End(End::Done)])],
            Self::Chain => {
                let same = Call {
                    number: 0,
                    irreversible: true,
                    everywhere: false,
                    approval: false,
                    goes: Goes::Well,
                };
                vec![
                    attempt(&[Act::Call(same), Act::End(End::Ask)]),
                    attempt(&[Act::Call(same), Act::End(End::Done)]),
                ]
            }
        };
        let strict = if self == Self::Expiry { Strict::Off } else { Strict::On };
        let profile = match self {
            Self::Sticky | Self::Permissions => Profile::StickyProcess,
            Self::Pause
            | Self::Repair
            | Self::Approval
            | Self::Call
            | Self::Cancel
            | Self::Expiry
            | Self::Elicitation
            | Self::Chain
            | Self::Roundtable
            | Self::ClosedRoundtable => Profile::Resumable,
        };
        let run = RunPlan {
            at_ms: 0,
            spec: RunSpec {
                strict,
                profile,
                session_timeout_sec: 30,
                ..RunSpec::new("exec", ExecutionMode::Interactive)
            },
            continues: None,
            key: Some("create".to_owned()),
            asks: 1,
            asks_every_ms: 0,
            cancel_after_ms: (self == Self::Cancel).then_some(1000),
            attempts,
            person: if self == Self::Expiry { Person::Absent } else { Person::Prompt },
        };
        let (runs, roundtables) = match self {
            Self::Chain => (chain_of(&run), Vec::new()),
            Self::Roundtable => (Vec::new(), vec![roundtable(None)]),
            Self::ClosedRoundtable => (Vec::new(), vec![roundtable(Some(CLOSE_AFTER_MS))]),
            Self::Pause
            | Self::Repair
            | Self::Approval
            | Self::Call
            | Self::Cancel
            | Self::Expiry
            | Self::Sticky
            | Self::Permissions
            | Self::Elicitation => (vec![run], Vec::new()),
        };
        let has_prunes = matches!(self, Self::Chain | Self::Roundtable);
        Plan {
            seed: 0,
            slots: Slots { total: 1, ..Slots::default() },
            warm_max: 2048,
            runs,
            roundtables,
            faults: Faults { prune: u64::from(has_prunes), ..Faults::default() },
            crashes: Crashes::default(),
            calm_at_ms: 120_000,
            medium: Medium::Memory,
            bug: None,
        }
    }
}

/// Three runs, each of which continues the one before if that is still there. They come far enough apart for each to end
/// before the next, also after a crash.
fn chain_of(run: &RunPlan) -> Vec<RunPlan> {
    let nth = |index: usize, at_ms| RunPlan {
        at_ms,
        continues: index.checked_sub(1),
        key: Some(format!("create {index}")),
        // Once more when it has ended, and may be pruned.
        asks: 2,
        asks_every_ms: 60_000,
        ..run.clone()
    };
    vec![nth(0, 0), nth(1, 20_000), nth(2, 40_000)]
}

/// When the roundtable of a scenario is closed: while its facilitator or its first participant is being created.
const CLOSE_AFTER_MS: i64 = 700;

/// A roundtable without chance, whose topic has two criteria: each round covers one.
fn roundtable(close_after_ms: Option<i64>) -> RoundtablePlan {
    let criterion = |id: &str| Criterion { id: CriterionId::new(id), text: "it is said how".to_owned() };
    let topic = TopicSpec {
        topic_id: TopicId::new("scope"),
        title: "What is in scope".to_owned(),
        critical: true,
        done_when: DoneWhen { criteria: vec![criterion("a"), criterion("b")], ..DoneWhen::default() },
    };
    let spec = RoundtableSpec {
        subject: "a shop for bicycles".to_owned(),
        workflow: "specs".to_owned(),
        document: Document::Requirements,
        strategy: "standard".to_owned(),
        limits: Limits { min_rounds: 1, max_rounds: 3, ..Limits::default() },
        agenda: vec![topic],
        facilitator: Seat::facilitator("exec"),
        participants: vec![Seat::participant("architect", "exec"), Seat::participant("tester", "exec")],
        pace: Pace::Checkpoints,
        context: None,
        labels: Default::default(),
    };
    RoundtablePlan {
        at_ms: 0,
        spec,
        key: Some("open".to_owned()),
        asks: 1,
        escalate_after_ms: None,
        close_after_ms,
        // One that is to be closed does not end before.
        person: if close_after_ms.is_some() { Person::Absent } else { Person::Prompt },
        agents: Agents::Reliable,
    }
}
