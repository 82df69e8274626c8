//! What happens to results.

use adjourn_core::machines::ArtifactStatus;
use adjourn_core::roundtable::{Changes, PersonChange};
use serde_json::json;

use crate::stage::Stage;
use crate::stage::table::{artifact, synthesis};

#[test]
fn sm_05_a_created_artifact_is_active() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let created = table.artifact("REQ-001");
    assert_eq!((created.status, created.round), (ArtifactStatus::Active, 1));
    assert_eq!((created.proposed_by.as_str(), created.version.title.as_str()), ("architect", "users"));
    assert!(table.stream().contains(&"artifact.changed".to_owned()));
}

fn amend(artifact: &str, body: &str) -> serde_json::Value {
    json!({
        "action": "amend_artifact", "artifact": artifact, "body": body, "reason": "it was wrong", "proposed_by": "qa",
    })
}

#[test]
fn sm_06_a_change_in_a_later_round_amends_an_artifact_and_keeps_what_it_was() {
    let stage = Stage::of_players("");
    let created = artifact("scope", "users", &["users"]);
    stage.plays("close-1", &synthesis(&[created, amend("users", "edited at once")]));
    stage.plays("close-2", &synthesis(&[amend("REQ-001", "amended later")]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let edited = table.artifact("REQ-001");
    assert_eq!(
        (edited.status, edited.amendments.len()),
        (ArtifactStatus::Active, 0),
        "its own round only edits it"
    );
    assert_eq!(edited.version.body, "edited at once");
    table.reply(json!("continue")).unwrap();
    table.records(2);
    let amended = table.artifact("REQ-001");
    assert_eq!((amended.status, amended.version.body.as_str()), (ArtifactStatus::Amended, "amended later"));
    assert_eq!(amended.amendments.len(), 1);
    assert_eq!(amended.amendments[0].before, edited.version);
}

#[test]
fn sm_07_an_artifact_is_superseded_by_a_newer_one_or_withdrawn_with_a_reason() {
    let stage = Stage::of_players("");
    let three = ["one", "two", "three"].map(|title| artifact("names", title, &[]));
    stage.plays("close-1", &synthesis(&three));
    let newer = artifact("scope", "newer", &[]);
    let supersede = |artifact: &str, by: &str| json!({ "action": "supersede_artifact", "artifact": artifact, "by": by, "reason": "better" });
    let withdraw =
        json!({ "action": "withdraw_artifact", "artifact": "REQ-002", "reason": "nobody needs it" });
    let wrong = supersede("REQ-003", "REQ-003");
    stage.plays("close-2", &synthesis(&[newer, supersede("REQ-001", "newer"), withdraw, wrong]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    table.reply(json!("continue")).unwrap();
    let second = table.records(2);
    let status = |id: &str| table.artifact(id).status;
    assert_eq!(status("REQ-001"), ArtifactStatus::Superseded);
    assert_eq!(json!(table.artifact("REQ-001").end.unwrap().superseded_by), json!("REQ-004"));
    assert_eq!(status("REQ-002"), ArtifactStatus::Withdrawn);
    assert_eq!(table.artifact("REQ-002").end.unwrap().reason.as_deref(), Some("nobody needs it"));
    assert_eq!(status("REQ-003"), ArtifactStatus::Active, "an illegal proposal is noted and changes nothing");
    assert_eq!(second.refused.len(), 1);
    assert_eq!(second.refused[0].number, 4);
}

#[test]
fn sm_08_a_revert_restores_the_version_before_the_last_amendment() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    stage.plays("close-2", &synthesis(&[amend("REQ-001", "amended later")]));
    let revert = json!({
        "action": "revert_artifact", "artifact": "REQ-001", "reason": "it was right", "proposed_by": "architect",
    });
    stage.plays("close-3", &synthesis(&[revert]));
    let table = stage.table(json!({}));
    table.records(3);
    let reverted = table.artifact("REQ-001");
    assert_eq!(
        (reverted.status, reverted.version.body.as_str()),
        (ArtifactStatus::Active, "users, in full.")
    );
    assert_eq!(reverted.amendments.len(), 2, "the revert is in the history too");
}

fn says(body: &str) -> PersonChange {
    PersonChange::Amend(Changes { body: Some(body.to_owned()), ..Changes::default() })
}

#[test]
fn sm_06_a_person_amends_an_artifact_and_the_agents_of_the_next_round_are_told() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let amended = table.change("REQ-001", says("What a person wrote.")).unwrap();
    assert_eq!(amended.status, ArtifactStatus::Amended);
    assert_eq!(amended.amendments[0].person.as_ref().unwrap().name.as_deref(), Some("ann"));
    stage.restart();
    let table = stage.at_table(table.id);
    assert_eq!(table.artifact("REQ-001"), amended, "it is in the journal");
    table.reply(json!("continue")).unwrap();
    table.records(2);
    for part in ["open-2", "qa-2"] {
        let told = stage.told(part, 1);
        assert!(told.contains("What a person wrote.") && told.contains("the law says so"), "{part}: {told}");
    }
    assert!(table.stream().contains(&"artifact.changed".to_owned()));
}

#[test]
fn sm_07_a_person_withdraws_during_a_round_and_its_synthesis_is_judged_by_that() {
    let stage = Stage::of_players("");
    let two = [artifact("scope", "users", &["users"]), artifact("scope", "limits", &["limits"])];
    stage.plays("close-1", &synthesis(&two));
    stage.plays("close-2", &synthesis(&[amend("REQ-001", "too late"), amend("REQ-002", "in time")]));
    stage.holds_back("answer");
    stage.plays("qa-1", &json!({ "position": "one", "confidence": 0.9 }));
    stage.plays("architect-1", &json!({ "position": "one", "confidence": 0.9 }));
    let table = stage.table(json!({}));
    table.records(1);
    // The participants of the second round are asked, and think.
    stage.told("qa-2", 1);
    let withdrawn = table.change("REQ-001", PersonChange::Withdraw).unwrap();
    assert_eq!(withdrawn.status, ArtifactStatus::Withdrawn);
    let newer = PersonChange::Supersede { by: "REQ-001".parse().unwrap() };
    assert!(table.change("REQ-002", newer).is_err(), "not by one that is out of force");
    stage.plays("answer", &json!({ "position": "now", "confidence": 0.9 }));
    let second = table.records(2);
    assert_eq!(second.refused.len(), 1);
    assert!(second.refused[0].reason.contains("REQ-001"), "{:?}", second.refused);
    assert_eq!(table.artifact("REQ-001"), withdrawn, "what a person took out stays out");
    assert_eq!(table.artifact("REQ-002").version.body, "in time");
    assert!(stage.told("close-2", 1).contains("the law says so"), "who draws together knows of it");
}

#[test]
fn sm_08_a_person_reverts_what_the_table_amended() {
    let stage = Stage::of_players("");
    stage.plays("close-1", &synthesis(&[artifact("scope", "users", &["users"])]));
    stage.plays("close-2", &synthesis(&[amend("REQ-001", "amended later")]));
    let table = stage.table(json!({ "interactive": true }));
    table.waits();
    let refused = table.change("REQ-001", PersonChange::Revert).unwrap_err().to_string();
    assert!(refused.contains("active") && refused.contains("amend"), "it says what is allowed: {refused}");
    table.reply(json!("continue")).unwrap();
    table.records(2);
    let reverted = table.change("REQ-001", PersonChange::Revert).unwrap();
    assert_eq!((reverted.status, reverted.amendments.len()), (ArtifactStatus::Active, 2));
    assert_eq!(reverted.version.body, "users, in full.");
}
