//! Artifacts: numbered, with every version they ever had; what the machine does not allow is noted and changes nothing.

use adjourn_core::machines::{ArtifactStatus, ConflictStatus};
use adjourn_core::roundtable::{AmendmentKind, ArtifactKind, PROPOSALS_MAX, Stance};
use serde_json::{Value, json};

use super::table::{
    Table, amend, conflict, create, create_as, resolve, revert, said, supersede, synthesis, withdraw,
};

fn ids(table: &Table) -> Vec<String> {
    table.table.artifacts().iter().map(|artifact| artifact.id.to_string()).collect()
}

#[test]
fn a_new_artifact_is_active_with_its_number_and_where_it_comes_from() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["goals"])]);
    let artifact = table.artifact("REQ-001");
    assert_eq!(artifact.status, ArtifactStatus::Active);
    assert_eq!((artifact.round, artifact.topic_id.as_str()), (1, "users"));
    assert_eq!(artifact.proposed_by.as_str(), "architect");
    assert_eq!(artifact.version.supported_by[0].as_str(), "qa");
}

#[test]
fn numbers_are_counted_for_each_kind_and_never_given_twice() {
    let mut table = Table::standard();
    let all: Vec<_> = ArtifactKind::ALL.iter().map(|kind| create(kind.name(), "users", &[])).collect();
    table.round(all);
    assert_eq!(
        ids(&table),
        [
            "REQ-001", "BR-001", "NFR-001", "EX-001", "DEC-001", "COMP-001", "INT-001", "IDEA-001",
            "RISK-001", "MIT-001"
        ]
    );
    table.round(vec![withdraw("REQ-001")]).round(vec![create("requirement", "users", &[])]);
    assert_eq!(ids(&table).last().unwrap(), "REQ-002");
}

#[test]
fn a_change_in_a_later_round_amends_and_keeps_the_whole_version_before() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &["goals"])]);
    let first = table.artifact("REQ-001").version.clone();
    table.round(vec![amend("REQ-001", "second")]).round(vec![amend("REQ-001", "third")]);
    let artifact = table.artifact("REQ-001");
    assert_eq!(artifact.status, ArtifactStatus::Amended);
    assert_eq!(artifact.version.body, "third");
    assert_eq!(artifact.amendments[0].before, first);
    assert_eq!(artifact.amendments[1].before.body, "second");
    assert_eq!(artifact.amendments[1].round, 3);
    assert_eq!(artifact.amendments[1].by.as_str(), "qa");
}

#[test]
fn a_change_in_its_own_round_only_edits() {
    let mut table = Table::standard();
    table.round(vec![create_as("login", "requirement", "users"), amend("login", "better")]);
    let artifact = table.artifact("REQ-001");
    assert_eq!((artifact.status, artifact.amendments.len()), (ArtifactStatus::Active, 0));
    assert_eq!(artifact.version.body, "better");
}

#[test]
fn a_revert_restores_the_version_before_the_last_amendment_and_is_written_down() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &[])]);
    table.round(vec![amend("REQ-001", "second")]).round(vec![amend("REQ-001", "third")]);
    table.round(vec![revert("REQ-001")]);
    let artifact = table.artifact("REQ-001");
    assert_eq!((artifact.status, artifact.version.body.as_str()), (ArtifactStatus::Active, "second"));
    let changes: Vec<_> = artifact.amendments.iter().map(|amendment| amendment.change).collect();
    assert_eq!(changes, [AmendmentKind::Amend, AmendmentKind::Amend, AmendmentKind::Revert]);
    assert_eq!(artifact.amendments[2].before.body, "third");
    table.round(vec![revert("REQ-001")]);
    assert_eq!(
        table.refused(),
        [(1, "REQ-001: an artifact that is active takes amend, supersede, withdraw, not `revert`")]
    );
}

