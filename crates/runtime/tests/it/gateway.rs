//! The real agents call tools of others through the gateway, and what must not be done twice is done once.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use adjourn_core::{Action, By, ContractStatus, KeyScope, Profile, RunStatus};
use adjourn_engine::ASK_THE_USER;
use adjourn_runtime::ReplyRequest;
use adjourn_runtime::config::{EngineConfig, Pattern, SandboxConfig, ToolConfig, ToolServer};
use adjourn_testkit::agents;
use adjourn_testkit::model::{ModelServer, Outcome, Reply, Script};
use serde_json::{Value, json};

use crate::acp_agents::{acp, engine};
use crate::agents::{DONE, Props, QUESTION, last_prompt};
use crate::stage::world::{WORLD, call_of, server_program};

/// Tools that count what they do in `folder`.
fn world(folder: &Path, approve: &[&str]) -> BTreeMap<String, ToolConfig> {
    let command = [server_program(), folder.to_owned()].map(|part| part.display().to_string());
    let tool = ToolConfig {
        server: ToolServer::Command {
            command: command.to_vec(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            sandbox: SandboxConfig::default(),
        },
        irreversible: Some(vec![Pattern::new("count")]),
        approve: approve.iter().map(|pattern| Pattern::new(*pattern)).collect(),
        scope: KeyScope::Run,
        timeout_sec: 60,
    };
    BTreeMap::from([(WORLD.to_owned(), tool)])
}

fn effects(folder: &Path) -> Vec<String> {
    let effects = fs::read_to_string(folder.join("effects")).unwrap_or_default();
    effects.lines().map(str::to_owned).collect()
}

/// An agent, ready to run a skill that declares the tools.
struct Staged {
    folder: tempfile::TempDir,
    props: Props,
    engine: EngineConfig,
}

impl Staged {
    fn new(like: &str, engine: impl FnOnce(&Props) -> EngineConfig) -> Self {
        Self::new_in(tempfile::tempdir().unwrap(), like, engine)
    }

    fn new_in(folder: tempfile::TempDir, like: &str, engine: impl FnOnce(&Props) -> EngineConfig) -> Self {
        let props = Props::new(like, folder.path());
        let runner = json!({ "id": "paint", "execution_modes": ["interactive"], "tools": [WORLD] });
        fs::write(props.skill().join("assets/runner.json"), runner.to_string()).unwrap();
        let engine = engine(&props);
        Self { folder, props, engine }
    }

    /// By its command line; none if it is not installed.
    fn exec(agent: &str) -> Option<Self> {
        let program = agents::binary_for_test(agent)?;
        Some(Self::new(agent, |props| props.engine(&program)))
    }

    /// By its command line, in a folder that is root's and that nobody else can write to; none if it is not installed, or
    /// where there is no such folder.
    fn exec_of_root(agent: &str) -> Option<Self> {
        let program = agents::binary_for_test(agent)?;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let is_of_root = folder
            .path()
            .ancestors()
            .all(|folder| folder.metadata().is_ok_and(|found| found.uid() == 0 && found.mode() & 0o022 == 0));
        if !is_of_root {
            eprintln!("skipped: {agent} is told of tools only in folders of root's, which {folder:?} is not");
            return None;
        }
        Some(Self::new_in(folder, agent, |props| props.engine(&program)))
    }

    /// Over ACP; none if it is not installed.
    fn acp(agent: &str, profile: Profile) -> Option<Self> {
        let program = agents::binary_for_test(agent)?;
        let acp = acp(agent);
        Some(Self::new(acp.like, |_| engine(&program, acp, profile)))
    }
}

/// Twice in one turn, and again in the turn after a reply.
async fn does_it_once(staged: Option<Staged>) {
    let Some(Staged { folder, props, engine }) = staged else { return };
    let again = || Reply::call("count", json!({ "text": "a" }));
    let replies = [again(), again(), Reply::text(QUESTION), again(), Reply::text(DONE)];
    let server = ModelServer::start(Script::new(replies)).unwrap();
    let stage = props.open_with_tools(engine, &server.url(), world(folder.path(), &[]));
    let run_id = stage.create(props.request()).await;
    let waiting = stage.settled_in_time(run_id).await;
    assert_eq!(waiting.status(), RunStatus::WaitingUser, "{:?}", waiting.error());
    assert_eq!(effects(folder.path()), ["a"], "once in one turn");
    stage.answer(run_id, json!("blue")).await;
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!(effects(folder.path()), ["a"], "and not again in the next");
    let contracts: Vec<_> = done.contracts().collect();
    assert_eq!(contracts.len(), 1);
    assert_eq!(contracts[0].status, ContractStatus::Completed);
    assert_eq!(call_of(contracts[0]).method, "count");
    assert!(last_prompt(&server).contains("already done"), "the agent is told: {}", last_prompt(&server));
    stage.close().await;
}

/// The agent leaves, a person allows the call, and Adjourn makes it with no agent alive.
async fn waits_for_approval(staged: Option<Staged>) {
    let Some(Staged { folder, props, engine }) = staged else { return };
    let call = Reply::call("count", json!({ "text": "a" }));
    let replies = [call, Reply::text("I wait for the user."), Reply::text(DONE)];
    let server = ModelServer::start(Script::new(replies)).unwrap();
    let stage = props.open_with_tools(engine, &server.url(), world(folder.path(), &["count"]));
    let run_id = stage.create(props.request()).await;
    let waiting = stage.settled_in_time(run_id).await;
    assert_eq!(waiting.status(), RunStatus::WaitingUser, "{:?}", waiting.error());
    assert_eq!((effects(folder.path()), props.processes()), (vec![], vec![]), "nothing is done or held");
    let open: Vec<_> = waiting.open_interactions().collect();
    assert_eq!(open.len(), 1, "{open:#?}");
    let approve = ReplyRequest {
        interaction_id: Some(open[0].interaction_id),
        response: Value::Null,
        action: Some(Action::Approve),
        by: By::USER,
        key: None,
    };
    stage.service.reply(run_id, approve).await.unwrap();
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!(effects(folder.path()), ["a"]);
    assert!(last_prompt(&server).contains("COMPLETED"), "the next turn begins with the result");
    stage.close().await;
}

/// The agent calls the tool that asks the user, is told to end its turn, and goes on with the answer.
async fn asks_by_its_tool(staged: Option<Staged>) {
    let Some(Staged { folder, props, engine }) = staged else { return };
    let stays = engine.profile == Some(Profile::StickyProcess);
    let ask = Reply::call(ASK_THE_USER, json!({ "prompt": "Which colour?", "options": ["blue", "red"] }));
    let replies = [ask, Reply::text("I wait for the user."), Reply::text(DONE)];
    let server = ModelServer::start(Script::new(replies)).unwrap();
    let stage = props.open_with_tools(engine, &server.url(), world(folder.path(), &[]));
    let run_id = stage.create(props.request()).await;
    let waiting = stage.settled_in_time(run_id).await;
    assert_eq!(waiting.status(), RunStatus::WaitingUser, "{:?}", waiting.error());
    assert!(last_prompt(&server).contains("End your turn now"), "it is told to: {}", last_prompt(&server));
    let open: Vec<_> = waiting.open_interactions().collect();
    assert_eq!(open.len(), 1, "{open:#?}");
    assert_eq!(open[0].question.prompt, "Which colour?");
    assert_eq!(
        waiting.contracts().map(|contract| contract.status).collect::<Vec<_>>(),
        [ContractStatus::Waiting]
    );
    assert_eq!((waiting.holds_slot(), !props.processes().is_empty()), (stays, stays));

    stage.answer(run_id, json!("blue")).await;
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!(done.result(), Some(&json!({"colour": "blue"})));
    assert_eq!(done.handle(), waiting.handle(), "it is the same conversation");
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1), Outcome::Reply(2)]);
    let contracts: Vec<_> = done.contracts().collect();
    assert_eq!((contracts.len(), contracts[0].status), (1, ContractStatus::Completed));
    assert_eq!(contracts[0].result, Some(json!("blue")));
    let told = last_prompt(&server);
    let answer = told.rfind("You asked:").expect("the answer reads as to a question that was printed");
    assert!(
        told[answer..].contains("Which colour?") && told[answer..].contains("blue"),
        "{}",
        &told[answer..]
    );
    stage.close().await;
}

