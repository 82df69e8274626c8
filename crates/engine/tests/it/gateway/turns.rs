//! Turns of command lines that have tools, or none.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adjourn_core::{ErrorCode, OutputStream, RunError};
use adjourn_engine::{
    ASK_USER, Engine, ExecEngine, Finished, Gateway, NoTools, Preset, Toolbox, Turn, log_file,
};
use reqwest::StatusCode;
use serde_json::json;

use super::toolbox::done;
use super::visit::Visit;
use super::{Scripted, is_of_root};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, completed, config, turn};

async fn play(stage: &Stage, preset: Preset, script: &str, tools: Arc<dyn Toolbox>) -> Finished {
    let config = config(stage, preset, "sh", script);
    let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let workspace = stage.path().join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    Going::start(engine, Turn { tools, workspace, ..turn(stage, "go") }).until_it_ends().await.1
}

#[tokio::test]
async fn the_token_counts_as_long_as_the_turn() {
    let gateway = Gateway::new();
    let echo = || Scripted::new([("echo", done(json!("hi")))]);
    let one = Visit::begin(&gateway, 1, echo()).await;
    let other = Visit::begin(&gateway, 2, echo()).await;
    let [one_bearer, other_bearer] = [&one, &other].map(|visit| format!("Bearer {}", visit.token));
    one.leave().await;
    assert_eq!(other.knock(&[("authorization", &one_bearer)]).await, StatusCode::UNAUTHORIZED);
    assert_eq!(other.knock(&[("authorization", &other_bearer)]).await, StatusCode::OK);
    other.leave().await;
}

#[tokio::test]
async fn xx_15_the_token_is_in_nothing_that_the_agent_shows() {
    let visit = Visit::alone(Scripted::new([("echo", done(json!("hi")))])).await;
    let token = visit.token.clone();
    let (stage, finished) = visit.leave().await;
    assert_eq!(finished, completed("I was told ⟦masked⟧"));
    let log = std::fs::read_to_string(log_file(&stage.path().join("logs"), 1, OutputStream::Stdout)).unwrap();
    assert!(log.contains("I was told") && !log.contains(&token), "{log}");
}

#[tokio::test]
async fn a_tool_server_that_cannot_be_used_fails_the_turn_before_an_agent_is_started() {
    let stage = Stage::new();
    let finished = play(&stage, Preset::Command, "touch ../started", Scripted::down()).await;
    let message = "the tool server `mail` cannot be started: it is not installed".to_owned();
    assert_eq!(finished, Finished::Failed(RunError { code: ErrorCode::ToolServerUnavailable, message }));
    assert!(!stage.path().join("started").exists());
}

#[tokio::test]
async fn an_agent_without_tools_is_told_of_no_gateway() {
    let stage = Stage::new();
    let script = "env | grep -c ADJOURN_MCP; echo \"args: $*\"";
    let finished = play(&stage, Preset::Command, script, Arc::new(NoTools)).await;
    assert_eq!(finished, completed("0\nargs:"));
}

#[tokio::test]
async fn files_for_an_agent_are_its_owners_alone_outside_its_workspace_and_gone_with_it() {
    let (stage, run) = (Stage::new(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    if !is_of_root(run.path()) {
        return;
    }
    let script = r#"
for arg in "$@" "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH"; do
    [ -f "$arg" ] && stat -c '%a' "$arg" >>modes && echo "$arg" >>paths
done
grep -c "$ADJOURN_MCP_TOKEN" "$GEMINI_CLI_SYSTEM_DEFAULTS_PATH" >>tokens
"#;
    let config = config(&stage, Preset::Gemini, "sh", script);
    let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let tools = Scripted::new([("echo", done(json!("hi")))]);
    let logs = run.path().join("logs");
    Going::start(engine, Turn { tools, logs: logs.clone(), ..turn(&stage, "go") }).until_it_ends().await;
    let read = |name: &str| std::fs::read_to_string(stage.path().join(name)).unwrap();
    assert_eq!((read("modes").as_str(), read("tokens").as_str()), ("600\n600\n", "0\n"));
    for path in read("paths").lines().map(Path::new) {
        assert!(path.starts_with(&logs) && !path.exists(), "{}", path.display());
    }
}

#[tokio::test]
async fn an_agent_that_would_pass_over_its_files_is_not_started() {
    let stage = Stage::new();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(stage.path(), open).unwrap();
    let tools = Scripted::new([("echo", done(json!("hi")))]);
    let finished = play(&stage, Preset::Gemini, "touch ../started", tools).await;
    let Finished::Failed(RunError { code, message }) = finished else {
        panic!("it did not fail: {finished:?}")
    };
    assert_eq!(code, ErrorCode::EngineProtocolError);
    assert!(message.contains("use it over ACP"), "{message}");
    let is_there = |name: &str| stage.path().join(name).exists();
    assert_eq!((is_there("started"), is_there("logs")), (false, false), "nothing is left of it");

    // Without tools that its work takes it is: it can ask by what it says.
    let tools = Scripted::new([(ASK_USER, done(json!("hi")))]);
    play(&stage, Preset::Gemini, "touch ../started", tools).await;
    assert!(is_there("started"));
}

#[tokio::test]
async fn what_the_configuration_sets_is_not_overwritten() {
    let stage = Stage::new();
    let mut config = config(&stage, Preset::Opencode, "sh", "touch started");
    config.env.insert("OPENCODE_CONFIG_CONTENT".to_owned(), "{}".to_owned());
    let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
    let tools = Scripted::new([("echo", done(json!("hi")))]);
    let finished = Going::start(engine, Turn { tools, ..turn(&stage, "go") }).until_it_ends().await.1;
    let Finished::Failed(RunError { code, message }) = finished else {
        panic!("it did not fail: {finished:?}")
    };
    assert_eq!(code, ErrorCode::EngineProtocolError);
    assert!(message.contains("OPENCODE_CONFIG_CONTENT"), "{message}");
    assert!(!stage.path().join("started").exists());
}
