//! The real agents, each with the scripted model: a turn ends with a question, and a new process goes on with the answer.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use adjourn_testkit::agents::{self, Environment};
use adjourn_testkit::model::{ModelServer, Outcome, Reply, Script};
use serde_json::Value;

const QUESTION: &str = r#"{"__SKILL_DONE__": false, "message": "Which colour?"}"#;
const DONE: &str = r#"{"__SKILL_DONE__": true, "colour": "blue"}"#;

/// How an agent is driven.
struct Driven {
    name: &'static str,
    point: fn(&Path, &str) -> std::io::Result<Environment>,
    /// The arguments of a first turn.
    start: &'static [&'static str],
    /// The arguments of a later turn; `HANDLE` stands for the handle.
    resume: &'static [&'static str],
    /// Where in a line the handle is.
    handle: &'static str,
    /// The text of the model that a line shows.
    text: fn(&Value) -> Option<&str>,
}

/// The lines of stdout that are JSON. Agents print others too.
fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

impl Driven {
    fn turn(&self, program: &Path, folder: &Path, url: &str, args: &[&str], prompt: &str) -> Vec<Value> {
        let (home, workspace) = (folder.join("home"), folder.join("workspace"));
        for folder in [&home, &workspace] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let environment = (self.point)(&home, url).unwrap();
        let mut command = Command::new(program);
        command.args(args).current_dir(&workspace).env_clear().envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{} {args:?}: {output:?}", self.name);
        lines(&output)
    }

    fn text(&self, lines: &[Value]) -> String {
        lines.iter().filter_map(self.text).collect()
    }

    /// Asks in one process and goes on in the next.
    fn asks_and_goes_on(&self) {
        let Some(program) = agents::binary_for_test(self.name) else { return };
        let server = ModelServer::start(Script::new([Reply::text(QUESTION), Reply::text(DONE)])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let turn = |args: &[&str], prompt| self.turn(&program, folder.path(), &server.url(), args, prompt);

        let asked = turn(self.start, "Paint the shed.");
        assert_eq!(self.text(&asked), QUESTION);
        let handle = asked.iter().find_map(|line| line.pointer(self.handle)?.as_str());
        let handle = handle.unwrap_or_else(|| panic!("no handle in {asked:?}"));

        let resume: Vec<_> =
            self.resume.iter().map(|arg| if *arg == "HANDLE" { handle } else { arg }).collect();
        let done = turn(&resume, "blue");
        assert_eq!(self.text(&done), DONE);
        assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)]);
    }
}

#[test]
fn claude_goes_on_in_a_new_process() {
    let driven = Driven {
        name: "claude",
        point: agents::claude::point,
        start: &["-p", "--output-format", "stream-json", "--verbose"],
        resume: &["-p", "--output-format", "stream-json", "--verbose", "--resume", "HANDLE"],
        handle: "/session_id",
        text: |line| line.pointer("/message/content/0/text")?.as_str(),
    };
    driven.asks_and_goes_on();
}

#[test]
fn codex_goes_on_in_a_new_process() {
    let driven = Driven {
        name: "codex",
        point: agents::codex::point,
        start: &["exec", "--json", "--skip-git-repo-check", "-"],
        resume: &["exec", "--json", "--skip-git-repo-check", "resume", "HANDLE", "-"],
        handle: "/thread_id",
        text: |line| line.pointer("/item/text")?.as_str(),
    };
    driven.asks_and_goes_on();
}

#[test]
fn gemini_goes_on_in_a_new_process() {
    let driven = Driven {
        name: "gemini",
        point: agents::gemini::point,
        start: &["--skip-trust", "--output-format", "stream-json"],
        resume: &["--skip-trust", "--output-format", "stream-json", "--resume", "HANDLE"],
        handle: "/session_id",
        text: |line| line["content"].as_str().filter(|_| line["role"] == "assistant"),
    };
    driven.asks_and_goes_on();
}

#[test]
fn opencode_goes_on_in_a_new_process() {
    let driven = Driven {
        name: "opencode",
        point: agents::opencode::point,
        start: &["run", "--format", "json"],
        resume: &["run", "--format", "json", "--session", "HANDLE"],
        handle: "/sessionID",
        text: |line| line.pointer("/part/text")?.as_str(),
    };
    driven.asks_and_goes_on();
}
