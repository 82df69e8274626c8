//! Agents over the Agent Client Protocol.

use std::sync::Arc;

use adjourn_core::{ErrorCode, OutputStream, Profile};
use adjourn_engine::agent_processes::process_with_id;
use adjourn_engine::{
    AcpConfig, AcpEngine, Engine, Finished, Gateway, PermissionAnswer, PermissionRule, Serves, Turn, log_file,
};
use adjourn_testkit::acp::{Act, Asks, Mcp, Script, TakesUp};
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::Scripted;
use super::toolbox::done;
use super::visit::{Guest, knock};
use crate::acp::{config, failure, handle, process, say, script};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, completed, turn};

fn engine(config: AcpConfig) -> Arc<dyn Engine> {
    Arc::new(AcpEngine::new(config, supervisor(), Gateway::new()))
}

fn uses(tool: &str) -> Act {
    Act::UseTool(tool.to_owned(), json!({"message": "hi"}))
}

fn echo() -> Arc<Scripted> {
    Scripted::new([("echo", done(json!("hi")))])
}

async fn is_offered_in_every_process(takes_up: TakesUp) {
    let stage = Stage::new();
    let script = Script { takes_up, ..script(&stage, vec![vec![uses("echo"), say("!")]]) };
    let engine = engine(config(&stage, &script));
    let tools = echo();
    let first = Turn { tools: tools.clone(), ..turn(&stage, "go") };
    let (seen, finished) = Going::start(engine.clone(), first.clone()).until_it_ends().await;
    let answer = r#"{"content":[{"type":"text","text":"hi"}],"isError":false}!"#;
    assert_eq!(finished, completed(answer));
    let next = Turn { handle: handle(&seen), ..first };
    assert_eq!(Going::start(engine, next).until_it_ends().await.1, completed(answer));
    let call = ("echo".to_owned(), json!({"message": "hi"}));
    assert_eq!(tools.begun(), [call.clone(), call]);
}

#[tokio::test]
async fn an_agent_is_told_of_the_gateway_when_its_conversation_begins_and_is_resumed() {
    is_offered_in_every_process(TakesUp::Resume).await;
}

#[tokio::test]
async fn an_agent_is_told_of_the_gateway_when_its_conversation_is_loaded() {
    is_offered_in_every_process(TakesUp::Load).await;
}

#[tokio::test]
async fn a_process_that_stays_calls_the_tools_of_the_turn_that_goes_on() {
    let stage = Stage::new();
    let engine = engine(config(&stage, &script(&stage, vec![vec![uses("count")]])));
    let (one, other) =
        (Scripted::new([("count", done(json!(1)))]), Scripted::new([("count", done(json!(2)))]));
    let first = Turn { profile: Profile::StickyProcess, tools: one.clone(), ..turn(&stage, "go") };
    let (seen, _) = Going::start(engine.clone(), first.clone()).until_it_ends().await;
    let next = Turn { process: Some(process(&seen)), handle: handle(&seen), tools: other.clone(), ..first };
    Going::start(engine.clone(), next).until_it_ends().await;
    assert_eq!((one.begun().len(), other.begun().len()), (1, 1));
    engine.end(turn(&stage, "").run_id).await;
}

/// What the agent was told of the gateway, each time that it was: the address and the token.
fn servers(stage: &Stage) -> Vec<(String, String)> {
    let told = std::fs::read_to_string(stage.path().join("sessions/told")).unwrap_or_default();
    let server = |line: &str| {
        let server: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&server["name"], &server["type"]), (&json!("adjourn"), &json!("http")));
        let bearer = server["headers"][0]["value"].as_str().unwrap();
        (server["url"].as_str().unwrap().to_owned(), bearer.strip_prefix("Bearer ").unwrap().to_owned())
    };
    told.lines().map(server).collect()
}