#[test]
fn an_artifact_is_superseded_by_a_newer_living_one_also_of_the_same_synthesis() {
    let mut table = Table::standard();
    table.round(vec![create("requirement", "users", &[]), create("requirement", "users", &[])]);
    // Before the one that takes its place is even mentioned.
    table.round(vec![supersede("REQ-001", "new"), create_as("new", "decision", "users")]);
    let old = table.artifact("REQ-001");
    assert_eq!(old.status, ArtifactStatus::Superseded);
    assert_eq!(old.end.as_ref().unwrap().superseded_by.unwrap().to_string(), "DEC-001");
    table.round(vec![
        amend("REQ-002", "amended"),
        supersede("REQ-002", "REQ-002"),
        supersede("DEC-001", "REQ-002"),
        supersede("REQ-002", "REQ-001"),
        supersede("REQ-002", "REQ-009"),
        supersede("REQ-002", "DEC-001"),
    ]);
    assert_eq!(
        table.refused(),
        [
            (2, "REQ-002 is not newer than REQ-002: it cannot take its place"),
            (3, "REQ-002 is not newer than DEC-001: it cannot take its place"),
            (4, "REQ-001 is superseded: what takes the place of another has to be in force"),
            (5, "there is no artifact `REQ-009`"),
        ]
    );
    assert_eq!(
        table.artifact("REQ-002").status,
        ArtifactStatus::Superseded,
        "an amended one is not immortal"
    );
}

#[test]
fn an_artifact_is_withdrawn_with_a_reason() {
    let mut table = Table::standard();
    table.round(vec![create("idea", "users", &[])]);
    let mut silent = withdraw("IDEA-001");
    silent["reason"] = json!(" ");
    table.round(vec![silent]);
    assert_eq!(table.refused(), [(1, "its reason is blank")]);
    table.round(vec![withdraw("IDEA-001")]);
    let artifact = table.artifact("IDEA-001");
    assert_eq!(artifact.status, ArtifactStatus::Withdrawn);
    assert_eq!(artifact.end.as_ref().unwrap().reason.as_deref(), Some("out of scope"));
}

#[test]
fn sm_09_whatever_is_proposed_for_a_terminal_artifact_is_refused_and_nothing_changes() {
    let mut table = Table::standard();
    table.round(vec![
        create("risk", "users", &[]),
        create("risk", "users", &[]),
        create("risk", "users", &[]),
    ]);
    table.round(vec![withdraw("RISK-001"), supersede("RISK-002", "RISK-003")]);
    let ended = [table.artifact("RISK-001").clone(), table.artifact("RISK-002").clone()];
    let changes = |id| vec![amend(id, "new"), revert(id), supersede(id, "RISK-003"), withdraw(id)];
    table.round([changes("RISK-001"), changes("RISK-002")].concat());
    assert_eq!(table.refused().len(), 8);
    assert_eq!(table.refused()[0].1, "RISK-001: an artifact that is withdrawn takes no `amend`: it is final");
    assert_eq!([table.artifact("RISK-001").clone(), table.artifact("RISK-002").clone()], ended);
}

#[test]
fn a_proposal_that_makes_no_sense_is_noted_and_the_others_hold() {
    let mut table = Table::standard();
    let stranger = |field: &str, value: Value| {
        let mut proposal = create("requirement", "users", &[]);
        proposal[field] = value;
        proposal
    };
    table.round(vec![
        json!("just do it"),
        json!({ "action": "fly" }),
        json!({ "action": "create_artifact", "kind": "poem" }),
        stranger("topic_id", json!("moon")),
        stranger("covers", json!(["methods"])),
        stranger("proposed_by", json!("wizard")),
        stranger("supported_by", json!(["wizard"])),
        stranger("title", json!("")),
        create_as("REQ-001", "requirement", "users"),
        create("requirement", "payment", &["methods"]),
        amend("REQ-001", "It has to be so."),
        json!({ "action": "resolve_question", "question": "OQ-001", "resolution": "yes" }),
    ]);
    let reasons: Vec<_> =
        table.refused().iter().map(|(number, reason)| format!("{number} {reason}")).collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    1 it cannot be read: invalid type: string "just do it", expected internally tagged enum Proposal
    2 it cannot be read: unknown variant `fly`, expected one of `create_artifact`, `amend_artifact`, `revert_artifact`, `supersede_artifact`, `withdraw_artifact`, `open_conflict`, `resolve_conflict`, `open_question`, `resolve_question`
    3 it cannot be read: unknown variant `poem`, expected one of `requirement`, `business_rule`, `quality`, `exclusion`, `decision`, `component`, `interface`, `idea`, `risk`, `mitigation`
    4 there is no topic `moon`
    5 the topic `users` has no criterion `methods`
    6 `wizard` does not sit at this table
    7 `wizard` does not sit at this table
    8 its title is blank
    9 the label `REQ-001` names something else already
    11 it changes nothing about REQ-001
    12 there is no question `OQ-001`
    "#);
    assert_eq!(ids(&table), ["REQ-001"]);
    assert_eq!(table.close_reason(), None);
}

