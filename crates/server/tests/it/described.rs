//! The server as it describes itself.

use std::collections::BTreeSet;

use adjourn_server::Code;
use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn the_document_describes_every_route() {
    let stage = Stage::new().await;
    let mut document = stage.get("/openapi.json").await.is(200);
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    document["info"]["version"] = "VERSION".into();
    insta::assert_json_snapshot!("openapi", document);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_reference_of_the_document_leads_somewhere_and_every_type_is_referred_to() {
    let document = Stage::new().await.get("/openapi.json").await.is(200);
    let mut open = vec![&document];
    let mut references = BTreeSet::new();
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                references.extend(members.get("$ref").and_then(Value::as_str));
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let nowhere =
        references.iter().copied().filter(|it| document.pointer(it.trim_start_matches('#')).is_none());
    assert_eq!(nowhere.collect::<Vec<_>>(), [""; 0]);
    let types = document["components"]["schemas"].as_object().unwrap().keys();
    let unused = types.filter(|name| !references.contains(format!("#/components/schemas/{name}").as_str()));
    assert_eq!(unused.collect::<Vec<_>>(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_server_takes_a_token_and_needs_none() {
    let document = Stage::new().await.get("/openapi.json").await.is(200);
    assert_eq!(document["servers"][0]["url"], "/");
    assert_eq!(document["paths"]["/healthz"]["get"]["security"], json!([]));
    let start = &document["paths"]["/v1/runs"]["post"];
    assert_eq!(start["security"], json!([{}, { "token": ["admin"] }]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_to_read_it_on_asks_no_other_server() {
    let stage = Stage::new().await;
    let page = stage.get("/docs").await;
    assert_eq!(page.status, 200);
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    assert!(!text.contains("://"), "{text}");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("://"), "{policy}");
    let script = stage.get("/docs/scalar.js").await;
    assert_eq!(script.headers["content-type"], "text/javascript");
    assert!(text.contains("/docs/scalar.js") && script.body.len() > 1_000_000);
}

#[test]
fn every_code_is_in_the_documentation_with_its_status() {
    let page = include_str!("../../../../docs/http.md");
    let row = |code: &Code| {
        let status = format!("| {} |", code.status());
        page.lines().any(|line| line.starts_with(&status) && line.contains(&format!("`{code}`")))
    };
    let missing: Vec<_> = Code::ALL.iter().filter(|code| !row(code)).collect();
    assert!(missing.is_empty(), "docs/http.md says nothing of {missing:?}");
}
