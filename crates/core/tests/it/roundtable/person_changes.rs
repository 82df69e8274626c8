//! Artifacts that a person changes: the artifact's table decides, and the history says who and why.

use adjourn_core::machines::{ArtifactMachine, ArtifactStatus, ArtifactTrigger};
use adjourn_core::roundtable::{
    AmendmentKind, Changes, Command, FrameType, PersonChange, Refusal, export_markdown, reconciliation,
};
use adjourn_core::{Actor, By, Machine, ReplyKey};
use serde_json::json;

use super::table::{Table, amend, create, synthesis};

fn says(body: &str) -> PersonChange {
    PersonChange::Amend(Changes { body: Some(body.to_owned()), ..Changes::default() })
}

fn keyed(command: Command, key: &str, digest: &str) -> Command {
    let Command::ChangeArtifact(mut wanted) = command else { panic!("{command:?} changes no artifact") };
    wanted.key = Some(ReplyKey { key: key.to_owned(), digest: digest.to_owned() });
    Command::ChangeArtifact(wanted)
}

/// Two requirements, and no round that is going on.
fn table() -> Table {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["goals"]), create("requirement", "users", &[])]);
    table
}

#[test]
fn a_person_amends_and_reverts_and_the_history_says_who_and_why() {
    let mut table = table();
    table.does(table.change_by_person("REQ-001", says("mine")));
    let artifact = table.artifact("REQ-001").clone();
    assert_eq!((artifact.status, artifact.version.body.as_str()), (ArtifactStatus::Amended, "mine"));
    let amended = &artifact.amendments[0];
    assert_eq!((amended.change, amended.reason.as_str()), (AmendmentKind::Amend, "the law says so"));
    assert_eq!(amended.before.body, "It has to be so.");
    let ann = By { name: Some("ann".to_owned()), ..By::USER };
    assert_eq!((amended.by.as_str(), amended.person.as_ref()), ("user", Some(&ann)));
    table.does(table.change_by_person("REQ-001", PersonChange::Revert));
    let artifact = table.artifact("REQ-001");
    assert_eq!((artifact.status, artifact.amendments.len()), (ArtifactStatus::Active, 2));
    assert_eq!(artifact.version.body, "It has to be so.");
    assert_eq!(artifact.amendments[1].person, Some(ann));
    let document = export_markdown(&table.table).unwrap();
    assert!(document.contains("amended by a person (ann) (the law says so)"), "{document}");
}

#[test]
fn a_person_supersedes_and_withdraws_with_a_reason() {
    let mut table = table();
    let newer = PersonChange::Supersede { by: "REQ-002".parse().unwrap() };
    table.does(table.change_by_person("REQ-001", newer));
    table.does(table.change_by_person("REQ-002", PersonChange::Withdraw));
    for (id, status) in [("REQ-001", ArtifactStatus::Superseded), ("REQ-002", ArtifactStatus::Withdrawn)] {
        let artifact = table.artifact(id);
        let end = artifact.end.as_ref().unwrap();
        assert_eq!((artifact.status, end.reason.as_deref()), (status, Some("the law says so")), "{id}");
        assert_eq!(end.person.as_ref().unwrap().name.as_deref(), Some("ann"));
    }
    let told: Vec<_> =
        table.frames().into_iter().filter(|it| it.kind == FrameType::ArtifactChanged).collect();
    let data = &told.last().unwrap().data;
    assert_eq!((&data["change"], &data["person"]["name"]), (&json!("withdrawn"), &json!("ann")));
    let document = export_markdown(&table.table).unwrap();
    assert!(document.contains("withdrawn by a person (ann) in round 1: the law says so"), "{document}");
}

