//! A run whose tools nobody here wrote: three real MCP servers, from two registries.

use std::fs;
use std::process::Command;

use adjourn_core::{Action, ContractStatus, RunStatus};
use adjourn_testkit::mcp_servers::binary_for_test;
use adjourn_testkit::model::{ModelServer, Reply, Script};
use serde_json::{Value, json};

use crate::stage::Stage;
use crate::stage::world::{call_of, says_done, settings, told};

/// The configuration of a stage that has these servers instead of the scripted one; none if one is not installed.
fn with_servers(stage: &Stage, model: &str) -> Option<String> {
    let folder = stage.path().join("repo").display().to_string();
    let server = |name: &str, arguments: &[&str], more: &str| {
        let program = binary_for_test(name)?.display().to_string();
        let command: Vec<_> = std::iter::once(program.as_str()).chain(arguments.iter().copied()).collect();
        Some(format!("[tools.{name}]\ncommand = {}\n{more}\n", json!(command)))
    };
    let servers = [
        server("filesystem", &[&folder], "approve = [\"write_file\"]")?,
        server("git", &["--repository", &folder], "irreversible = [\"git_commit\"]")?,
        server("everything", &["stdio"], "")?,
    ];
    let own = settings(stage.path(), model, "");
    let (engine, _) = own.split_once("[tools.").unwrap();
    Some(format!("{engine}{}", servers.concat()))
}

fn repository(stage: &Stage) -> String {
    let folder = stage.path().join("repo");
    fs::create_dir(&folder).unwrap();
    let folder = folder.display().to_string();
    for arguments in [
        &["init"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.com"],
        &["commit", "--allow-empty", "-m", "begin"],
    ] {
        let mut git = Command::new("git");
        git.args(["-C", &folder, "-c", "init.defaultBranch=main"]).args(arguments);
        assert!(git.output().unwrap().status.success(), "{arguments:?}");
    }
    folder
}

#[test]
fn a_run_writes_commits_and_asks_with_tools_of_others_and_commits_once() {
    let stage = Stage::closed("");
    let repo = repository(&stage);
    let file = format!("{repo}/a.txt");
    let commit = || Reply::call("git__git_commit", json!({ "repo_path": repo, "message": "add a" }));
    let model = ModelServer::start(Script::new([
        Reply::call("filesystem__write_file", json!({ "path": file, "content": "by the run" })),
        Reply::call("git__git_add", json!({ "repo_path": repo, "files": ["a.txt"] })),
        commit(),
        commit(),
        Reply::call("filesystem__read_text_file", json!({ "path": "/etc/passwd" })),
        Reply::call("everything__trigger-elicitation-request", json!({})),
        says_done("done"),
    ]))
    .unwrap();
    let Some(settings) = with_servers(&stage, &model.url()) else { return };
    let runner = json!({
        "id": "survey",
        "execution_modes": ["interactive"],
        "tools": ["filesystem", "git.git_add", "git.git_commit", "everything.trigger-elicitation-request"],
    });
    fs::write(stage.path().join("skills/survey/assets/runner.json"), runner.to_string()).unwrap();
    stage.configure(&settings);
    stage.open();

    let run = stage.start(json!({}));
    let approval = run.waits();
    assert!(!fs::exists(&file).unwrap(), "nothing is written before it is allowed");
    stage.restart();
    run.decide(approval.interaction_id, Action::Approve, Value::Null).unwrap();
    let form = run.until("the question of a tool", |run| {
        let open = run.open_interactions().next().cloned();
        open.filter(|open| {
            run.status() == RunStatus::WaitingUser && open.interaction_id != approval.interaction_id
        })
    });
    assert!(!form.question.fields.is_empty(), "{:?}", form.question);
    stage.restart();
    run.reply(json!({ "name": "Ada", "check": true })).unwrap();
    let ended = run.ends();
    assert_eq!((ended.status(), ended.error()), (RunStatus::Succeeded, None));

    assert_eq!(fs::read_to_string(&file).unwrap(), "by the run");
    let log = Command::new("git").args(["-C", &repo, "log", "--format=%s"]).output().unwrap();
    assert_eq!(String::from_utf8(log.stdout).unwrap(), "add a\nbegin\n", "committed once");
    let told = told(&model, 6);
    assert_eq!(told[3]["already_done"], true, "{}", told[3]);
    assert_eq!(told[4]["status"], "FAILED", "the server keeps to its folder: {}", told[4]);
    assert!(told[5].to_string().contains("Ada"), "{}", told[5]);
    let denied =
        run.contracts().into_iter().find(|contract| contract.status == ContractStatus::Failed).unwrap();
    assert_eq!(call_of(&denied).method, "read_text_file");
    // Only what the skill declares is offered.
    let offered = &model.requests()[0].body["tools"];
    assert!(offered.to_string().contains("git__git_commit") && !offered.to_string().contains("git__git_log"));
}
