//! Opening: what cannot be held is refused, and everything that is wrong is said at once.

use adjourn_core::roundtable::{
    Command, Confidence, CriterionId, DoneWhen, Open, PARTICIPANTS_MAX, ROUNDS_MAX, Refusal, Role, Seat,
    Side, Todo,
};
use adjourn_core::{FieldError, RefusalKind};

use super::table::{Table, known_roles, spec, topic};

/// What is wrong with the roundtable, as `path: message`.
fn problems(change: impl FnOnce(&mut adjourn_core::roundtable::RoundtableSpec)) -> Vec<String> {
    match Table::try_with(change) {
        Ok(_) => Vec::new(),
        Err(Refusal::Invalid(problems)) => problems.iter().map(FieldError::to_string).collect(),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_roundtable_begins_with_nothing_settled_and_a_round_to_be_opened() {
    let table = Table::standard();
    assert_eq!(table.table.todo(), Todo::OpenRound);
    assert_eq!(table.table.unsettled().topics.len(), 2);
    assert_eq!(table.frames().len(), 1);
}

#[test]
fn an_agenda_without_topics_is_refused() {
    assert_eq!(
        problems(|spec| spec.agenda.clear()),
        ["/agenda: has no topic, a roundtable needs at least one"]
    );
}

#[test]
fn topics_and_criteria_have_names_of_their_own_and_ask_for_something() {
    let found = problems(|spec| {
        let mut twice = topic("users", &["goals"], 0);
        twice.done_when.criteria.push(twice.done_when.criteria[0].clone());
        twice.done_when.criteria[0].text.clear();
        spec.agenda.push(twice);
        spec.agenda.push(topic("", &[], 0));
        spec.agenda[1].done_when = DoneWhen::default();
        spec.agenda[1].title = " ".to_owned();
    });
    assert_eq!(
        found,
        [
            "/agenda/1/title: is blank, it should be some text",
            "/agenda/1/done_when: asks for nothing: it needs a criterion, or min_requirements or min_artifacts of at least 1",
            "/agenda/2/topic_id: `users` names two topics",
            "/agenda/2/done_when/criteria/0/text: is blank, it should be some text",
            "/agenda/2/done_when/criteria/1/id: `goals` names two criteria",
            "/agenda/3/topic_id: is blank, it should be some text",
            "/agenda/3/done_when: asks for nothing: it needs a criterion, or min_requirements or min_artifacts of at least 1",
        ]
    );
}

#[test]
fn limits_that_contradict_each_other_are_refused() {
    assert_eq!(
        problems(|spec| (spec.limits.min_rounds, spec.limits.max_rounds) = (4, 3)),
        ["/limits/min_rounds: is 4, more than max_rounds, which is 3"]
    );
    assert_eq!(
        problems(|spec| spec.limits.min_rounds = 0),
        ["/limits/min_rounds: is 0, a roundtable has at least one round"]
    );
    let found = problems(|spec| {
        spec.limits.max_rounds = ROUNDS_MAX + 1;
        spec.limits.max_rounds_per_conflict = 0;
    });
    assert_eq!(
        found,
        [
            "/limits/max_rounds: is 101, at most 100 are possible",
            "/limits/max_rounds_per_conflict: is 0, a conflict takes at least one round",
        ]
    );
    assert_eq!(problems(|spec| (spec.limits.min_rounds, spec.limits.max_rounds) = (3, 3)), [""; 0]);
}

#[test]
fn unknown_roles_are_refused_with_the_known_ones() {
    let found = problems(|spec| {
        for role in ["wizard", "architect", "facilitator"] {
            spec.participants.push(Seat::participant(role, "engine"));
        }
    });
    assert_eq!(
        found,
        [
            "/participants/2/role: `wizard` is not one of architect, ops, product, qa, security",
            "/participants/3/role: `architect` sits there already",
            "/participants/4/role: `facilitator` leads the table and takes no other seat",
        ]
    );
    assert_eq!(
        problems(|spec| spec.participants.clear()),
        ["/participants: is empty, a roundtable needs at least one participant"]
    );
    let crowd = problems(|spec| {
        spec.participants = vec![Seat::participant("qa", "engine"); PARTICIPANTS_MAX + 1];
    });
    assert_eq!(crowd[0], "/participants: has 21 roles, at most 20 are possible");
    assert_eq!(
        problems(|spec| spec.facilitator.role = Role::new("boss")),
        ["/facilitator/role: is `boss`, it should be `facilitator`"]
    );
}

#[test]
fn an_unknown_strategy_is_refused_with_the_known_ones() {
    let found = problems(|spec| spec.strategy = "brawl".to_owned());
    assert_eq!(
        found,
        ["/strategy: `brawl` is not one of standard, debate, disney, consensus-driven, six-hats"]
    );
}

#[test]
fn a_debate_needs_both_sides_and_nothing_else_has_any() {
    let found = problems(|spec| {
        spec.strategy = "debate".to_owned();
        spec.participants.truncate(1);
    });
    assert_eq!(found, ["/participants: nobody speaks `against`, and a debate needs both"]);
    let found = problems(|spec| spec.participants[1].side = Some(Side::For));
    assert_eq!(found, ["/participants/1/side: the strategy `standard` has no sides"]);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let found = problems(|spec| {
        spec.subject.clear();
        spec.agenda.clear();
        spec.participants.clear();
        spec.strategy = String::new();
    });
    assert_eq!(found.len(), 4);
}

#[test]
fn a_confidence_is_a_number_from_0_to_1() {
    for good in [0.0, 0.5, 1.0] {
        assert_eq!(Confidence::new(good).map(Confidence::value), Ok(good));
    }
    for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        assert!(Confidence::new(bad).is_err());
    }
    let read = serde_json::from_str::<Confidence>("1.5").unwrap_err();
    assert!(read.to_string().contains("a confidence is a number from 0 to 1, not 1.5"));
}

#[test]
fn a_roundtable_is_opened_once_and_nothing_else_is_asked_of_one_that_is_not() {
    let mut table = Table::standard();
    let open = Open { spec: spec(), known_roles: known_roles(), key: None };
    let refused = table.tries(&Command::Open(Box::new(open))).unwrap_err();
    assert_eq!(refused, Refusal::RoundtableExists(table.table.id()));
    let refused = adjourn_core::roundtable::Roundtable::open(
        table.table.id(),
        &Command::OpenRound,
        super::table::now(),
    );
    assert_eq!(refused.unwrap_err().kind(), RefusalKind::NotFound);
}

#[test]
fn limits_that_nobody_names_are_those_of_the_interface() {
    let mut json = serde_json::to_value(spec()).unwrap();
    json["limits"] = serde_json::json!({ "max_rounds": 5 });
    let spec: adjourn_core::roundtable::RoundtableSpec = serde_json::from_value(json).unwrap();
    assert_eq!(
        serde_json::to_value(spec.limits).unwrap(),
        serde_json::json!({
            "min_rounds": 3, "max_rounds": 5, "max_rounds_per_conflict": 3, "confidence_below": 0.5,
            "escalation_cooldown_rounds": 1,
        })
    );
    assert_eq!(spec.agenda[0].done_when.criteria[0].id, CriterionId::new("personas"));
}