#[test]
fn a_synthesis_holds_a_limited_number_of_proposals() {
    let mut table = Table::standard();
    table.round(vec![create("idea", "users", &[]); PROPOSALS_MAX + 2]);
    assert_eq!(table.table.artifacts().len(), PROPOSALS_MAX);
    assert_eq!(table.refused().len(), 2);
    assert_eq!(table.refused()[0], (201, "a synthesis holds at most 200 proposals"));
}

#[test]
fn conflicts_and_questions_are_opened_and_resolved_once() {
    let mut table = Table::standard();
    let question = json!({ "action": "open_question", "text": "Who pays?", "asked_by": "qa" });
    table.round(vec![conflict("payment"), question]);
    assert_eq!(table.table.open_conflicts().count(), 1);
    assert_eq!(table.table.questions()[0].about.topic_id.as_str(), "users", "that of the round");
    let answer = json!({ "action": "resolve_question", "question": "OQ-001", "resolution": "the buyer" });
    table.round(vec![resolve("CONF-001"), answer.clone(), resolve("CONF-001"), answer]);
    assert_eq!(table.table.conflicts()[0].status, ConflictStatus::Resolved);
    assert_eq!(table.table.conflicts()[0].resolution.as_ref().unwrap().text, "both");
    assert_eq!(
        table.refused(),
        [
            (3, "a conflict that is resolved takes no `resolve`: it is final"),
            (4, "a question that is resolved takes no `resolve`: it is final"),
        ]
    );
    let mut alone = conflict("payment");
    alone["positions"].as_array_mut().unwrap().pop();
    table.round(vec![alone]);
    assert_eq!(table.refused(), [(1, "a conflict has at least two positions")]);
}

#[test]
fn while_somebody_blocks_nothing_is_agreed() {
    let mut table = Table::with(|spec| spec.strategy = "consensus-driven".to_owned());
    let mut agreed = create("decision", "users", &[]);
    agreed["agreement"] = json!("consensus");
    table.round(vec![agreed.clone()]);
    assert_eq!(table.refused(), [], "in the round of proposals nobody can block");
    let stand = |table: &mut Table, stances: [Stance; 2]| {
        table.opens_round().asks("users");
        for (role, stance) in ["architect", "qa"].into_iter().zip(stances) {
            let purpose =
                adjourn_core::roundtable::Purpose::Answer(adjourn_core::roundtable::Role::new(role));
            let run_id = table.starts(purpose);
            let mut said = said("hm", 0.9);
            let silent = adjourn_core::roundtable::Command::RecordAnswer { run_id, said: said.clone() };
            let refused = table.tries(&silent).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "/stance: is missing: it should be support, stand_aside or block"
            );
            said.stance = Some(stance);
            table.does(adjourn_core::roundtable::Command::RecordAnswer { run_id, said });
        }
        table.synthesizes(synthesis(vec![agreed.clone()]));
        table.does(adjourn_core::roundtable::Command::RecordRound);
    };
    stand(&mut table, [Stance::Support, Stance::Block]);
    assert_eq!(table.refused(), [(1, "`qa` blocks: it can be draft or conflict, and no consensus")]);
    table.round(vec![]);
    stand(&mut table, [Stance::Support, Stance::StandAside]);
    assert_eq!(table.refused(), []);
}