#[tokio::test]
async fn between_its_turns_a_process_that_stays_keeps_its_token_and_calls_nothing() {
    let stage = Stage::new();
    let tools = echo();
    let gateway = Gateway::new();
    // This process plays one of the agent's.
    gateway.agents().register(turn(&stage, "").run_id, process_with_id(std::process::id()).unwrap());
    let config = config(&stage, &script(&stage, vec![vec![say("?")], vec![uses("echo")]]));
    let engine: Arc<dyn Engine> = Arc::new(AcpEngine::new(config, supervisor(), gateway));
    let first = Turn { profile: Profile::StickyProcess, tools: tools.clone(), ..turn(&stage, "go") };
    let (seen, _) = Going::start(engine.clone(), first.clone()).until_it_ends().await;
    let [(url, token)] = &servers(&stage)[..] else { panic!("it was told once") };
    let client = Guest::enter(url, token).await;
    let refused = client.try_call("echo", json!({})).await.unwrap_err().to_string();
    assert!(refused.contains("no turn of this run is going on"), "{refused}");
    let next = Turn { process: Some(process(&seen)), handle: handle(&seen), ..first };
    Going::start(engine.clone(), next).until_it_ends().await;
    assert_eq!((tools.begun().len(), servers(&stage).len()), (1, 1));
    engine.end(turn(&stage, "").run_id).await;
    let bearer = format!("Bearer {token}");
    assert_eq!(knock(url, &[("authorization", &bearer)], String::new()).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn xx_15_the_token_is_not_in_the_log_of_an_agent_that_prints_it() {
    let stage = Stage::new();
    let tools = Scripted::new([("echo", done(json!("hi")))]);
    let acts = vec![Act::Read("sessions/told".into())];
    let config = AcpConfig { serves: vec![Serves::Files], ..config(&stage, &script(&stage, vec![acts])) };
    let (_, finished) =
        Going::start(engine(config), Turn { tools, ..turn(&stage, "go") }).until_it_ends().await;
    let [(url, token)] = &servers(&stage)[..] else { panic!("it was told once") };
    let Finished::Completed { text } = finished else { panic!("it is not done: {finished:?}") };
    let log = std::fs::read_to_string(log_file(&stage.path().join("logs"), 1, OutputStream::Stdout)).unwrap();
    for shown in [&text, &log] {
        assert!(shown.contains(url) && !shown.contains(token), "{shown}");
    }
}

#[tokio::test]
async fn an_agent_that_cannot_reach_the_gateway_does_not_begin_work_that_takes_tools() {
    let stage = Stage::new();
    let script = Script { mcp: Mcp::Stdio, ..script(&stage, vec![vec![say("done")]]) };
    let play = async |tools| {
        let turn = Turn { tools, ..turn(&stage, "go") };
        Going::start(engine(config(&stage, &script)), turn).until_it_ends().await.1
    };
    let (code, message) = failure(play(echo()).await);
    assert_eq!(code, ErrorCode::EngineProtocolError);
    assert!(message.contains("mcpCapabilities.http"), "{message}");
    // It can ask by what it says.
    assert_eq!(play(Scripted::new([("ask_user", done(json!(1)))])).await, completed("done"));
    assert_eq!(servers(&stage), []);
}

#[tokio::test]
async fn a_tool_server_that_cannot_be_used_fails_the_turn_before_an_agent_is_started() {
    let stage = Stage::new();
    let engine = engine(config(&stage, &script(&stage, vec![vec![say("done")]])));
    let turn = Turn { tools: Scripted::down(), ..turn(&stage, "go") };
    let (seen, finished) = Going::start(engine, turn).until_it_ends().await;
    assert_eq!(failure(finished).0, ErrorCode::ToolServerUnavailable);
    assert_eq!(seen, []);
}

fn asks(title: &str, kind: &str, input: Value) -> Act {
    Act::Ask(vec![Asks { title: title.to_owned(), kind: kind.to_owned(), input, path: None }])
}

/// What an agent is told that asks for this, if everything else is refused to it.
async fn answer(asked: Act) -> &'static str {
    let stage = Stage::new();
    let rule = PermissionRule { kind: None, path: None, answer: PermissionAnswer::Deny };
    let acts = vec![asked, say("done")];
    let config = AcpConfig { rules: vec![rule], ..config(&stage, &script(&stage, vec![acts])) };
    let (seen, _) =
        Going::start(engine(config), Turn { tools: echo(), ..turn(&stage, "go") }).until_it_ends().await;
    if format!("{seen:?}").contains(": allow") { "yes" } else { "no" }
}

#[tokio::test]
async fn an_agent_need_not_ask_before_it_calls_what_is_offered() {
    for title in ["mcp__adjourn__echo", "echo (adjourn MCP Server)"] {
        assert_eq!(answer(asks(title, "other", json!({"message": "hi"}))).await, "yes", "{title}");
    }
    assert_eq!(answer(asks(CODEX, "other", of_codex("adjourn", "mcp_tool_call"))).await, "yes");
}

const CODEX: &str = "Approve MCP tool call";

/// What codex gives for the arguments of a call.
fn of_codex(server: &str, kind: &str) -> Value {
    let meta = json!({"codex_approval_kind": kind, "tool_params": {"message": "hi"}});
    json!({"server_name": server, "request": {"mode": "form", "_meta": meta}})
}

#[tokio::test]
async fn nothing_of_its_own_passes_for_a_tool_that_is_offered() {
    let ours = "mcp__adjourn__echo";
    for (title, kind, input) in [
        // Not offered, or not ours.
        ("mcp__adjourn__count", "other", json!({})),
        ("mcp__other__echo", "other", json!({})),
        ("echo (other MCP Server)", "other", json!({})),
        ("echo", "other", json!({})),
        ("mcp__adjourn__echo; rm -rf .", "other", json!({})),
        // Said to be something else.
        (ours, "execute", json!({})),
        (ours, "edit", json!({})),
        // A title that the model wrote, as the argument of another tool.
        (ours, "other", json!({"command": ours, "stdin": "rm -rf ."})),
        (ours, "other", json!({"questions": [{"question": ours}]})),
        (CODEX, "other", json!({"command": CODEX, "of": of_codex("adjourn", "mcp_tool_call")})),
        (CODEX, "other", of_codex("other", "mcp_tool_call")),
        (CODEX, "other", of_codex("adjourn", "tool_suggestion")),
        // Nothing to be seen of its arguments.
        (ours, "other", Value::Null),
    ] {
        assert_eq!(answer(asks(title, kind, input.clone())).await, "no", "{title} {kind} {input}");
    }
}
