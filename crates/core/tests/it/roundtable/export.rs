//! What comes out: documents that read well, and nothing from a state that contradicts itself.

use adjourn_core::By;
use adjourn_core::roundtable::{
    Agreement, ArtifactId, ArtifactKind, Command, Document, Event, NewArtifact, Role, RoundtableSpec,
    TopicId, Version, export_json, export_markdown,
};
use serde_json::{Value, json};

use super::table::{Table, amend, conflict, now, supersede, withdraw};

fn artifact(kind: &str, topic: &str, covers: &[&str], title: &str, body: &str) -> Value {
    json!({
        "action": "create_artifact", "kind": kind, "topic_id": topic, "title": title, "body": body,
        "agreement": "consensus", "covers": covers, "proposed_by": "architect", "supported_by": ["qa"],
    })
}

fn agenda(spec: &mut RoundtableSpec) {
    spec.agenda[0].title = "Who it is for".to_owned();
    spec.agenda[0].done_when.criteria[0].text = "The primary users are named".to_owned();
    spec.agenda[0].done_when.criteria[1].text = "What they come for is said".to_owned();
    spec.agenda[1].title = "Payment".to_owned();
    spec.agenda[1].done_when.criteria[0].text = "The ways to pay are decided".to_owned();
}

fn held(document: Document) -> Table {
    let mut table = Table::with(|spec| {
        agenda(spec);
        spec.document = document;
        spec.limits.max_rounds_per_conflict = 1;
    });
    let question = json!({ "action": "open_question", "text": "Who pays for returns?", "asked_by": "qa" });
    table.round(vec![
        artifact("requirement", "users", &["personas"], "Commuters first", "Most buyers ride to work."),
        artifact("decision", "payment", &[], "Cards only", "# Cards\nEverybody has one."),
        artifact("component", "payment", &[], "Checkout", "Takes the money."),
        artifact("idea", "users", &[], "Try before you buy", "A day with any bicycle."),
        artifact("risk", "payment", &[], "Chargebacks", "Some cards bounce."),
        conflict("payment"),
        question,
    ]);
    table.round(vec![
        amend("REQ-001", "Three of four buyers ride to work."),
        artifact("decision", "payment", &["methods"], "Cards and cash", "Both, at the counter."),
        supersede("DEC-001", "DEC-002"),
        withdraw("IDEA-001"),
    ]);
    table.person(json!("cash at the counter only"));
    table.does(Command::Close(By::USER));
    table
}

#[test]
fn a_requirements_document_says_what_has_to_be_built_and_what_is_open() {
    insta::assert_snapshot!(export_markdown(&held(Document::Requirements).table).unwrap());
}

#[test]
fn an_architecture_keeps_a_record_of_each_decision() {
    insta::assert_snapshot!(export_markdown(&held(Document::Architecture).table).unwrap());
}

#[test]
fn a_brainstorm_begins_with_its_ideas() {
    insta::assert_snapshot!(export_markdown(&held(Document::Brainstorm).table).unwrap());
}

#[test]
fn a_table_at_which_nothing_was_said_yet_can_be_exported() {
    let page = export_markdown(&Table::with(agenda).table).unwrap();
    assert!(page.starts_with("# Requirements: a shop for bicycles\n\n- Roundtable: rt_"), "{page}");
    assert!(page.contains("still going on"));
}

#[test]
fn json_holds_everything() {
    let table = held(Document::Requirements);
    let json = export_json(&table.table).unwrap();
    let view = adjourn_core::roundtable::RoundtableView::of(&table.table);
    assert_eq!(json["roundtable"], serde_json::to_value(view).unwrap());
    assert_eq!(json["unsettled"]["topics"], json!(["users"]));
    assert_eq!(json["human_decisions"][0]["text"], json!("cash at the counter only"));
    assert_eq!(json["escalations"][0]["positions"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["document"], json!("requirements"));
}

#[test]
fn a_state_that_contradicts_itself_is_refused_with_all_that_is_wrong() {
    let mut table = Table::standard();
    table.opens_round();
    // What no decision leads to, and a damaged journal might.
    let new = NewArtifact {
        artifact_id: ArtifactId { kind: ArtifactKind::Requirement, number: 1 },
        topic_id: TopicId::new("moon"),
        proposed_by: Role::new("wizard"),
        version: Version {
            title: "magic".to_owned(),
            body: "more magic".to_owned(),
            agreement: Agreement::Draft,
            covers: Vec::new(),
            supported_by: Vec::new(),
        },
    };
    let mut damaged = table.table.clone();
    damaged.apply(now(), &Event::ArtifactCreated(Box::new(new))).unwrap();
    let refused = export_markdown(&damaged).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the roundtable contradicts itself: REQ-001: the topic `moon` is not on the agenda; \
         REQ-001: `wizard` does not sit at this table"
    );
    assert_eq!(export_json(&damaged).unwrap_err(), refused);
}
