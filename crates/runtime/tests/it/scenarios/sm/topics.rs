//! How far topics get.

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::table::{Table, artifact, synthesis};

fn statuses(table: &Table<'_>) -> Vec<String> {
    table.state().topics().iter().map(|topic| topic.status.to_string()).collect()
}

/// The moves of topics, as the stream tells them.
fn moves(table: &Table<'_>) -> Vec<(String, String, String)> {
    let word = |data: &Value, key: &str| data[key].as_str().unwrap().to_owned();
    let frames = table.frames().into_iter().filter(|frame| frame.kind.name() == "topic.changed");
    frames.map(|it| (word(&it.data, "topic_id"), word(&it.data, "from"), word(&it.data, "to"))).collect()
}

#[test]
fn sm_10_a_topic_is_partial_with_its_first_covered_criterion() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    assert_eq!(statuses(&table), ["partial", "open"]);
}

#[test]
fn sm_11_a_partial_topic_is_closed_when_all_criteria_are_met_and_there_are_enough_artifacts() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users", "limits"])]));
    stage.plays("close-2", &synthesis(&[artifact("scope", "limits", &["limits"])]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    assert_eq!(statuses(&table), ["partial", "open"], "all criteria are covered, by one artifact of two");
    table.reply(json!("continue")).unwrap();
    table.records(2);
    assert_eq!(statuses(&table), ["closed", "open"]);
}

#[test]
fn sm_12_a_topic_is_closed_in_one_round() {
    let stage = Stage::of_players("");
    let both = [artifact("scope", "users", &["users"]), artifact("scope", "limits", &["limits"])];
    stage.plays("close-1", &synthesis(&both));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    assert_eq!(statuses(&table), ["closed", "open"]);
    assert_eq!(moves(&table), [("scope".to_owned(), "open".to_owned(), "closed".to_owned())]);
}
