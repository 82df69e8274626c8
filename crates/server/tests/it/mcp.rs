//! The MCP server, request by request. The official client drives it as a whole, in `cargo xtask mcp`.

use adjourn_core::Strict;
use hyper::Method;
use serde_json::{Value, json};

use crate::stage::Stage;

/// The answer to a request of a client that speaks a version with a handshake.
async fn ask(stage: &Stage, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let call = stage.call(Method::POST, "/mcp").header("accept", "application/json, text/event-stream");
    let answer = call.header("content-type", "application/json").json(&request).send().await.is(200);
    assert_eq!(answer["id"], 1, "{answer}");
    answer
}

/// What a tool answers, which is no error.
pub(crate) async fn call(stage: &Stage, tool: &str, arguments: Value) -> Value {
    let answer = ask(stage, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    answer["result"]["structuredContent"].clone()
}

/// The code of the error that a tool answers, which its text begins with.
pub(crate) async fn refused(stage: &Stage, tool: &str, arguments: Value) -> String {
    let answer = ask(stage, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    let code = result["structuredContent"]["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert!(result["content"][0]["text"].as_str().unwrap().starts_with(&format!("{code}: ")), "{answer}");
    code
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_starts_a_run_waits_answers_and_reads_what_came_of_it() {
    let stage = Stage::new().await;
    let arguments = json!({ "skill": "survey", "engine": "scripted", "idempotency_key": "k" });
    let run = call(&stage, "start_run", arguments.clone()).await;
    assert_eq!(call(&stage, "start_run", arguments).await["run_id"], run["run_id"]);
    let id = run["run_id"].as_str().unwrap();
    let actor = stage.actor(id);
    actor.asks(1).await;
    let inbox = call(&stage, "list_inbox", json!({})).await;
    assert_eq!(
        (&inbox["questions"][0]["run_id"], &inbox["questions"][0]["interaction_id"]),
        (&json!(id), &json!(1))
    );
    let state = call(&stage, "read_run", json!({ "run_id": id })).await;
    assert_eq!(state["questions"], inbox["questions"]);
    let reply = json!({ "run_id": id, "interaction_id": 1, "response": "SQLite", "idempotency_key": "r" });
    for _ in 0..2 {
        call(&stage, "reply_to_run", reply.clone()).await;
    }
    actor.finishes(2).await;
    actor.becomes("succeeded").await;
    let ended = call(&stage, "wait_for_change", json!({ "run_id": id, "cursor": run["cursor"] })).await;
    assert_eq!((&ended["changed"], &ended["run"]["result"]), (&json!(true), &json!({ "answer": "done" })));
    let texts: Vec<_> =
        ended["changes"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap()).collect();
    assert!(texts.contains(&"**Answer to question 1:** SQLite"), "{texts:?}");
    // Nothing happens to it any more, so nobody is kept waiting.
    let after = json!({ "run_id": id, "cursor": ended["cursor"], "timeout_sec": 50 });
    assert_eq!(call(&stage, "wait_for_change", after).await["changed"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_ends_with_the_change_and_nothing_is_missed_between_two() {
    let stage = Stage::new().await;
    let start = call(&stage, "wait_for_change", json!({ "timeout_sec": 0 })).await;
    assert_eq!(start["changed"], false);
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    let all = call(&stage, "wait_for_change", json!({ "cursor": start["cursor"] })).await;
    let first = &all["changes"][0];
    assert_eq!(
        (&first["run_id"], &first["text"]),
        (&json!(run.id), &json!("*queued → running (turn.started)*"))
    );
    run.becomes("waiting_user").await;
    let cursor = run.show().await["seq"].clone();
    let wait = json!({ "run_id": run.id, "cursor": cursor, "timeout_sec": 50 });
    let (waited, ()) = tokio::join!(call(&stage, "wait_for_change", wait), async {
        run.cancel().await.is(202);
    });
    assert_eq!((&waited["changed"], &waited["run"]["status"]), (&json!(true), &json!("canceled")));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_an_error_that_the_model_sees_with_the_code_of_http() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.finishes(1).await;
    run.becomes("succeeded").await;
    let none = "run_01h455vb4pex5vsknk084sn02q";
    for (tool, arguments, code) in [
        ("read_run", json!({ "run_id": none }), "UNKNOWN_RUN"),
        ("read_run", json!({ "run_id": "7" }), "UNKNOWN_RUN"),
        ("read_run", json!({}), "INVALID"),
        ("read_run", json!({ "run_id": none, "verbose": true }), "INVALID"),
        ("start_run", json!({}), "INVALID"),
        ("start_run", json!({ "skill": "surwey" }), "SKILL_UNUSABLE"),
        ("start_run", json!({ "prompt": "Hi.", "options": { "max_attempt": 0 } }), "INVALID"),
        ("start_run", json!({ "prompt": "Hi.", "idempotency_key": "" }), "INVALID"),
        ("reply_to_run", json!({ "run_id": run.id, "response": "x" }), "NOT_OPEN"),
        ("cancel_run", json!({ "run_id": run.id }), "NOT_ALLOWED_NOW"),
        ("wait_for_change", json!({ "timeout_sec": 51 }), "BAD_REQUEST"),
        ("list_inbox", json!({ "cursor": "x" }), "BAD_REQUEST"),
    ] {
        assert_eq!(refused(&stage, tool, arguments.clone()).await, code, "{tool} {arguments}");
    }
    let unknown = ask(&stage, "tools/call", json!({ "name": "sudo", "arguments": {} })).await;
    assert_eq!(unknown["error"]["message"], "there is no tool `sudo`");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_is_the_whole_story_of_a_run() {
    let stage = Stage::new().await;
    let run = stage.start(json!({})).await;
    run.asks(1).await;
    run.reply(json!({ "interaction_id": 1, "response": "SQLite" })).await.is(202);
    run.finishes(2).await;
    run.becomes("succeeded").await;
    let listed = ask(&stage, "resources/list", json!({})).await;
    let uri = listed["result"]["resources"][0]["uri"].as_str().unwrap();
    assert_eq!(uri, format!("adjourn://runs/{}/transcript", run.id));
    let read = ask(&stage, "resources/read", json!({ "uri": uri })).await;
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["mimeType"], "text/markdown");
    let text = contents["text"].as_str().unwrap();
    let mut rest = text;
    for part in [
        "# run_",
        "Skill `survey` on `scripted`",
        "## Attempt 1",
        "*queued → running (turn.started)*",
        "**Agent:**",
        "**Question 1** (open_text):\n\n> Which database?",
        "*running → waiting_user (turn.needs_input)*",
        "**Answer to question 1:** SQLite",
        "## Attempt 2",
        "*running → succeeded (turn.succeeded)*",
        "## Result",
        "\"answer\": \"done\"",
    ] {
        let (_, behind) =
            rest.split_once(part).unwrap_or_else(|| panic!("no `{part}` in its place:\n{text}"));
        rest = behind;
    }
    for uri in ["adjourn://runs/7/transcript", "adjourn://skills", "file:///etc/passwd"] {
        let read = ask(&stage, "resources/read", json!({ "uri": uri })).await;
        assert!(read["error"]["message"].is_string(), "{read}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_says_what_it_does_what_it_takes_and_what_it_changes() {
    let stage = Stage::new().await;
    let listed = ask(&stage, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let short = |tool: &Value| {
        assert!(tool["description"].as_str().unwrap().len() > 40, "{tool}");
        assert_eq!(
            (&tool["inputSchema"]["type"], &tool["outputSchema"]["type"]),
            (&json!("object"), &json!("object"))
        );
        (tool["name"].as_str().unwrap().to_owned(), tool["annotations"]["readOnlyHint"].as_bool().unwrap())
    };
    let mut short: Vec<_> = tools.iter().map(short).collect();
    short.sort();
    let expected = [
        ("cancel_run", false),
        ("export_roundtable", true),
        ("get_roundtable", true),
        ("list_inbox", true),
        ("list_skills", true),
        ("read_run", true),
        ("reply_roundtable", false),
        ("reply_to_run", false),
        ("start_roundtable", false),
        ("start_run", false),
        ("wait_for_change", true),
    ];
    assert_eq!(short, expected.map(|(name, reads)| (name.to_owned(), reads)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_door_is_guarded_and_what_is_no_request_is_a_problem() {
    let stage = Stage::new().await;
    let post = || stage.call(Method::POST, "/mcp");
    post().header("origin", "http://evil.example").body("{}").send().await.is_problem(403, "FOREIGN_ORIGIN");
    post().header("host", "evil.example").body("{}").send().await.is_problem(403, "FOREIGN_HOST");
    post().body(vec![b' '; 5 * 1024 * 1024]).send().await.is_problem(413, "BODY_TOO_LARGE");
    stage.get("/mcp").await.is_problem(405, "METHOD_NOT_ALLOWED");
    let typed = || {
        post()
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    };
    for body in ["", "{", "[]", "{}", "\u{feff}{}"] {
        assert!(typed().body(body).send().await.status.is_client_error(), "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_surface_takes_the_same_options() {
    let stage = Stage::new().await;
    let options = json!({
        "interactive_require_user_reply": false, "session_timeout_sec": 61, "interactive_profile": { "kind": "resumable" },
        "max_attempt": 3, "hard_timeout_sec": 62, "repair_limit": 4, "priority": 5,
    });
    let request = json!({ "skill": "survey", "engine": "scripted", "options": options });
    let by_http = stage.post("/v1/runs", &request).await.is(201)["run_id"].clone();
    let by_mcp = call(&stage, "start_run", request).await["run_id"].clone();
    let job = json!({ "skill_id": "survey", "engine": "scripted", "runtime_options": options });
    let by_job = stage.post("/v1/jobs", &job).await.is(200)["request_id"].clone();
    for id in [by_http, by_mcp, by_job] {
        let run = stage.service().run(id.as_str().unwrap().parse().unwrap()).unwrap();
        let spec = run.spec();
        let times = (spec.session_timeout_sec, spec.hard_timeout_sec);
        assert_eq!(times, (61, Some(62)), "{id}");
        assert_eq!((spec.strict, spec.max_attempt), (Strict::Off, Some(3)), "{id}");
        assert_eq!((spec.repair_limit, spec.priority), (4, 5), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_wrong_with_a_call_is_told_at_once() {
    let stage = Stage::new().await;
    let arguments = json!({ "skil": "survey", "options": { "max_attempt": 0, "prioritty": 1 } });
    let answer = ask(&stage, "tools/call", json!({ "name": "start_run", "arguments": arguments })).await;
    let errors = answer["result"]["structuredContent"]["errors"].as_array().unwrap();
    let paths: Vec<_> = errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/skil", "/options/prioritty", "/options/max_attempt"], "{answer}");
}
