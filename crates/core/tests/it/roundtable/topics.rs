//! Topics: how far they are covered is computed, and they only ever get on.

use adjourn_core::machines::TopicStatus;
use adjourn_core::roundtable::{DoneWhen, TopicId};
use serde_json::json;

use super::table::{Table, amend, create, withdraw};

#[test]
fn the_first_criterion_that_is_covered_makes_a_topic_partial() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &[])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Open, "an artifact alone covers nothing");
    table.round(vec![create("requirement", "users", &["personas"])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Partial);
    assert_eq!(table.topic_status("payment"), TopicStatus::Open);
}

#[test]
fn a_partial_topic_closes_when_the_last_criterion_is_covered() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["personas"])]);
    table.round(vec![create("requirement", "users", &["goals"])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Closed);
    let topic = &table.table.topics()[0];
    assert_eq!(topic.moves, [(1, TopicStatus::Partial), (2, TopicStatus::Closed)]);
}

#[test]
fn a_topic_closes_in_one_round_when_everything_is_there() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["personas", "goals"])]);
    assert_eq!(table.table.topics()[0].moves, [(1, TopicStatus::Closed)]);
}

#[test]
fn a_topic_needs_enough_artifacts_in_force_as_well() {
    let mut table = Table::with(|spec| spec.agenda[0].done_when.min_artifacts = 2);
    table.round(vec![create("requirement", "users", &["personas", "goals"]), create("idea", "payment", &[])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Partial);
    table.round(vec![create("risk", "users", &[]), withdraw("RISK-001")]);
    assert_eq!(table.topic_status("users"), TopicStatus::Partial, "what is withdrawn does not count");
    table.round(vec![create("risk", "users", &[])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Closed);
}

#[test]
fn min_requirements_counts_requirements_in_force_and_nothing_else() {
    let mut table = Table::with(|spec| spec.agenda[0].done_when.min_requirements = 2);
    table.round(vec![create("requirement", "users", &["personas", "goals"]), create("risk", "users", &[])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Partial, "a risk is no requirement");
    table.round(vec![create("requirement", "users", &[]), amend("REQ-001", "better")]);
    assert_eq!(table.topic_status("users"), TopicStatus::Closed, "an amended requirement counts");
}

#[test]
fn a_roundtable_of_before_goes_on_counting_every_kind() {
    let journaled = json!({ "criteria": [], "min_requirements": 2 });
    let done_when: DoneWhen = serde_json::from_value(journaled).unwrap();
    assert_eq!((done_when.min_artifacts, done_when.min_requirements), (2, 0));
    let mut table = Table::with(|spec| spec.agenda[0].done_when = done_when);
    table.round(vec![create("requirement", "users", &[]), create("risk", "users", &[])]);
    assert_eq!(table.topic_status("users"), TopicStatus::Closed);
    // What is written now is read back as it was meant, and shown under the names of the interface.
    let now = DoneWhen { min_requirements: 3, min_artifacts: 1, ..DoneWhen::default() };
    assert_eq!(serde_json::from_value::<DoneWhen>(json!(now)).unwrap(), now);
    let shown =
        &Table::with(|spec| spec.agenda[0].done_when = now).frames()[0].data["agenda"][0]["done_when"];
    assert_eq!((&shown["min_requirements"], &shown["min_artifacts"]), (&json!(3), &json!(1)));
}

#[test]
fn only_what_is_in_force_covers() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["personas"])]);
    table.round(vec![withdraw("REQ-001"), create("requirement", "users", &["goals"])]);
    let coverage = table.table.coverage(&TopicId::new("users")).unwrap();
    assert_eq!(coverage.criteria[0].by, []);
    assert_eq!(coverage.criteria[1].by[0].to_string(), "REQ-002");
    assert_eq!(table.topic_status("users"), TopicStatus::Partial);
}

#[test]
fn a_topic_never_goes_back() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["personas", "goals"])]);
    table.round(vec![withdraw("REQ-001")]);
    assert_eq!(table.topic_status("users"), TopicStatus::Closed);
    assert!(!table.table.coverage(&TopicId::new("users")).unwrap().is_complete());
}

#[test]
fn what_a_facilitator_claims_about_a_topic_changes_nothing() {
    let mut table = Table::standard();
    table.round(vec![json!({ "action": "close_topic", "topic_id": "users" })]);
    assert_eq!(table.topic_status("users"), TopicStatus::Open);
    assert_eq!(table.refused().len(), 1);
}
