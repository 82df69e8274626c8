//! Tokens: who may do what, and how often.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use adjourn_server::Listeners;
use adjourn_server::tokens::{Role, Tokens, make};
use hyper::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Call, Events, by_socket_with};
use crate::stage::{Stage, exists};

/// A server that asks for a token, and one of each role.
struct Guarded {
    stage: Stage,
    folder: tempfile::TempDir,
    read: String,
    reply: String,
    admin: String,
}

impl Guarded {
    async fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        let [read, reply, admin] = [("rita", Role::Read), ("rob", Role::Reply), ("ada", Role::Admin)]
            .map(|(name, role)| make(&file, name, role).unwrap().secret);
        let stage = Stage::behind(settings, Some(Tokens::open(&file).unwrap())).await;
        Self { stage, folder, read, reply, admin }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    fn call(&self, secret: &str, method: Method, path: &str) -> Call {
        self.stage.call(method, path).header("authorization", &format!("Bearer {secret}"))
    }

    async fn send(&self, secret: &str, method: Method, path: &str, body: &Value) -> Answer {
        self.call(secret, method, path).json(body).send().await
    }

    /// A run that waits for an answer.
    async fn waiting(&self) -> String {
        let run = self.send(&self.admin, Method::POST, "/v1/runs", &Stage::request(json!({}))).await.is(201);
        let id = run["run_id"].as_str().unwrap().to_owned();
        let work = self.stage.data().join("runs").join(&id).join("work");
        exists(&work.join("prompt.1")).await;
        fs::write(work.join("does.part"), "echo '{\"__SKILL_DONE__\": false, \"message\": \"Which?\"}'\n")
            .unwrap();
        fs::rename(work.join("does.part"), work.join("does.1")).unwrap();
        let events = self.call(&self.read, Method::GET, &format!("/v1/runs/{id}/events"));
        Events::open(events).await.until(|frame| frame["data"]["to"] == "waiting_user").await;
        id
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_only_the_signs_of_life_are_to_be_had() {
    let guarded = Guarded::new("").await;
    for path in ["/healthz", "/readyz"] {
        guarded.stage.get(path).await.is(200);
    }
    for path in [
        "/v1/runs",
        "/v1/inbox",
        "/v1/events",
        "/v1/engines",
        "/metrics",
        "/docs",
        "/openapi.json",
        "/nowhere",
    ] {
        let answer = guarded.stage.get(path).await;
        answer.is_problem(401, "TOKEN_MISSING");
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"adjourn\"");
    }
    guarded.stage.post("/v1/runs", &Stage::request(json!({}))).await.is_problem(401, "TOKEN_MISSING");
    for wrong in ["Bearer adj_wrong", "bearer x", &format!("Bearer {}x", guarded.admin)] {
        let answer = guarded.stage.call(Method::GET, "/v1/runs").header("authorization", wrong).send().await;
        answer.is_problem(401, "TOKEN_UNKNOWN");
        assert_eq!(answer.headers["www-authenticate"], "Bearer realm=\"adjourn\", error=\"invalid_token\"");
    }
    let basic = guarded.stage.call(Method::GET, "/v1/runs").header("authorization", "Basic YTpi");
    basic.send().await.is_problem(401, "TOKEN_MISSING");
    guarded.send(&guarded.read, Method::GET, "/nowhere", &json!({})).await.is_problem(404, "UNKNOWN_ROUTE");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_says_which_role_each_operation_needs() {
    let guarded = Guarded::new("").await;
    let document = guarded.call(&guarded.read, Method::GET, "/openapi.json").send().await.is(200);
    assert_eq!(document["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    let paths = document["paths"].as_object().unwrap();
    let operations = paths.iter().flat_map(|(path, item)| {
        item.as_object().unwrap().iter().map(move |(method, operation)| (method, path, operation))
    });
    for (method, path, operation) in operations {
        let method: Method = method.to_uppercase().parse().unwrap();
        let what = format!("{method} {path}");
        let address = path.replace(['{', '}'], "");
        let Some(required) = operation["security"].get(0) else {
            guarded.stage.call(method, &address).send().await.is(200);
            continue;
        };
        let role = required["token"][0].as_str().unwrap();
        let sentence = format!("Needs the role `{role}`.");
        assert!(operation["description"].as_str().unwrap().ends_with(&sentence), "{what}");
        let (enough, lower) = match role {
            "read" => (&guarded.read, None),
            "reply" => (&guarded.reply, Some(&guarded.read)),
            "admin" => (&guarded.admin, Some(&guarded.reply)),
            other => panic!("{what} needs `{other}`"),
        };
        let refused = match lower {
            Some(lower) => guarded.send(lower, method.clone(), &address, &json!({})).await,
            None => guarded.stage.call(method.clone(), &address).send().await,
        };
        let code = if lower.is_some() { (403, "ROLE_TOO_LOW") } else { (401, "TOKEN_MISSING") };
        refused.is_problem(code.0, code.1);
        // The body of a stream does not end: its head is enough.
        let method = if method == Method::GET { Method::HEAD } else { method };
        let answer = guarded.send(enough, method, &address, &json!({})).await;
        assert!(![401, 403].contains(&answer.status.as_u16()), "{what}: {}", answer.status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_role_may_do_what_those_below_it_may_and_more() {
    let guarded = Guarded::new("").await;
    let run = guarded.waiting().await;
    let path = |rest: &str| format!("/v1/runs/{run}{rest}");
    let answer = json!({ "interaction_id": 1, "response": "PostgreSQL" });
    for secret in [&guarded.read, &guarded.reply, &guarded.admin] {
        guarded.send(secret, Method::GET, &path(""), &json!({})).await.is(200);
        guarded.send(secret, Method::GET, "/v1/inbox", &json!({})).await.is(200);
    }
    let refused = guarded.send(&guarded.read, Method::POST, &path("/reply"), &answer).await;
    let problem = refused.is_problem(403, "ROLE_TOO_LOW");
    assert_eq!(problem["detail"], "the token `rita` has the role `read`, and this takes `reply`");
    let settle = format!("/v1/contracts/{}/settle", adjourn_core::ExecutionId::from_bits(1));
    let said = json!({ "outcome": "happened" });
    guarded.send(&guarded.read, Method::POST, &settle, &said).await.is_problem(403, "ROLE_TOO_LOW");
    guarded.send(&guarded.reply, Method::POST, &settle, &said).await.is_problem(404, "UNKNOWN_CONTRACT");
    for secret in [&guarded.read, &guarded.reply] {
        let create = guarded.send(secret, Method::POST, "/v1/runs", &Stage::request(json!({}))).await;
        create.is_problem(403, "ROLE_TOO_LOW");
        guarded
            .send(secret, Method::POST, &path("/cancel"), &json!({}))
            .await
            .is_problem(403, "ROLE_TOO_LOW");
    }
    let seen = guarded.send(&guarded.read, Method::GET, &path(""), &json!({})).await.is(200);
    assert_eq!(seen["status"], "waiting_user", "nothing was changed");

    guarded.send(&guarded.reply, Method::POST, &path("/reply"), &answer).await.is(202);
    let questions =
        guarded.send(&guarded.read, Method::GET, &path("/interactions"), &json!({})).await.is(200);
    assert_eq!(
        questions["items"][0]["resolved_by"],
        json!({ "kind": "user", "name": "rob", "via": "token" })
    );
    guarded.send(&guarded.admin, Method::POST, &path("/cancel"), &json!({})).await.is(202);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_taken_out_of_the_file_ends_with_the_streams_it_opened() {
    let guarded = Guarded::new("").await;
    let mut stream = Events::open(guarded.call(&guarded.read, Method::GET, "/v1/events")).await;
    guarded.send(&guarded.read, Method::GET, "/v1/runs", &json!({})).await.is(200);
    let text = fs::read_to_string(guarded.file()).unwrap();
    let rest: Vec<_> = text.lines().filter(|line| !line.starts_with("rita ")).collect();
    fs::write(guarded.file(), rest.join("\n")).unwrap();
    let refused = guarded.send(&guarded.read, Method::GET, "/v1/runs", &json!({})).await;
    refused.is_problem(401, "TOKEN_UNKNOWN");
    guarded.send(&guarded.admin, Method::POST, "/v1/runs", &Stage::request(json!({}))).await.is(201);
    assert_eq!(stream.next().await, None, "nobody reads on with a token that is gone");
    let new = make(&guarded.file(), "rick", Role::Read).unwrap().secret;
    guarded.send(&new, Method::GET, "/v1/runs", &json!({})).await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_socket_asks_for_no_token_and_any_name_of_the_server_will_do_where_tokens_are_asked_for() {
    let guarded = Guarded::new("[server]\nwrites_per_second = 1\nburst = 1\n").await;
    let socket = guarded.stage.data().join("adjourn.sock");
    for _ in 0..20 {
        let body = Stage::request(json!({})).to_string();
        by_socket_with(&socket, Method::POST, "/v1/runs", &body).await.is(201);
    }
    let call = guarded.call(&guarded.read, Method::GET, "/v1/runs").header("host", "adjourn.example.org");
    call.header("origin", "https://adjourn.example.org").send().await.is(200);
    let folder = tempfile::tempdir().unwrap();
    let tokens = Tokens::open(&guarded.file()).unwrap();
    let open = Listeners::bind((Ipv4Addr::UNSPECIFIED, 0).into(), Some(tokens), folder.path()).await;
    assert!(open.unwrap().address().ip().is_unspecified());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_writes_too_often_is_told_when_to_come_back_and_others_go_on() {
    let guarded = Guarded::new("[server]\nwrites_per_second = 1\nburst = 1\n").await;
    let mut created = Vec::new();
    let refused = loop {
        let answer = guarded.send(&guarded.admin, Method::POST, "/v1/runs", &Stage::request(json!({}))).await;
        match answer.status.as_u16() {
            201 => created.push(answer.json()["run_id"].clone()),
            _ => break answer,
        }
        assert!(created.len() < 100, "there is no limit");
    };
    refused.is_problem(429, "RATE_LIMITED");
    assert_eq!(refused.headers["retry-after"], "1");
    let listed = guarded.send(&guarded.admin, Method::GET, "/v1/runs?limit=500", &json!({})).await.is(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), created.len(), "nothing was changed");
    let other = guarded.send(&guarded.reply, Method::POST, "/v1/runs/run_x/reply", &json!({})).await;
    other.is_problem(404, "UNKNOWN_RUN");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_takes_the_role_of_the_route_that_does_the_same() {
    let guarded = Guarded::new("").await;
    let run = guarded.waiting().await;
    let call = async |secret: &str, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let call = guarded.call(secret, Method::POST, "/mcp").header("content-type", "application/json");
        let call = call.header("accept", "application/json, text/event-stream");
        let answer = call.json(&request).send().await.is(200)["result"].clone();
        answer["structuredContent"]["code"].as_str().map(str::to_owned)
    };
    let refused = Some("ROLE_TOO_LOW".to_owned());
    let reply = json!({ "run_id": run, "interaction_id": 1, "response": "PostgreSQL" });
    assert_eq!(call(&guarded.read, "read_run", json!({ "run_id": run })).await, None);
    assert_eq!(call(&guarded.read, "reply_to_run", reply.clone()).await, refused);
    for tool in ["start_run", "cancel_run"] {
        assert_eq!(call(&guarded.reply, tool, json!({ "run_id": run })).await, refused);
    }
    assert_eq!(call(&guarded.reply, "reply_to_run", reply).await, None);
    let questions = guarded.call(&guarded.read, Method::GET, &format!("/v1/runs/{run}/interactions"));
    let by = questions.send().await.is(200)["items"][0]["resolved_by"].clone();
    assert_eq!(by, json!({ "kind": "user", "name": "rob", "via": "token" }));
    assert_eq!(call(&guarded.admin, "cancel_run", json!({ "run_id": run })).await, None);
    guarded.stage.call(Method::POST, "/mcp").body("{}").send().await.is_problem(401, "TOKEN_MISSING");
}