#[tokio::test]
async fn claude_does_it_once() {
    does_it_once(Staged::exec("claude")).await;
}

#[tokio::test]
async fn codex_does_it_once() {
    does_it_once(Staged::exec("codex")).await;
}

#[tokio::test]
async fn gemini_does_it_once_in_one_process() {
    does_it_once(Staged::acp("gemini", Profile::StickyProcess)).await;
}

#[tokio::test]
async fn opencode_does_it_once() {
    does_it_once(Staged::exec("opencode")).await;
}

#[tokio::test]
async fn claude_agent_acp_does_it_once() {
    does_it_once(Staged::acp("claude-agent-acp", Profile::Resumable)).await;
}

#[tokio::test]
async fn codex_acp_does_it_once() {
    does_it_once(Staged::acp("codex-acp", Profile::Resumable)).await;
}

#[tokio::test]
async fn opencode_does_it_once_over_acp() {
    does_it_once(Staged::acp("opencode", Profile::Resumable)).await;
}

#[tokio::test]
async fn claude_leaves_and_its_call_is_made_when_it_is_allowed() {
    waits_for_approval(Staged::exec("claude")).await;
}

#[tokio::test]
async fn codex_acp_leaves_and_its_call_is_made_when_it_is_allowed() {
    waits_for_approval(Staged::acp("codex-acp", Profile::Resumable)).await;
}

#[tokio::test]
async fn claude_asks_by_its_tool() {
    asks_by_its_tool(Staged::exec("claude")).await;
}

#[tokio::test]
async fn codex_asks_by_its_tool() {
    asks_by_its_tool(Staged::exec("codex")).await;
}

#[tokio::test]
async fn gemini_asks_by_its_tool() {
    asks_by_its_tool(Staged::exec_of_root("gemini")).await;
}

#[tokio::test]
async fn opencode_asks_by_its_tool() {
    asks_by_its_tool(Staged::exec("opencode")).await;
}

#[tokio::test]
async fn claude_agent_acp_asks_by_its_tool() {
    asks_by_its_tool(Staged::acp("claude-agent-acp", Profile::Resumable)).await;
}

#[tokio::test]
async fn codex_acp_asks_by_its_tool() {
    asks_by_its_tool(Staged::acp("codex-acp", Profile::Resumable)).await;
}

#[tokio::test]
async fn gemini_asks_by_its_tool_in_one_process() {
    asks_by_its_tool(Staged::acp("gemini", Profile::StickyProcess)).await;
}

#[tokio::test]
async fn opencode_asks_by_its_tool_over_acp() {
    asks_by_its_tool(Staged::acp("opencode", Profile::Resumable)).await;
}
