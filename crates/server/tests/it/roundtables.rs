//! Roundtables over HTTP: from their opening to what comes out.

mod changes;
mod refusals;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hyper::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Event, Events};
use crate::mcp::{call, refused};
use crate::stage::Stage;

const ENGINE: &str = "[engines.table]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"./table.sh\"]\n";

/// Plays every role: in the first two rounds the table cannot agree, in the third it writes down what was decided.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
case "$prompt" in
*'# Your task: open round'*)
  echo '{"focus": {"kind": "topic", "id": "payment"}, "question": "How do people pay?"}' ;;
*'# Your task: close round 1'*)
  cat <<'END'
{"summary": "They cannot agree.", "proposals": [
  {"action": "open_conflict", "title": "Cash or card", "positions": [
    {"held_by": ["product"], "position": "Cash too.", "rationale": "People have it."},
    {"held_by": ["qa"], "position": "Card only."}]}]}
END
  ;;
*'# Your task: close round 2'*)
  cat <<'END'
{"summary": "They still cannot agree.", "recommendation": "Take cards only.", "proposals": [
  {"action": "withdraw_artifact", "artifact": "REQ-009", "reason": "There is none."}]}
END
  ;;
*'# Your task: close round'*)
  cat <<'END'
{"summary": "It is decided.", "proposals": [{"action": "create_artifact", "kind": "requirement",
  "title": "Cards are taken", "body": "Nothing else is.", "agreement": "consensus", "covers": ["how"],
  "proposed_by": "qa", "supported_by": ["product"]}]}
END
  ;;
*) echo '{"position": "I hold something.", "rationale": "I have reasons.", "confidence": 0.75}' ;;
esac
"#;

const WORKFLOW: &str = "name: shop
limits: {min_rounds: 1, max_rounds: 4, max_rounds_per_conflict: 1}
participants: [product, qa]
agenda:
  - topic_id: payment
    title: How people pay
    done_when: {criteria: [{id: how, text: It is said what is taken}]}
";

