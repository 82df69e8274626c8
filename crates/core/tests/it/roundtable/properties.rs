//! Properties of a roundtable under any sequence of commands, sensible or not.

use adjourn_core::roundtable::{
    Ask, ChangeArtifact, Changes, Command, EscalationWish, Limits, NextAction, Pace, PersonChange, Position,
    Purpose, Reply, Role, Roundtable, RoundtableSpec, Stance, Start, Strategy, Synthesis, Todo,
};
use adjourn_core::{By, InteractionId, RunId};
use proptest::prelude::{Just, ProptestConfig, Strategy as Any, any, prop, prop_oneof, proptest};
use serde_json::{Value, json};

use super::table::{
    ROLES, Table, amend, conflict, create, create_as, resolve, revert, said, supersede, synthesis, withdraw,
};
use super::watch::{check, check_stream};

/// Walks that are taken, and their greatest length: together a few seconds in a debug build.
const WALKS: u32 = 500;
const STEPS_MAX: usize = 60;

/// Steps in which a roundtable ends when everybody is helpful: four rounds of five participants, each announced and
/// heard, and a person between the rounds.
const HELPFUL_STEPS_MAX: usize = 4 * (2 * 7 + 3);

/// Something that is tried.
#[derive(Debug, Clone)]
enum Step {
    /// What has to be done next is done, with this in it.
    Advance(Content),
    /// Something is tried that may make no sense.
    Try(Command),
}

/// What agents and people say when they are asked.
#[derive(Debug, Clone)]
struct Content {
    focus: Value,
    position: Position,
    proposals: Vec<Value>,
    next: Option<NextAction>,
    recommendation: Option<String>,
    /// The agent is lost instead.
    lost: bool,
    response: Value,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: WALKS, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_proposals_however_wrong_breaks_a_rule(
        spec in specs(),
        steps in prop::collection::vec(steps(), 1..STEPS_MAX),
    ) {
        let mut table = Table::with(|default| spec.apply(default));
        for step in steps {
            take(&mut table, step);
        }
        help_to_the_end(&mut table);
        check_stream(&table);
    }
}

fn take(table: &mut Table, step: Step) {
    let before = table.table.clone();
    let command = match step {
        Step::Try(command) => Some(command),
        Step::Advance(content) => advance(table, &content),
    };
    let Some(command) = command else { return };
    match table.tries(&command) {
        Ok(events) if events.is_empty() => assert_eq!(before, table.table),
        Ok(_) => check(&before, &table.table),
        Err(_) => assert_eq!(before, table.table, "a refusal changes nothing"),
    }
}

/// Says something sensible whenever something is to be said: then the roundtable ends.
fn help_to_the_end(table: &mut Table) {
    let content = Content {
        focus: Value::Null,
        position: Position { stance: Some(Stance::Support), ..said("yes", 0.9) },
        proposals: Vec::new(),
        next: None,
        recommendation: None,
        lost: false,
        response: json!({ "decision": "continue" }),
    };
    for _ in 0..HELPFUL_STEPS_MAX {
        let before = table.table.clone();
        let mut content = content.clone();
        if table.table.pending().is_some_and(|pending| pending.matter.escalation().is_some()) {
            content.response = json!("discuss");
        }
        let Some(command) = advance(table, &content) else { return };
        table.tries(&command).unwrap_or_else(|refused| panic!("{command:?} should help: {refused}"));
        check(&before, &table.table);
    }
    panic!("the roundtable does not end: {:#?}", table.table);
}

/// The command that does what has to be done next; nothing when all is over.
fn advance(table: &mut Table, content: &Content) -> Option<Command> {
    match table.table.todo() {
        Todo::Nothing => None,
        Todo::OpenRound => Some(Command::OpenRound),
        Todo::RecordRound => Some(Command::RecordRound),
        Todo::Wait(_) => Some(Command::Reply(table.reply(content.response.clone()))),
        Todo::Agents { to_start, at_work } => match (to_start.first(), at_work.first()) {
            (Some(purpose), _) => {
                let (purpose, run_id) = (purpose.clone(), table.fresh_run());
                Some(Command::StartActivation { purpose, run_id, start: Start::Fresh })
            }
            (None, Some(&run_id)) if content.lost => {
                Some(Command::ReportLost { run_id, reason: "lost".to_owned() })
            }
            (None, Some(&run_id)) => Some(report(&table.table, run_id, content)),
            (None, None) => panic!("nothing is to be done, and it is not over"),
        },
    }
}

