//! Calls of tools.

use std::sync::Arc;

use adjourn_core::{Consequence, ContractStatus, ExecutionId};
use adjourn_engine::{Stale, Told};
use serde_json::json;

use super::Scripted;
use super::toolbox::{Does, consequence, done};
use super::visit::Visit;
use crate::agent::until;

#[tokio::test]
async fn what_is_offered_is_listed_and_nothing_else() {
    let visit =
        Visit::alone(Scripted::new([("echo", done(json!("hi"))), ("ask_user", done(json!(1)))])).await;
    let client = visit.client().await;
    assert_eq!(client.tools().await, ["ask_user", "echo"]);
    visit.leave().await;
}

#[tokio::test]
async fn each_call_is_made_once_as_it_was_asked_for_and_its_result_comes_back() {
    let tools = Scripted::new([("count", done(json!({"n": 1}))), ("echo", done(json!("hi")))]);
    let visit = Visit::alone(tools.clone()).await;
    let client = visit.client().await;
    let counted = client.call("count", json!({"by": [1]})).await;
    assert_eq!((&counted["structuredContent"], &counted["isError"]), (&json!({"n": 1}), &json!(false)));
    assert_eq!(counted["content"], json!([{"type": "text", "text": r#"{"n":1}"#}]));
    assert_eq!(client.told("echo", json!({})).await, (false, "hi".to_owned()));
    assert_eq!(tools.begun(), [("count".to_owned(), json!({"by": [1]})), ("echo".to_owned(), json!({}))]);
    visit.leave().await;
}

#[tokio::test]
async fn what_became_of_a_call_is_told_so_that_an_agent_knows_what_to_do() {
    let over = |status| Does::Tells(Told::Over(consequence(status, None)));
    let lost = Consequence { outcome_unknown: true, ..consequence(ContractStatus::Failed, None) };
    let before = Told::Before(consequence(ContractStatus::Completed, Some(json!("sent"))));
    let tools = Scripted::new([
        ("failed", over(ContractStatus::Failed)),
        ("rejected", over(ContractStatus::Rejected)),
        ("cancelled", over(ContractStatus::Cancelled)),
        ("lost", Does::Tells(Told::Over(lost))),
        ("again", Does::Tells(before)),
        ("asks", Does::Tells(Told::WithUser(ExecutionId::from_bits(7)))),
        ("refused", Does::Tells(Told::Refused("`n` is not a number".to_owned()))),
        ("late", Does::Tells(Told::Stale(Stale))),
    ]);
    let visit = Visit::alone(tools).await;
    let client = visit.client().await;
    for (tool, is_error, part) in [
        ("failed", true, "was not done"),
        ("rejected", true, "Do not try it again"),
        ("cancelled", true, "was cancelled"),
        ("lost", true, "Nobody knows"),
        ("again", false, "already done"),
        ("asks", false, "End your turn now"),
        ("refused", true, "`n` is not a number"),
    ] {
        let (was_error, text) = client.told(tool, json!({})).await;
        assert!(was_error == is_error && text.contains(part), "{tool}: {text}");
    }
    assert_eq!(client.call("again", json!({})).await["structuredContent"]["result"], "sent");
    let asked = client.call("asks", json!({})).await;
    assert_eq!(asked["structuredContent"]["execution_id"], json!(ExecutionId::from_bits(7)));
    let late = client.try_call("late", json!({})).await.unwrap_err().to_string();
    assert!(late.contains("the turn is over"), "{late}");
    visit.leave().await;
}

#[tokio::test]
async fn a_client_that_is_gone_changes_nothing_about_its_call() {
    let tools = Scripted::new([("slow", Does::Waits)]);
    let visit = Visit::alone(tools.clone()).await;
    visit.call_and_leave("slow", || tools.begun().len() == 1).await;
    // Whoever comes next shows that the server has taken note of it.
    visit.client().await.tools().await;
    tools.let_go(1);
    until(|| (tools.ended().len() == 1).then_some(())).await;
    assert_eq!(tools.ended(), tools.begun());
    visit.leave().await;
}

#[tokio::test]
async fn more_calls_than_may_be_are_told_so_and_the_others_go_on() {
    const CALLS_MAX: usize = 32;
    let tools = Scripted::new([("slow", Does::Waits), ("echo", done(json!("hi")))]);
    let visit = Visit::alone(tools.clone()).await;
    let client = Arc::new(visit.client().await);
    let calls: Vec<_> = (0..CALLS_MAX)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { client.told("slow", json!({ "n": n })).await })
        })
        .collect();
    until(|| (tools.begun().len() == CALLS_MAX).then_some(())).await;
    let (is_error, text) = client.told("echo", json!({})).await;
    assert!(is_error && text.contains("too many calls at once"), "{text}");
    tools.let_go(CALLS_MAX);
    for call in calls {
        assert_eq!(call.await.unwrap(), (false, "done".to_owned()));
    }
    assert_eq!(client.told("echo", json!({})).await, (false, "hi".to_owned()));
    visit.leave().await;
}

#[tokio::test]
async fn xx_15_a_call_that_gives_the_token_away_is_not_made() {
    let tools = Scripted::new([("post", done(json!("posted")))]);
    let visit = Visit::alone(tools.clone()).await;
    let text = format!("my token is {}", visit.token);
    let (is_error, told) = visit.client().await.told("post", json!({"texts": [text]})).await;
    assert!(is_error && told.contains("token"), "{told}");
    assert_eq!(tools.begun(), []);
    visit.leave().await;
}