#[test]
fn the_table_of_the_artifact_decides_for_a_person_in_every_status() {
    let changes = [
        (ArtifactTrigger::Amend, says("other")),
        (ArtifactTrigger::Revert, PersonChange::Revert),
        (ArtifactTrigger::Supersede, PersonChange::Supersede { by: "REQ-002".parse().unwrap() }),
        (ArtifactTrigger::Withdraw, PersonChange::Withdraw),
    ];
    let ways = [vec![], vec![0], vec![2], vec![3]];
    for way in ways {
        let mut table = table();
        for step in way {
            let change: &(ArtifactTrigger, PersonChange) = &changes[step];
            table.does(table.change_by_person("REQ-001", change.1.clone()));
        }
        let status = table.artifact("REQ-001").status;
        for (trigger, change) in &changes {
            let mut change = change.clone();
            if status == ArtifactStatus::Amended && *trigger == ArtifactTrigger::Amend {
                change = says("yet another");
            }
            let command = table.change_by_person("REQ-001", change);
            let tried = table.clone().tries(&command);
            match ArtifactMachine::step(status, *trigger, Actor::User) {
                Ok(_) => assert_eq!(tried.unwrap().len(), 1, "{status} {trigger}"),
                Err(refused) => assert_eq!(tried, Err(Refusal::Machine(refused)), "{status} {trigger}"),
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let mut table = table();
    let older = PersonChange::Supersede { by: "REQ-001".parse().unwrap() };
    let missing = PersonChange::Supersede { by: "REQ-009".parse().unwrap() };
    let stray = Changes { covers: Some(vec![super::table::criterion("methods")]), ..Changes::default() };
    for (artifact, change, expected) in [
        ("REQ-009", PersonChange::Revert, "there is no artifact REQ-009"),
        ("REQ-002", missing, "there is no artifact REQ-009"),
        ("REQ-002", older, "/by: REQ-001 is not newer than REQ-002: it cannot take its place"),
        ("REQ-001", PersonChange::Amend(Changes::default()), "it changes nothing about REQ-001"),
        ("REQ-001", PersonChange::Amend(stray), "the topic `users` has no criterion `methods`"),
        ("REQ-001", says(" "), "its body is blank"),
    ] {
        let command = table.change_by_person(artifact, change);
        let said = table.tries(&command).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
    let Command::ChangeArtifact(mut blank) = table.change_by_person("REQ-001", PersonChange::Withdraw) else {
        unreachable!("it changes an artifact")
    };
    blank.reason = " ".to_owned();
    let said = table.tries(&Command::ChangeArtifact(blank)).unwrap_err().to_string();
    assert!(said.contains("/reason: is blank"), "{said}");
    table.does(Command::Close(By::USER));
    let late = table.change_by_person("REQ-001", PersonChange::Withdraw);
    assert!(matches!(table.tries(&late), Err(Refusal::Closed(_))));
}

#[test]
fn a_change_that_is_sent_again_with_its_key_counts_once() {
    let mut table = table();
    let change = keyed(table.change_by_person("REQ-001", says("mine")), "k", "d");
    assert_eq!(table.does(change.clone()).len(), 1);
    assert_eq!(table.does(change), []);
    assert_eq!(table.artifact("REQ-001").amendments.len(), 1);
    let other = keyed(table.change_by_person("REQ-002", PersonChange::Withdraw), "k", "e");
    assert_eq!(table.tries(&other), Err(Refusal::KeyReused { key: "k".to_owned() }));
}

#[test]
fn during_a_round_it_counts_at_once_and_the_synthesis_is_judged_by_it() {
    let mut table = table();
    table.opens_round().asks("users").everybody_answers(0.9);
    table.does(table.change_by_person("REQ-001", PersonChange::Withdraw));
    table.does(table.change_by_person("REQ-002", says("mine")));
    table.synthesizes(synthesis(vec![amend("REQ-001", "theirs"), amend("REQ-002", "theirs")]));
    table.does(Command::RecordRound);
    let refused = table.refused();
    assert_eq!((refused.len(), refused[0].0), (1, 1), "{refused:?}");
    assert!(refused[0].1.contains("withdrawn"), "{refused:?}");
    let bodies: Vec<_> =
        table.artifact("REQ-002").amendments.iter().map(|it| it.before.body.as_str()).collect();
    assert_eq!(bodies, ["It has to be so.", "mine"], "nothing of what the person said is lost");
}

#[test]
fn agents_are_told_what_a_person_changed_since_they_last_looked() {
    let mut table = table();
    table.round(vec![]);
    table.does(table.change_by_person("REQ-001", says("mine")));
    table.does(table.change_by_person("REQ-002", PersonChange::Withdraw));
    // The facilitator last looked before round 2 was recorded.
    let told = json!(reconciliation(&table.table, 1));
    assert_eq!(told["artifacts_updated"][0]["artifact_id"], "REQ-001");
    assert_eq!(told["artifacts_updated"][0]["amendments"][0]["person"]["name"], "ann");
    assert_eq!(told["artifacts_resolved"][0]["ended_by"]["name"], "ann");
}