async fn stage() -> Stage {
    let stage = Stage::with(ENGINE).await;
    stage.write("table.sh", AGENT);
    fs::set_permissions(stage.folder().join("table.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

fn request(more: Value) -> Value {
    let mut document = json!({
        "subject": "a shop for bicycles", "engine": "table", "workflow": { "file": "shop.yaml", "yaml": WORKFLOW },
    });
    for (key, value) in more.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

/// A roundtable that was opened.
struct Table<'a> {
    stage: &'a Stage,
    id: String,
}

impl<'a> Table<'a> {
    async fn open(stage: &'a Stage, more: Value) -> Self {
        let opened = stage.post("/v1/roundtables", &request(more)).await;
        let view = opened.is(201);
        let id = view["roundtable_id"].as_str().unwrap().to_owned();
        assert_eq!(opened.headers["location"].to_str().unwrap(), format!("/v1/roundtables/{id}"));
        Self { stage, id }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/roundtables/{}{rest}", self.id)
    }

    async fn get(&self, rest: &str) -> Answer {
        self.stage.get(&self.path(rest)).await
    }

    async fn show(&self) -> Value {
        self.get("").await.is(200)
    }

    async fn say(&self, what: &str, body: Value) -> Answer {
        self.stage.post(&self.path(what), &body).await
    }

    async fn events(&self) -> Events {
        Events::open(self.stage.call(Method::GET, &self.path("/events"))).await
    }

    async fn until(&self, kind: &str) -> Vec<Event> {
        self.events().await.until(|frame| frame["type"] == kind).await
    }
}

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.data["type"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_roundtable_is_opened_escalates_is_answered_and_exported() {
    let stage = stage().await;
    let mut all = Events::open(stage.call(Method::GET, "/v1/events?after=0")).await;
    let table = Table::open(&stage, json!({ "labels": { "team": "blue" } })).await;
    table.until("user.input.required").await;

    let inbox = stage.get("/v1/inbox").await.is(200);
    let asked = &inbox["items"][0];
    assert_eq!(
        (&asked["roundtable_id"], &asked["subject"]),
        (&json!(table.id), &json!("a shop for bicycles"))
    );
    assert_eq!((&asked["source"], &asked["kind"]), (&json!("escalation"), &json!("form")));
    let prompt = asked["prompt"].as_str().unwrap();
    for said in ["CONF-001 (Cash or card)", "product: Cash too. Because: People have it.", "Take cards only."]
    {
        assert!(prompt.contains(said), "{prompt}");
    }

    let answer = json!({ "decision": "own_decision", "text": "Cards, for now." });
    let view = table.say("/reply", json!({ "interaction_id": 1, "response": answer })).await.is(202);
    assert_eq!(view["conflicts"][0]["resolution"]["text"], "Cards, for now.");
    let events = table.events().await.rest().await;
    assert_eq!(
        kinds(&events)[..4],
        ["roundtable.opened", "round.started", "round.step.changed", "participant.answered"]
    );
    assert_eq!(kinds(&events).last(), Some(&"roundtable.closed"));
    let seqs: Vec<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());

    let view = table.show().await;
    assert_eq!((&view["status"], &view["close_reason"]), (&json!("closed"), &json!("concluded")));
    assert_eq!((view["rounds"].as_array().unwrap().len(), &view["pending"]), (3, &Value::Null));
    assert_eq!(view["seq"], events.len());
    assert_eq!(table.get("/artifacts").await.is(200)["items"], view["artifacts"]);
    assert_eq!(table.get("/artifacts/REQ-001").await.is(200)["title"], "Cards are taken");
    assert_eq!(stage.get("/v1/inbox").await.is(200)["items"], json!([]));

    let document = table.get("/export").await;
    assert_eq!(document.headers["content-type"], "text/markdown; charset=utf-8");
    let text = String::from_utf8(document.body.to_vec()).unwrap();
    assert!(text.contains("REQ-001") && text.contains("Cards are taken"), "{text}");
    assert_eq!(table.get("/export?format=md").await.body, document.body);
    assert_eq!(
        table.get("/export?format=json").await.is(200)["roundtable"]["artifacts"][0]["artifact_id"],
        "REQ-001"
    );

    let changes = all.until(|frame| frame["type"] == "roundtable.closed").await;
    let changes: Vec<_> = changes.iter().filter(|event| event.data.get("roundtable_id").is_some()).collect();
    let told: Vec<_> = changes.iter().map(|event| event.data["type"].as_str().unwrap()).collect();
    let expected =
        ["roundtable.opened", "user.input.required", "interaction.reply.accepted", "roundtable.closed"];
    assert_eq!(told, expected);
    for change in changes {
        let same = events.iter().find(|event| event.data["seq"] == change.data["seq"]).unwrap();
        assert_eq!(change.data, same.data, "a change is told in the same frame as in the table's own stream");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_taken_up_where_it_was_left_and_read_in_pages() {
    let stage = stage().await;
    let table = Table::open(&stage, json!({})).await;
    let events = table.until("user.input.required").await;
    let resumed = stage.call(Method::GET, &table.path("/events")).header("last-event-id", "3");
    let resumed = Events::open(resumed).await.until(|frame| frame["type"] == "user.input.required").await;
    assert_eq!(resumed, events[3..]);

    let page = |after: u64| {
        let path = table.path(&format!("/events?after={after}&limit=2"));
        stage.call(Method::GET, &path).header("accept", "application/json").send()
    };
    let (mut read, mut after) = (Vec::new(), 0);
    loop {
        let page = page(after).await.is(200);
        after = page["next_after"].as_u64().unwrap();
        match page["events"].as_array().unwrap() {
            found if found.is_empty() => break,
            found => read.extend(found.clone()),
        }
    }
    assert_eq!(read, events.into_iter().map(|event| event.data).collect::<Vec<_>>());

    table.say("/close", json!({})).await.is(202);
    let last = table.show().await["seq"].clone();
    let over = stage.call(Method::GET, &table.path("/events")).header("last-event-id", &last.to_string());
    assert_eq!(over.send().await.status, 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_looks_at_every_round_has_a_say_and_ends_it() {
    let stage = stage().await;
    let limits = json!({ "max_rounds_per_conflict": 3 });
    let table = Table::open(&stage, json!({ "interactive": true, "limits": limits })).await;
    table.until("user.input.required").await;
    let pending = table.show().await["pending"].clone();
    assert_eq!(pending["source"], "checkpoint", "{pending}");

    let view = table.say("/escalate", json!({ "note": "payment is mine" })).await.is(202);
    assert_eq!(
        (&view["pending"]["source"], &view["pending"]["interaction_id"]),
        (&json!("escalation"), &json!(2))
    );
    assert!(view["pending"]["prompt"].as_str().unwrap().contains("payment is mine"));
    let again = stage.call(Method::POST, &table.path("/escalate")).send().await.is(202);
    assert_eq!(again, view, "who asks twice is asked once");

    let closed = table.say("/close", json!({})).await.is(202);
    assert_eq!((&closed["status"], &closed["close_reason"]), (&json!("closed"), &json!("user_closed")));
    assert_eq!(table.say("/close", json!({})).await.is(200), closed);
    table.say("/escalate", json!({})).await.is_problem(409, "NOT_ALLOWED_NOW");
    let late = json!({ "interaction_id": 2, "response": "discuss" });
    table.say("/reply", late).await.is_problem(409, "NOT_OPEN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_sent_again_opens_one_roundtable() {
    let stage = stage().await;
    let send = |body: Value| {
        stage.call(Method::POST, "/v1/roundtables").header("idempotency-key", "k").json(&body).send()
    };
    let (first, second) = tokio::join!(send(request(json!({}))), send(request(json!({}))));
    assert_eq!(first.is(201)["roundtable_id"], second.is(201)["roundtable_id"]);
    send(request(json!({ "subject": "another shop" }))).await.is_problem(409, "KEY_REUSED");

    let table = Table { stage: &stage, id: first.json()["roundtable_id"].as_str().unwrap().to_owned() };
    table.until("user.input.required").await;
    let reply = |word: &str| {
        let body = json!({ "interaction_id": 1, "response": word });
        stage.call(Method::POST, &table.path("/reply")).header("idempotency-key", "r").json(&body).send()
    };
    let (one, other) = tokio::join!(reply("accept"), reply("accept"));
    assert_eq!((one.status.as_u16(), other.status.as_u16()), (202, 202));
    reply("discuss").await.is_problem(409, "KEY_REUSED");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_hold_every_roundtable_once() {
    let stage = stage().await;
    let mut opened = Vec::new();
    for _ in 0..3 {
        opened.push(Table::open(&stage, json!({})).await.id);
    }
    stage.call(Method::POST, &format!("/v1/roundtables/{}/close", opened[1])).send().await.is(202);
    let (mut listed, mut path) = (Vec::new(), "/v1/roundtables?limit=2".to_owned());
    loop {
        let page = stage.get(&path).await.is(200);
        let ids = page["items"].as_array().unwrap().iter().map(|row| row["roundtable_id"].as_str().unwrap());
        listed.extend(ids.map(str::to_owned));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/roundtables?limit=2&cursor={cursor}");
    }
    assert_eq!(listed, opened.iter().rev().cloned().collect::<Vec<_>>());
    let closed = stage.get("/v1/roundtables?status=closed").await.is(200);
    assert_eq!(closed["items"].as_array().unwrap().len(), 1);
    assert_eq!(closed["items"][0]["close_reason"], "user_closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_starts_a_roundtable_over_mcp_answers_it_and_reads_its_document() {
    let stage = stage().await;
    let arguments = request(json!({ "idempotency_key": "k" }));
    let opened = call(&stage, "start_roundtable", arguments.clone()).await;
    assert_eq!(call(&stage, "start_roundtable", arguments).await["roundtable_id"], opened["roundtable_id"]);
    let id = opened["roundtable_id"].as_str().unwrap().to_owned();
    let table = Table { stage: &stage, id: id.clone() };
    table.until("user.input.required").await;
    let inbox = call(&stage, "list_inbox", json!({})).await;
    let question = &inbox["questions"][0];
    assert_eq!((&question["roundtable_id"], &question["run_id"]), (&json!(id), &Value::Null), "{inbox}");
    let state = call(&stage, "get_roundtable", json!({ "roundtable_id": id })).await;
    assert_eq!((&state["question"], &state["rounds"]), (question, &json!(2)), "{state}");
    assert_eq!(state["conflicts"], json!(["Cash or card"]));
    let reply = json!({
        "roundtable_id": id, "interaction_id": question["interaction_id"], "response": "accept", "idempotency_key": "r",
    });
    for _ in 0..2 {
        call(&stage, "reply_roundtable", reply.clone()).await;
    }
    table.until("roundtable.closed").await;
    let closed = call(&stage, "get_roundtable", json!({ "roundtable_id": id })).await;
    assert_eq!(
        (&closed["status"], &closed["close_reason"]),
        (&json!("closed"), &json!("concluded")),
        "{closed}"
    );
    assert_eq!(closed["artifacts"][0]["title"], "Cards are taken");
    let document = call(&stage, "export_roundtable", json!({ "roundtable_id": id })).await;
    assert!(document["document"].as_str().unwrap().contains("Cards are taken"), "{document}");
    let whole = call(&stage, "export_roundtable", json!({ "roundtable_id": id, "format": "json" })).await;
    let whole: Value = serde_json::from_str(whole["document"].as_str().unwrap()).unwrap();
    assert_eq!(whole["roundtable"]["roundtable_id"], json!(id));
    assert_eq!(refused(&stage, "start_roundtable", json!({ "subjekt": "x" })).await, "INVALID");
    assert_eq!(refused(&stage, "reply_roundtable", reply_to_nothing(&id)).await, "NOT_OPEN");
}

fn reply_to_nothing(id: &str) -> Value {
    json!({ "roundtable_id": id, "interaction_id": 1, "response": "stop" })
}
