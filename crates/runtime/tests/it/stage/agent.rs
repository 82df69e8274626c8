//! The agent that a test steers: a script that writes down what it is told, and does what it finds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use adjourn_testkit::acp::{Behaviour, Mcp, Script, TakesUp};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The engine that starts it.
pub(crate) const ENGINE: &str = "scripted";

/// The skill that the runs are of. Its result is an object with a text under `answer`.
pub(crate) const SKILL: &str = "survey";

/// The name of the variable that marks all processes of a stage's agents.
const MARK: &str = "ADJOURN_TEST_MARK";

/// Each time it is started it counts its turns, writes its prompt to `prompt.N`, waits for `does.N` and does that.
pub(super) const STEERED: &str = r#"#!/bin/sh
turn=$(($(cat turns 2>/dev/null || echo 0) + 1))
echo $turn >turns
cat >prompt.part
mv prompt.part prompt.$turn
until [ -e does.$turn ]; do sleep 0.01; done
. ./does.$turn
"#;

const FILES: [(&str, &str); 3] = [
    (
        "skills/survey/SKILL.md",
        "---\nname: survey\ndescription: Asks people.\n---\nAsk, and say what they answered.\n",
    ),
    ("skills/survey/assets/runner.json", r#"{"id": "survey", "execution_modes": ["interactive", "auto"]}"#),
    (
        "skills/survey/assets/output.schema.json",
        r#"{"type": "object", "required": ["answer"], "properties": {"answer": {"type": "string"}}}"#,
    ),
];

/// Puts an agent and its skill into `folder`.
pub(super) fn install(folder: &Path, script: &str) {
    for (path, text) in FILES.into_iter().chain([("agent", script)]) {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::set_permissions(folder.join("agent"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// The configuration of a stage in `folder`.
pub(super) fn settings(folder: &Path, more: &str, of_engine: &str) -> String {
    let (folder, agent) = (folder.display(), folder.join("agent"));
    let agent = agent.display();
    format!(
        "skills = [\"skills\"]\n{more}\n\
         [engines.{ENGINE}]\nkind = \"exec\"\npreset = \"command\"\ncommand = [\"{agent}\"]\n\
         env = {{ {MARK} = \"{folder}\" }}\n{of_engine}\n"
    )
}

/// The configuration of a stage whose agent speaks ACP.
pub(super) fn acp_settings(folder: &Path, more: &str, of_engine: &str) -> String {
    let (folder, script) = (folder.display(), folder.join("script.json"));
    let (agent, script) = (acp_program(), script.display());
    let agent = agent.display();
    format!(
        "skills = [\"skills\"]\n{more}\n\
         [engines.{ENGINE}]\nkind = \"acp\"\ncommand = [\"{agent}\", \"{script}\"]\n\
         env = {{ {MARK} = \"{folder}\" }}\n{of_engine}\n"
    )
}

/// Cargo builds examples with the tests, and puts them here.
fn acp_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples/runtime_acp_agent")
}

/// Puts the script of an agent that speaks ACP and does what it finds into `folder`.
pub(super) fn install_acp(folder: &Path, takes_up: TakesUp) {
    let script = Script {
        sessions: folder.join("sessions"),
        takes_up,
        behaviour: Behaviour::Steered,
        modes: Vec::new(),
        models: Vec::new(),
        mcp: Mcp::Http,
    };
    fs::write(folder.join("script.json"), serde_json::to_vec(&script).unwrap()).unwrap();
}

/// How an agent asks.
pub(crate) fn ask(question: &str) -> String {
    json!({ "__SKILL_DONE__": false, "message": question }).to_string()
}

/// How an agent is done.
pub(crate) fn done(answer: &str) -> String {
    json!({ "__SKILL_DONE__": true, "answer": answer }).to_string()
}

/// The numbers of all living processes that were started by the agents in `folder`, supervisors included.
pub(super) fn processes(folder: &Path) -> Vec<i32> {
    let wanted = format!("{MARK}={}", folder.display()).into_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process that has ended but was not yet asked about has no environment any more.
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted) {
            found.push(pid);
        }
    }
    found
}

pub(super) fn kill_all(folder: &Path) {
    for pid in processes(folder).into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
