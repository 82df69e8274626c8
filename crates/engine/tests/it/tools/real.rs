//! Real tool servers that nobody here wrote.
//!
//! A test of a server that is not installed skips itself; `cargo xtask mcp-servers` installs them.

use std::process::Command;

use adjourn_core::reply;
use adjourn_engine::tools::{Called, ServerOptions, ToolError, ToolServers};
use adjourn_testkit::mcp_servers;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stage::call;
use crate::agent::{Stage, supervisor};

/// An installed server.
struct Real {
    name: &'static str,
    servers: ToolServers,
    stage: Stage,
}

impl Real {
    /// None if it is not installed. Its arguments may say `FOLDER`.
    fn start(name: &'static str, arguments: &[&str]) -> Option<Self> {
        let program = mcp_servers::binary_for_test(name)?.display().to_string();
        let stage = Stage::new();
        let folder = stage.path().display().to_string();
        let arguments = arguments.iter().map(|argument| argument.replace("FOLDER", &folder));
        let options = ServerOptions::command(std::iter::once(program).chain(arguments), stage.path());
        let servers = ToolServers::new(supervisor(), [(name.to_owned(), options)]);
        Some(Self { name, servers, stage })
    }

    async fn tools(&self) -> Vec<String> {
        let tools = self.servers.tools(self.name, &CancellationToken::new()).await.unwrap();
        tools.into_iter().map(|tool| tool.name).collect()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Called, ToolError> {
        self.servers.call(&call(self.name, tool, arguments), None, None, &CancellationToken::new()).await
    }
}

fn completed(called: Result<Called, ToolError>) -> String {
    match called {
        Ok(Called::Completed(result)) => result.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_everything_server_echoes_adds_and_refuses() {
    let Some(real) = Real::start("everything", &["stdio"]) else { return };
    let tools = real.tools().await;
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    assert_eq!(completed(real.call("echo", json!({"message": "hi"})).await), "\"Echo: hi\"");
    let sum = completed(real.call("get-sum", json!({"a": 2, "b": 40})).await);
    assert!(sum.contains("42"), "{sum}");
    let wrong = real.call("get-sum", json!({"a": "two"})).await;
    assert!(matches!(wrong, Err(ToolError::Arguments { .. })), "{wrong:?}");
    real.servers.close().await;
}

#[tokio::test]
async fn the_everything_server_asks_in_the_middle_of_a_call_and_gets_its_answer() {
    let Some(real) = Real::start("everything", &["stdio"]) else { return };
    const ASKS: &str = "trigger-elicitation-request";
    assert!(real.tools().await.contains(&ASKS.to_owned()), "it offers this to clients that can ask");
    let Ok(Called::NeedsInput(unfinished)) = real.call(ASKS, json!({})).await else { panic!("it asks") };
    let question = unfinished.question().unwrap();
    let answer = reply::check(&question, &json!({"name": "Ada", "check": true})).unwrap();
    let going_on = call(real.name, ASKS, json!({}));
    let ready = Some(unfinished.answered(answer));
    let done = real.servers.call(&going_on, None, ready, &CancellationToken::new()).await;
    assert!(completed(done).contains("Ada"));
    real.servers.close().await;
}

#[tokio::test]
async fn the_filesystem_server_writes_reads_and_keeps_to_its_folder() {
    let Some(real) = Real::start("filesystem", &["FOLDER"]) else { return };
    let path = real.stage.path().join("a.txt").display().to_string();
    completed(real.call("write_file", json!({"path": path, "content": "grüezi"})).await);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "grüezi");
    assert!(completed(real.call("read_text_file", json!({"path": path})).await).contains("grüezi"));
    let outside = real.call("read_text_file", json!({"path": "/etc/passwd"})).await;
    assert!(matches!(&outside, Ok(Called::Failed(problem)) if problem.contains("denied")), "{outside:?}");
    let tools = real.servers.tools(real.name, &CancellationToken::new()).await.unwrap();
    let policy = real.servers.policy(real.name).unwrap();
    let irreversible = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        policy.treatment(name, tool.hints).irreversible
    };
    assert!(!irreversible("read_text_file") && !irreversible("write_file") && irreversible("edit_file"));
    real.servers.close().await;
}

#[tokio::test]
async fn the_git_server_commits_and_says_what_is_wrong() {
    let Some(real) = Real::start("git", &["--repository", "FOLDER"]) else { return };
    let folder = real.stage.path().display().to_string();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-C", &folder, "-c", "init.defaultBranch=main"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init"]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.com"]);
    std::fs::write(real.stage.path().join("a.txt"), "a").unwrap();
    assert!(completed(real.call("git_status", json!({"repo_path": folder})).await).contains("a.txt"));
    completed(real.call("git_add", json!({"repo_path": folder, "files": ["a.txt"]})).await);
    completed(real.call("git_commit", json!({"repo_path": folder, "message": "add a"})).await);
    assert!(completed(real.call("git_log", json!({"repo_path": folder})).await).contains("add a"));
    let elsewhere = real.call("git_status", json!({"repo_path": "/nowhere"})).await;
    assert!(matches!(elsewhere, Ok(Called::Failed(_))), "{elsewhere:?}");
    real.servers.close().await;
}
