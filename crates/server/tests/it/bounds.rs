//! Documents, schemas and requests that cost more than they are worth: each is refused or bounded, and others go on.

use std::time::Duration;

use hyper::Method;
use serde_json::{Map, Value, json};

use crate::client::Events;
use crate::stage::{Stage, within};

/// A document that is nested so many levels deep.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

/// A schema of sixty definitions, each of which refers to the next one twice.
fn schema_bomb() -> Value {
    let mut defs: Map<_, _> = (0..60)
        .map(|n| {
            let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
            (format!("a{n}"), json!({ "allOf": [next, next] }))
        })
        .collect();
    defs.insert("a60".to_owned(), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/a0", "$defs": defs })
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_taken_up_to_64_levels_and_can_be_read_back_everywhere() {
    let stage = Stage::new().await;
    let call = stage.call(Method::GET, "/v1/events").header("last-event-id", "0");
    let mut feed = Events::open(call).await;
    // `input` is one level of the body.
    for levels in [64, 65, 124, 125, 126] {
        let refused =
            stage.post("/v1/runs", &Stage::request(json!({ "input": { "a": nested(levels - 1) } }))).await;
        let problem = refused.is_problem(400, "BAD_JSON");
        let expected = "it is nested deeper than the 64 levels that are allowed";
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{problem}");
    }
    let run = stage.start(json!({ "input": { "a": nested(62) } })).await;
    let question = json!({
        "__SKILL_DONE__": false,
        "message": "What?",
        "ui_hints": { "kind": "form", "schema": { "type": "object" }, "default": { "d": nested(50) } },
    });
    run.says(1, &question).await;
    run.becomes("waiting_user").await;
    run.reply(json!({ "interaction_id": 1, "response": nested(64) })).await.is_problem(400, "BAD_JSON");
    run.reply(json!({ "interaction_id": 1, "response": { "r": nested(62) } })).await.is(202);
    run.says(2, &json!({ "__SKILL_DONE__": true, "answer": "done", "more": nested(63) })).await;
    run.becomes("succeeded").await;
    let id = run.id.clone();
    feed.until(|frame| frame["run_id"] == id.as_str() && frame["data"]["to"] == "succeeded").await;
    let stage = stage.restarted().await;
    let shown = stage.actor(&id).show().await;
    assert_eq!((&shown["status"], &shown["result"]["more"]), (&json!("succeeded"), &nested(63)));
    assert_eq!(
        stage.actor(&id).events(None).await.rest().await.last().unwrap().data["data"]["to"],
        "succeeded"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn xx_28_costly_json_and_schemas_are_refused_and_others_keep_their_pace() {
    let stage = Stage::with("[slots]\ntotal = 8").await;
    // An agent whose question has a schema that would never be done checking: its words are asked instead.
    let bomb = stage.start(json!({})).await;
    bomb.says(
        1,
        &json!({ "__SKILL_DONE__": false, "message": "Which?", "ui_hints": { "schema": schema_bomb() } }),
    )
    .await;
    bomb.becomes("waiting_user").await;
    let shown = bomb.show().await;
    assert_eq!(shown["warnings"][0]["code"], "ASK_USER_MALFORMED", "{shown}");
    assert!(shown["warnings"][0]["message"].as_str().unwrap().contains("10000 subschemas"), "{shown}");
    bomb.reply(json!({ "interaction_id": 1, "response": "that one" })).await.is(202);
    // One whose schema multiplies with the depth of the answer: the answer is refused, the question stays open.
    let recursive = stage.start(json!({})).await;
    let twice = json!({ "properties": { "a": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } } });
    recursive.says(1, &json!({ "__SKILL_DONE__": false, "message": "What?", "ui_hints": { "kind": "form", "schema": twice } })).await;
    recursive.becomes("waiting_user").await;
    let deep = (0..50).fold(json!(1), |inner, _| json!({ "a": inner }));
    let refused =
        recursive.reply(json!({ "interaction_id": 1, "response": deep })).await.is_problem(422, "INVALID");
    assert!(refused["detail"].as_str().unwrap().contains("too costly"), "{refused}");
    recursive.reply(json!({ "interaction_id": 1, "response": { "a": 1 } })).await.is(202);
    // A result that is nested too deep is no result, and is asked for again.
    let deep = stage.start(json!({ "execution_mode": "auto" })).await;
    deep.says(1, &json!({ "__SKILL_DONE__": true, "answer": "x", "more": nested(100) })).await;
    deep.finishes(2).await;
    deep.becomes("succeeded").await;
    // A skill with such a schema, or with a regular expression that is not linear, is refused.
    for (name, schema) in [("bomb", schema_bomb()), ("regex", json!({ "pattern": "(?=a)(a+)+$" }))] {
        stage.write(
            &format!("skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: X.\n---\nDo.\n"),
        );
        stage.write(&format!("skills/{name}/assets/output.schema.json"), &schema.to_string());
        let refused = stage.post("/v1/runs", &json!({ "skill": name, "engine": "scripted" })).await;
        assert_eq!(refused.status.as_u16(), 422, "{}", String::from_utf8_lossy(&refused.body));
    }
    // A template that reads a large input in every step of a loop takes a while and is refused.
    let compares = "{% for x in input.list %}{% if input.list == input.list %}{% endif %}{% endfor %}";
    let filters = "{% for x in input.list %}{% if input.list | tojson %}{% endif %}{% endfor %}";
    let list: Vec<_> = (0..20_000).map(|n| format!("item {n}")).collect();
    let mut templates = tokio::task::JoinSet::new();
    for (name, template) in [("compares", compares), ("filters", filters)] {
        let manifest = json!({ "id": name, "entrypoint": { "prompts": { "common": template } } });
        stage.write(
            &format!("skills/{name}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: X.\n---\nDo.\n"),
        );
        stage.write(&format!("skills/{name}/assets/runner.json"), &manifest.to_string());
        let request = json!({ "skill": name, "engine": "scripted", "input": { "list": list } });
        for _ in 0..3 {
            templates.spawn(stage.call(Method::POST, "/v1/runs").json(&request).send());
        }
    }
    // Others are created, answered and finished as ever, while these are worked on and after.
    for _ in 0..20 {
        let run = stage.start(json!({})).await;
        run.asks(1).await;
        run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
        run.finishes(2).await;
        run.becomes("succeeded").await;
        stage.get("/readyz").await.is(200);
    }
    for refused in within(templates.join_all()).await {
        let problem = refused.is(422);
        assert!(problem["detail"].as_str().unwrap().contains("cannot be made"), "{problem}");
    }
    for run in [&bomb, &recursive] {
        run.finishes(2).await;
        run.becomes("succeeded").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_countless_unknown_keys_gets_a_short_answer() {
    let stage = Stage::new().await;
    let keys: Map<_, _> = (0..300_000).map(|n| (format!("k{n}"), json!(0))).collect();
    for path in ["/v1/runs", "/v1/roundtables"] {
        let answer = stage.post(path, &Value::Object(keys.clone())).await;
        answer.is_problem(422, "INVALID");
        assert!(answer.body.len() < 64 * 1024, "{path}: {} bytes", answer.body.len());
    }
    let options = stage.post("/v1/runs", &Stage::request(json!({ "options": keys }))).await;
    options.is_problem(422, "INVALID");
    assert!(options.body.len() < 64 * 1024, "{} bytes", options.body.len());
    stage.get("/readyz").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_commits_hang_is_not_ready_until_they_go_on() {
    let stage = Stage::new().await;
    stage.get("/readyz").await.is(200);
    // What a backup program does that holds the database for too long.
    let other = rusqlite::Connection::open(stage.data().join("adjourn.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let created = tokio::spawn(stage.call(Method::POST, "/v1/runs").json(&Stage::request(json!({}))).send());
    let problem = within(async {
        loop {
            let answer = stage.get("/readyz").await;
            if answer.status != 200 {
                return answer.is_problem(503, "STALLED");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(problem["detail"].as_str().unwrap().contains("a commit goes on"), "{problem}");
    // Reading goes on meanwhile.
    stage.get("/v1/runs").await.is(200);
    other.execute_batch("ROLLBACK").unwrap();
    within(created).await.unwrap();
    stage.get("/readyz").await.is(200);
}
