//! Real agents call a tool through the gateway, by their command lines and over ACP, with a scripted model behind them.
//!
//! A test of an agent that is not installed skips itself; `cargo xtask agents` installs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use adjourn_core::{ExecutionId, Observation, Profile, RunId};
use adjourn_engine::{
    ASK_THE_USER, AcpConfig, AcpEngine, Engine, ExecConfig, ExecEngine, Gateway, Permission, Preset, Told,
    Turn,
};
use adjourn_testkit::agents::{self, ACP};
use adjourn_testkit::model::{ModelServer, Outcome, Reply, Script};
use serde_json::json;

use super::toolbox::{Does, done};
use super::{Scripted, is_of_root};
use crate::acp::{handle, process};
use crate::agent::{Stage, supervisor};
use crate::turns::{Going, completed, facts, turn};

/// An agent that is installed, in a home of its own.
struct Staged {
    stage: Stage,
    server: ModelServer,
    /// Where the files of its run are; not below `/tmp`, where gemini would not read them.
    run: tempfile::TempDir,
    env: BTreeMap<String, String>,
    command: Vec<String>,
}

impl Staged {
    fn new(agent: &str, like: &str, args: &[&str]) -> Option<Self> {
        let program = agents::binary_for_test(agent)?;
        let calls = || Reply::call("echo", json!({"message": "hi"}));
        let asks = Reply::call(ASK_THE_USER, json!({"message": "Which?"}));
        let replies = [calls(), asks, Reply::text("I wait."), calls(), Reply::text("It said hi again.")];
        let server = ModelServer::start(Script::new(replies)).unwrap();
        let stage = Stage::new();
        let home = stage.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::create_dir_all(stage.path().join("workspace")).unwrap();
        let mut env: BTreeMap<_, _> =
            agents::point(like, &home, &server.url()).unwrap().into_iter().collect();
        env.extend([stage.mark()]);
        let run = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let args = args.iter().map(|arg| (*arg).to_owned());
        let command = [program.display().to_string()].into_iter().chain(args).collect();
        Some(Self { stage, server, run, env, command })
    }

    /// Two turns, in each of which the model calls a tool once. The first ends because it asks the user.
    async fn calls_in_both_turns(&self, engine: &Arc<dyn Engine>, profile: Profile) {
        let with_user = Does::Tells(Told::WithUser(ExecutionId::from_bits(3)));
        let tools = Scripted::new([("echo", done(json!("hi"))), (ASK_THE_USER, with_user)]);
        let first = Turn {
            run_id: RunId::from_bits(7),
            workspace: self.stage.path().join("workspace"),
            logs: self.run.path().join("logs"),
            tools: tools.clone(),
            profile,
            ..turn(&self.stage, "Say hi.")
        };
        let call = ("echo".to_owned(), json!({"message": "hi"}));
        let (seen, finished) = Going::start(engine.clone(), first.clone()).until_it_ends().await;
        let outcomes = self.server.outcomes();
        assert_eq!(finished, completed("I wait."), "{seen:#?} {outcomes:?}");
        let asked = (ASK_THE_USER.to_owned(), json!({"message": "Which?"}));
        assert_eq!(tools.begun(), [call.clone(), asked.clone()], "{seen:#?}");
        let told = self.server.requests().into_iter().rfind(|request| request.outcome == Outcome::Reply(2));
        let told = told.expect("it ends its turn after it asked").body.to_string();
        assert!(told.contains("End your turn now"), "{told}");
        let is_shown = facts(&seen).iter().any(|fact| matches!(fact, Observation::ToolCall { .. }));
        assert!(is_shown, "what the agent called is seen: {seen:#?}");
        let stays = (profile == Profile::StickyProcess).then(|| process(&seen));
        let next =
            Turn { attempt: 2, handle: handle(&seen), process: stays, prompt: "Again.".to_owned(), ..first };
        let (seen, finished) = Going::start(engine.clone(), next).until_it_ends().await;
        assert_eq!(finished, completed("It said hi again."), "{seen:#?}");
        assert_eq!(tools.begun(), [call.clone(), asked, call]);
        let results = self.server.outcomes();
        assert!(results.contains(&Outcome::Reply(4)), "the model was told each result: {results:?}");
        engine.end(RunId::from_bits(7)).await;
    }
}

/// Whatever an agent may do of its own, it may call what its run declares.
async fn by_its_command_line(agent: &str, preset: Preset) {
    for permission in [Permission::ReadOnly, Permission::Workspace] {
        let Some(staged) = Staged::new(agent, agent, &[]) else { return };
        if preset == Preset::Gemini && !is_of_root(staged.run.path()) {
            return;
        }
        let mut config = ExecConfig::new(preset);
        config.command = staged.command.clone();
        (config.permission, config.env) = (permission, staged.env.clone());
        let engine: Arc<dyn Engine> = Arc::new(ExecEngine::new(config, supervisor(), Gateway::new()));
        staged.calls_in_both_turns(&engine, Profile::Resumable).await;
        let left = std::fs::read_dir(staged.run.path().join("logs")).unwrap();
        let left =
            left.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("gateway"));
        assert_eq!(left.count(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_calls_a_tool_by_its_command_line() {
    by_its_command_line("claude", Preset::Claude).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_calls_a_tool_by_its_command_line() {
    by_its_command_line("codex", Preset::Codex).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_calls_a_tool_by_its_command_line() {
    by_its_command_line("gemini", Preset::Gemini).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opencode_calls_a_tool_by_its_command_line() {
    by_its_command_line("opencode", Preset::Opencode).await;
}

async fn over_acp(agent: &str, profile: Profile) {
    let acp = ACP.iter().find(|acp| acp.agent == agent).unwrap();
    let Some(staged) = Staged::new(agent, acp.like, acp.args) else { return };
    let mut config = AcpConfig::new(staged.command.clone());
    config.env = staged.env.clone();
    let engine: Arc<dyn Engine> = Arc::new(AcpEngine::new(config, supervisor(), Gateway::new()));
    staged.calls_in_both_turns(&engine, profile).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_agent_acp_calls_a_tool_over_acp() {
    over_acp("claude-agent-acp", Profile::Resumable).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_acp_calls_a_tool_over_acp() {
    over_acp("codex-acp", Profile::Resumable).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_calls_a_tool_over_acp() {
    over_acp("gemini", Profile::StickyProcess).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opencode_calls_a_tool_over_acp() {
    over_acp("opencode", Profile::Resumable).await;
}