/// What a run says that is at work.
fn report(table: &Roundtable, run_id: RunId, content: &Content) -> Command {
    let round = table.current().unwrap();
    let activation = round.activations.iter().find(|activation| activation.run_id == run_id).unwrap();
    match activation.purpose {
        Purpose::Ask => Command::RecordFocus { run_id, ask: ask(content.focus.clone()) },
        Purpose::Answer(_) => Command::RecordAnswer { run_id, said: content.position.clone() },
        Purpose::Synthesis => {
            let Content { next, recommendation, proposals, .. } = content.clone();
            let synthesis = Synthesis { next, recommendation, ..synthesis(proposals) };
            Command::RecordSynthesis { run_id, synthesis }
        }
    }
}

fn ask(focus: Value) -> Ask {
    serde_json::from_value(json!({ "focus": focus, "question": "Well?" })).unwrap()
}

/// The table that is walked at.
#[derive(Debug, Clone)]
struct Setting {
    strategy: &'static str,
    pace: Pace,
    limits: Limits,
    participants: usize,
}

impl Setting {
    fn apply(&self, spec: &mut RoundtableSpec) {
        spec.strategy = self.strategy.to_owned();
        spec.pace = self.pace;
        spec.limits = self.limits;
        let seats = ROLES[..self.participants].iter();
        spec.participants =
            seats.map(|role| adjourn_core::roundtable::Seat::participant(*role, "engine")).collect();
    }
}

fn specs() -> impl Any<Value = Setting> {
    let strategies: Vec<_> = Strategy::ALL.iter().map(|strategy| strategy.name).collect();
    let rounds = (1..=3u32, 0..=1u32, 1..=2u32, 0..=2u32);
    let pace = prop_oneof![Just(Pace::Continuous), Just(Pace::Checkpoints)];
    (prop::sample::select(strategies), pace, rounds, 2..=5usize).prop_map(
        |(strategy, pace, (min_rounds, more, max_rounds_per_conflict, cooldown), participants)| {
            let limits = Limits {
                min_rounds,
                max_rounds: min_rounds + more,
                max_rounds_per_conflict,
                escalation_cooldown_rounds: cooldown,
                ..Limits::default()
            };
            Setting { strategy, pace, limits, participants }
        },
    )
}

fn steps() -> impl Any<Value = Step> {
    prop_oneof![
        12 => contents().prop_map(Step::Advance),
        3 => commands().prop_map(Step::Try),
    ]
}

fn contents() -> impl Any<Value = Content> {
    let next = prop::option::of(prop::sample::select(NextAction::ALL));
    let stance = prop::option::weighted(0.9, prop::sample::select(Stance::ALL));
    let recommendation = prop::option::of(Just("do it".to_owned()));
    let lost = prop::bool::weighted(0.08);
    (focuses(), 0..=10u32, stance, proposals(), next, recommendation, lost, responses()).prop_map(
        |(focus, tenths, stance, proposals, next, recommendation, lost, response)| {
            let position = Position { stance, ..said("so", f64::from(tenths) / 10.0) };
            Content { focus, position, proposals, next, recommendation, lost, response }
        },
    )
}

fn focuses() -> impl Any<Value = Value> {
    let focus = |kind: &'static str, id: &'static str| Just(json!({ "kind": kind, "id": id }));
    prop_oneof![
        focus("topic", "users"),
        focus("topic", "payment"),
        focus("topic", "moon"),
        focus("conflict", "CONF-001"),
        focus("conflict", "no. 1"),
        focus("question", "OQ-001"),
        Just(Value::Null),
    ]
}

fn responses() -> impl Any<Value = Value> {
    let words = ["continue", "accept", "own_decision", "discuss", "think again", ""].map(|word| json!(word));
    let mut all = words.to_vec();
    all.extend([json!({ "decision": "own_decision", "text": "mine" }), json!({}), json!(5), json!(null)]);
    prop_oneof![20 => prop::sample::select(all), 1 => Just(json!("conclude")), 1 => Just(json!("close"))]
}

