//! What an agent is told that takes up its own conversation.

use adjourn_core::roundtable::{Command, Pace, reconciliation};
use serde_json::{Value, json};

use super::table::{Table, amend, conflict, create, supersede, synthesis, withdraw};

fn since(table: &Table, round: u32) -> Value {
    serde_json::to_value(reconciliation(&table.table, round)).unwrap()
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["artifact_id"].as_str().unwrap()).collect()
}

#[test]
fn without_changes_every_list_is_there_and_empty() {
    let mut table = Table::standard();
    table.round(vec![create("idea", "users", &[])]);
    assert_eq!(
        since(&table, 1),
        json!({
            "since_round": 1, "round": 1,
            "artifacts_created": [], "artifacts_updated": [], "artifacts_resolved": [],
            "conflicts_changed": [], "questions_changed": [], "agenda_changes": [],
            "human_decisions": [], "missing": [], "proposals_refused": [],
        })
    );
}

#[test]
fn artifacts_are_told_apart_by_what_became_of_them() {
    let mut table = Table::standard();
    table.round(vec![create("idea", "users", &[]); 4]);
    table.round(vec![
        amend("IDEA-001", "better"),
        withdraw("IDEA-002"),
        supersede("IDEA-003", "IDEA-004"),
        create("risk", "users", &["personas"]),
        amend("IDEA-009", "nothing"),
    ]);
    let told = since(&table, 1);
    assert_eq!(ids(&told["artifacts_created"]), ["RISK-001"]);
    assert_eq!(ids(&told["artifacts_updated"]), ["IDEA-001"]);
    assert_eq!(ids(&told["artifacts_resolved"]), ["IDEA-002", "IDEA-003"]);
    assert_eq!(told["agenda_changes"], json!([{ "topic_id": "users", "round": 2, "status": "partial" }]));
    assert_eq!(
        told["proposals_refused"],
        json!([{ "round": 2, "number": 5, "reason": "there is no artifact `IDEA-009`" }])
    );
    assert_eq!(ids(&since(&table, 0)["artifacts_created"]), ["IDEA-001", "IDEA-004", "RISK-001"]);
}

#[test]
fn who_was_missing_and_what_people_said_is_told() {
    let mut table = Table::with(|spec| {
        spec.pace = Pace::Checkpoints;
        spec.limits.max_rounds_per_conflict = 1;
    });
    table.opens_round().asks("payment");
    table.is_missing("qa");
    table.answers("architect", "cards", 0.9).synthesizes(synthesis(vec![conflict("payment")]));
    table.does(Command::RecordRound);
    table.person(json!("mind the fees"));
    table.round(vec![]);
    table.person(json!("accept"));
    let told = since(&table, 0);
    assert_eq!(told["missing"], json!([{ "round": 1, "role": "qa", "reason": "exit status 1" }]));
    assert_eq!(
        told["human_decisions"],
        json!([
            { "round": 1, "about": [], "decision": "continue", "text": "mind the fees" },
            {
                "round": 2, "about": [{ "conflict_rounds": "CONF-001" }], "decision": "accept",
                "text": "Take cards only.",
            },
        ])
    );
    assert_eq!(
        told["conflicts_changed"],
        json!([{
            "id": "CONF-001", "about": "cards or cash", "status": "resolved", "resolution": "Take cards only.",
        }])
    );
    assert_eq!(since(&table, 1)["human_decisions"].as_array().unwrap().len(), 1);
    assert_eq!(since(&table, 1)["conflicts_changed"].as_array().unwrap().len(), 1, "it was settled since");
}
