//! What happens to results.

use adjourn_core::machines::ArtifactStatus;
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