/// Proposals in any order: new things, changes of what may or may not be there, and nonsense.
fn proposals() -> impl Any<Value = Vec<Value>> {
    let name = || {
        let names = ["REQ-001", "REQ-002", "REQ-003", "DEC-001", "RISK-001", "a", "b", "REQ-999", "?"];
        prop::sample::select(names.to_vec())
    };
    let new = (prop::sample::select(vec!["requirement", "decision", "risk"]), 0..4usize).prop_map(
        |(kind, covers)| match covers {
            0 => create(kind, "users", &["personas"]),
            1 => create(kind, "users", &["goals"]),
            2 => create(kind, "payment", &["methods"]),
            _ => create(kind, "payment", &[]),
        },
    );
    let agreed = new.clone().prop_map(|mut proposal| {
        proposal["agreement"] = json!("consensus");
        proposal
    });
    let labelled = (prop::sample::select(vec!["a", "b", "REQ-001"]), Just("requirement"))
        .prop_map(|(label, kind)| create_as(label, kind, "users"));
    let nonsense = prop::sample::select(vec![
        json!(null),
        json!([]),
        json!({ "action": "close_topic", "topic_id": "users" }),
        create("requirement", "moon", &[]),
        create("requirement", "users", &["methods"]),
        json!({ "action": "resolve_question", "question": "OQ-001", "resolution": "yes" }),
        json!({ "action": "open_question", "text": "Who?", "asked_by": "qa" }),
        json!({ "action": "open_question", "text": "Who?", "asked_by": "wizard" }),
    ]);
    let one = prop_oneof![
        3 => new,
        1 => agreed,
        1 => labelled,
        2 => (name(), "[xyz]").prop_map(|(name, body)| amend(name, &body)),
        1 => name().prop_map(revert),
        2 => (name(), name()).prop_map(|(old, new)| supersede(old, new)),
        1 => name().prop_map(withdraw),
        1 => prop::sample::select(vec!["users", "payment"]).prop_map(conflict),
        1 => prop::sample::select(vec!["CONF-001", "CONF-002", "?"]).prop_map(resolve),
        1 => nonsense,
    ];
    prop::collection::vec(one, 0..6)
}

/// Changes of artifacts by a person, most of which the table takes.
fn person_changes() -> impl Any<Value = ChangeArtifact> {
    let id = || prop::sample::select(vec!["REQ-001", "REQ-002", "DEC-001", "RISK-001"]);
    let change = prop_oneof![
        "[xyz]".prop_map(|body| PersonChange::Amend(Changes { body: Some(body), ..Changes::default() })),
        Just(PersonChange::Revert),
        id().prop_map(|by| PersonChange::Supersede { by: by.parse().unwrap() }),
        Just(PersonChange::Withdraw),
    ];
    (id(), change).prop_map(|(id, change)| ChangeArtifact {
        artifact_id: id.parse().unwrap(),
        change,
        reason: "a person wants it so".to_owned(),
        by: By::USER,
        key: None,
    })
}

/// Commands at any time, from anybody, about any run.
fn commands() -> impl Any<Value = Command> {
    let run = || (1..30u128).prop_map(RunId::from_bits);
    let purpose = prop_oneof![
        Just(Purpose::Ask),
        Just(Purpose::Synthesis),
        prop::sample::select(ROLES).prop_map(|role| Purpose::Answer(Role::new(role))),
    ];
    let wish = Just(EscalationWish { by: By::USER, note: None });
    prop_oneof![
        3 => Just(Command::OpenRound),
        3 => Just(Command::RecordRound),
        3 => (purpose, any::<u64>()).prop_map(|(purpose, run)| Command::StartActivation {
            purpose,
            // Beyond those that are announced in order.
            run_id: RunId::from_bits(u128::from(run) + 1000),
            start: Start::Fresh,
        }),
        3 => (run(), focuses()).prop_map(|(run_id, focus)| Command::RecordFocus { run_id, ask: ask(focus) }),
        3 => run().prop_map(|run_id| Command::RecordAnswer { run_id, said: said("me too", 0.4) }),
        3 => (run(), proposals()).prop_map(|(run_id, proposals)| Command::RecordSynthesis {
            run_id,
            synthesis: synthesis(proposals),
        }),
        2 => run().prop_map(|run_id| Command::ReportLost { run_id, reason: "gone".to_owned() }),
        3 => (1..4u32, responses()).prop_map(|(id, response)| Command::Reply(Reply {
            interaction_id: InteractionId(id),
            response,
            by: By::USER,
            key: None,
        })),
        3 => wish.prop_map(Command::Escalate),
        2 => person_changes().prop_map(|wanted| Command::ChangeArtifact(Box::new(wanted))),
        1 => Just(Command::Close(By::USER)),
        1 => Just(Command::Fail { problem: "no disk".to_owned() }),
    ]
}
