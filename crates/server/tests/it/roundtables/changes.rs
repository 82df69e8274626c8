//! Artifacts that people change over HTTP, and what is shown of a roundtable besides.

use hyper::Method;
use serde_json::{Value, json};

use super::{Table, WORKFLOW, stage};
use crate::client::Answer;

/// A roundtable with one requirement that waits after its third round.
async fn after_three_rounds(stage: &crate::stage::Stage) -> Table<'_> {
    // One requirement does not close the topic.
    let yaml = WORKFLOW.replace("criteria:", "min_artifacts: 3, criteria:");
    let table = Table::open(stage, json!({ "interactive": true, "workflow": { "yaml": yaml } })).await;
    for (question, word) in [(1, "continue"), (2, "accept")] {
        let is_asked = move |frame: &Value| {
            frame["type"] == "user.input.required" && frame["data"]["interaction_id"] == question
        };
        table.events().await.until(is_asked).await;
        table.say("/reply", json!({ "interaction_id": question, "response": word })).await.is(202);
    }
    let is_asked =
        |frame: &Value| frame["type"] == "user.input.required" && frame["data"]["interaction_id"] == 3;
    table.events().await.until(is_asked).await;
    table
}

async fn keyed(table: &Table<'_>, artifact: &str, key: &str, body: &Value) -> Answer {
    let call = table.stage.call(Method::POST, &table.path(&format!("/artifacts/{artifact}")));
    call.header("idempotency-key", key).json(body).send().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_changes_an_artifact_and_everybody_sees_who_and_why() {
    let stage = stage().await;
    let table = after_three_rounds(&stage).await;
    let amend = json!({ "action": "amend", "body": "Cash too.", "reason": "The owner wants it." });
    let view = keyed(&table, "REQ-001", "k", &amend).await.is(200);
    assert_eq!((&view["status"], &view["body"]), (&json!("amended"), &json!("Cash too.")));
    let amended = &view["amendments"][0];
    assert_eq!((&amended["by"], &amended["person"]["kind"]), (&json!("user"), &json!("user")));
    assert_eq!(amended["reason"], "The owner wants it.");
    // The same key again is the same change, and another request with it is refused.
    assert_eq!(keyed(&table, "REQ-001", "k", &amend).await.is(200), view);
    let withdraw = json!({ "action": "withdraw", "reason": "Not now." });
    keyed(&table, "REQ-001", "k", &withdraw).await.is_problem(409, "KEY_REUSED");

    let view = keyed(&table, "REQ-001", "w", &withdraw).await.is(200);
    assert_eq!((&view["status"], &view["reason"]), (&json!("withdrawn"), &json!("Not now.")));
    assert_eq!(view["ended_by"]["kind"], "user");
    let late = keyed(&table, "REQ-001", "x", &amend).await.is_problem(409, "NOT_ALLOWED_NOW");
    assert!(late["detail"].as_str().unwrap().contains("withdrawn"), "{late}");
    let changed =
        |frame: &Value| frame["type"] == "artifact.changed" && frame["data"]["change"] == "withdrawn";
    let told = table.events().await.until(changed).await;
    assert_eq!(told.last().unwrap().data["data"]["person"]["kind"], "user");
    let exported = table.get("/export?format=json").await.is(200);
    assert_eq!(exported["roundtable"]["artifacts"][0], view);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_changed_is_refused_with_what_is_wrong() {
    let stage = stage().await;
    let table = after_three_rounds(&stage).await;
    let reason = "because";
    for (artifact, body, status, code, said) in [
        ("REQ-002", json!({ "action": "revert", "reason": reason }), 404, "UNKNOWN_ARTIFACT", "REQ-002"),
        ("req-1", json!({ "action": "revert", "reason": reason }), 404, "UNKNOWN_ARTIFACT", "REQ-001"),
        ("REQ-001", json!({ "action": "revert", "reason": reason }), 409, "NOT_ALLOWED_NOW", "amend"),
        ("REQ-001", json!({ "action": "amend", "reason": reason }), 422, "INVALID", "changes nothing"),
        ("REQ-001", json!({ "action": "withdraw", "reason": " " }), 422, "INVALID", "is blank"),
        ("REQ-001", json!({ "action": "withdraw" }), 422, "INVALID", "is missing"),
        ("REQ-001", json!({ "action": "delete", "reason": reason }), 422, "INVALID", "withdraw"),
        ("REQ-001", json!({ "action": "supersede", "reason": reason }), 422, "INVALID", "newer artifact"),
        (
            "REQ-001",
            json!({ "action": "supersede", "by": "REQ-001", "reason": reason }),
            422,
            "INVALID",
            "newer",
        ),
        (
            "REQ-001",
            json!({ "action": "revert", "body": "x", "reason": reason }),
            422,
            "INVALID",
            "does not go",
        ),
        (
            "REQ-001",
            json!({ "action": "withdraw", "reason": "x".repeat(5000) }),
            422,
            "INVALID",
            "at most 4096",
        ),
    ] {
        let answer = table.say(&format!("/artifacts/{artifact}"), body.clone()).await;
        let problem = answer.is_problem(status, code);
        assert!(problem.to_string().contains(said), "{body}: {problem}");
    }
    assert_eq!(table.show().await["artifacts"][0]["status"], "active", "nothing changed");
    table.say("/close", json!({})).await.is(202);
    let late = json!({ "action": "withdraw", "reason": reason });
    table.say("/artifacts/REQ-001", late).await.is_problem(409, "NOT_ALLOWED_NOW");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roundtable_shows_past_escalations_decisions_and_refused_proposals() {
    let stage = stage().await;
    let table = after_three_rounds(&stage).await;
    let view = table.show().await;
    let raised = &view["escalations"][0];
    assert_eq!((&raised["number"], &raised["round"]), (&json!(1), &json!(2)));
    assert_eq!(raised["triggers"], json!([{ "conflict_rounds": "CONF-001" }]));
    assert_eq!(raised["recommendation"], "Take cards only.");
    let decided = view["human_decisions"].as_array().unwrap();
    let words: Vec<_> = decided.iter().map(|it| (&it["interaction_id"], &it["decision"])).collect();
    assert_eq!(words, [(&json!(1), &json!("continue")), (&json!(2), &json!("accept"))]);
    assert_eq!((&decided[1]["text"], &decided[1]["round"]), (&json!("Take cards only."), &json!(2)));
    assert_eq!(decided[1]["resolved_by"]["kind"], "user");
    assert!(decided[1]["resolved_at"].is_string());
    let refused = &view["rounds"][1]["proposals_refused"][0];
    assert_eq!(
        (&refused["number"], &refused["reason"]),
        (&json!(1), &json!("there is no artifact `REQ-009`"))
    );
    assert_eq!(refused["proposal"]["action"], "withdraw_artifact");
}
