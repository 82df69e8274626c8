//! Who gets in.

use adjourn_engine::Gateway;
use adjourn_engine::tools::ARGUMENTS_BYTES_MAX;
use reqwest::StatusCode;
use serde_json::json;

use super::Scripted;
use super::toolbox::done;
use super::visit::{Visit, knock};

fn echo() -> std::sync::Arc<Scripted> {
    Scripted::new([("echo", done(json!("hi")))])
}

#[tokio::test]
async fn nobody_gets_in_without_the_token() {
    let visit = Visit::alone(echo()).await;
    let token = &visit.token;
    let right = format!("Bearer {token}");
    assert_eq!(visit.knock(&[("authorization", &right)]).await, StatusCode::OK);
    for wrong in [
        format!("Bearer {}", "0".repeat(token.len())),
        format!("Bearer {}", &token[..token.len() - 1]),
        format!("Bearer {token}0"),
        format!("Basic {token}"),
        "Bearer ".to_owned(),
        token.clone(),
    ] {
        assert_eq!(visit.knock(&[("authorization", &wrong)]).await, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    assert_eq!(visit.knock(&[]).await, StatusCode::UNAUTHORIZED);
    visit.leave().await;
}

#[tokio::test]
async fn pages_of_a_browser_do_not_get_in_even_with_a_token() {
    let visit = Visit::alone(echo()).await;
    let bearer = format!("Bearer {}", visit.token);
    let own = visit.url.trim_end_matches("/mcp").to_owned();
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "localhost"),
        ("host", "127.0.0.1:1"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", &own),
    ] {
        let status = visit.knock(&[("authorization", &bearer), (name, value)]).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{name}: {value}");
    }
    visit.leave().await;
}

#[tokio::test]
async fn a_request_that_is_too_long_is_not_read() {
    let visit = Visit::alone(echo()).await;
    let bearer = format!("Bearer {}", visit.token);
    let long = "x".repeat(2 * ARGUMENTS_BYTES_MAX);
    let status = knock(&visit.url, &[("authorization", &bearer)], long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    visit.leave().await;
}

#[tokio::test]
async fn each_run_has_a_token_of_its_own_and_sees_its_own_tools() {
    let gateway = Gateway::new();
    let (mine, yours) = (echo(), Scripted::new([("count", done(json!(1)))]));
    let one = Visit::begin(&gateway, 1, mine.clone()).await;
    let other = Visit::begin(&gateway, 2, yours.clone()).await;
    assert_eq!(one.url, other.url, "there is one listener");
    assert_ne!(one.token, other.token);
    assert_eq!(one.client().await.tools().await, ["echo"]);
    assert_eq!(other.client().await.tools().await, ["count"]);
    let (is_error, told) = other.client().await.told("echo", json!({})).await;
    assert!(is_error && told.contains("no tool `echo`"), "{told}");
    assert_eq!((mine.begun().len(), yours.begun().len()), (0, 1));
    // What belongs to one is not ended by the end of the other.
    one.leave().await;
    assert_eq!(other.client().await.tools().await, ["count"]);
    other.leave().await;
}
