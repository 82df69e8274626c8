//! The real agents, each with the scripted model: a turn ends with a question, and a new process goes on with the answer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use adjourn_testkit::agents::{self, Environment};
use adjourn_testkit::model::{Fault, ModelServer, Outcome, Reply, Script};
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
    /// The message of the line that says that a turn failed.
    error: fn(&Value) -> Option<&str>,
}

const CLAUDE: Driven = Driven {
    name: "claude",
    point: agents::claude::point,
    start: &["-p", "--output-format", "stream-json", "--verbose"],
    resume: &["-p", "--output-format", "stream-json", "--verbose", "--resume", "HANDLE"],
    handle: "/session_id",
    text: |line| line.pointer("/message/content/0/text")?.as_str(),
    error: |line| line["result"].as_str().filter(|_| line["is_error"] == true),
};

const CODEX: Driven = Driven {
    name: "codex",
    point: agents::codex::point,
    start: &["exec", "--json", "--skip-git-repo-check", "-"],
    resume: &["exec", "--json", "--skip-git-repo-check", "resume", "HANDLE", "-"],
    handle: "/thread_id",
    text: |line| line.pointer("/item/text")?.as_str(),
    error: |line| line.pointer("/error/message")?.as_str(),
};

const GEMINI: Driven = Driven {
    name: "gemini",
    point: agents::gemini::point,
    start: &["--skip-trust", "--output-format", "stream-json"],
    resume: &["--skip-trust", "--output-format", "stream-json", "--resume", "HANDLE"],
    handle: "/session_id",
    text: |line| line["content"].as_str().filter(|_| line["role"] == "assistant"),
    error: |line| line.pointer("/error/message")?.as_str(),
};

const OPENCODE: Driven = Driven {
    name: "opencode",
    point: agents::opencode::point,
    start: &["run", "--format", "json"],
    resume: &["run", "--format", "json", "--session", "HANDLE"],
    handle: "/sessionID",
    text: |line| line.pointer("/part/text")?.as_str(),
    error: |line| line.pointer("/error/data/message")?.as_str(),
};

/// An agent that is installed, with a model, a home and a workspace of its own.
struct Stage<'a> {
    driven: &'a Driven,
    program: PathBuf,
    server: ModelServer,
    folder: tempfile::TempDir,
}

impl Stage<'_> {
    /// Runs a process to its end with the prompt on its stdin; returns whether it was content, and what it printed.
    fn turn(&self, args: &[&str], prompt: &str) -> (bool, Vec<Value>) {
        let [home, workspace] = ["home", "workspace"].map(|name| self.folder.path().join(name));
        for folder in [&home, &workspace] {
            std::fs::create_dir_all(folder).expect("the folder is ours");
        }
        let environment = (self.driven.point)(&home, &self.server.url()).expect("the folder is ours");
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&workspace).env_clear().envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it is installed");
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(prompt.as_bytes()).expect("it reads its prompt");
        drop(stdin);
        let output = child.wait_with_output().expect("it is our child");
        // Shown when the test fails.
        println!("{args:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // Agents print lines that are no JSON too.
        let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        println!("{text}");
        (output.status.success(), lines)
    }

    fn text(&self, lines: &[Value]) -> String {
        lines.iter().filter_map(self.driven.text).collect()
    }
}

impl Driven {
    /// The agent with a model that says this; none if it is not installed.
    fn on_stage(&self, replies: impl IntoIterator<Item = Reply>) -> Option<Stage<'_>> {
        let program = agents::binary_for_test(self.name)?;
        let server = ModelServer::start(Script::new(replies)).expect("there is a free port");
        Some(Stage { driven: self, program, server, folder: tempfile::tempdir().expect("there is room") })
    }

    fn asks_and_goes_on(&self) {
        let Some(stage) = self.on_stage([Reply::text(QUESTION), Reply::text(DONE)]) else { return };
        let (content, asked) = stage.turn(self.start, "Paint the shed.");
        assert_eq!((content, stage.text(&asked).as_str()), (true, QUESTION));
        let handle = asked.iter().find_map(|line| line.pointer(self.handle)?.as_str());
        let handle = handle.unwrap_or_else(|| panic!("no handle in {asked:?}"));

        let resume = self.resume.iter().map(|arg| if *arg == "HANDLE" { handle } else { arg });
        let (content, done) = stage.turn(&resume.collect::<Vec<_>>(), "blue");
        assert_eq!((content, stage.text(&done).as_str()), (true, DONE));
        assert_eq!(stage.server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)]);
    }

    fn says_that_the_model_turned_it_away(&self) {
        let Some(stage) = self.on_stage([Reply::fault(Fault::Status(401))]) else { return };
        let (content, lines) = stage.turn(self.start, "Paint the shed.");
        let error = lines.iter().find_map(self.error).unwrap_or_default();
        assert!(!content && error.contains("the script answers with status 401 here"), "{error}");
    }
}

#[test]
fn claude_goes_on_in_a_new_process() {
    CLAUDE.asks_and_goes_on();
}

#[test]
fn codex_goes_on_in_a_new_process() {
    CODEX.asks_and_goes_on();
}

#[test]
fn gemini_goes_on_in_a_new_process() {
    GEMINI.asks_and_goes_on();
}

#[test]
fn opencode_goes_on_in_a_new_process() {
    OPENCODE.asks_and_goes_on();
}

#[test]
fn claude_says_that_the_model_turned_it_away() {
    CLAUDE.says_that_the_model_turned_it_away();
}

#[test]
fn codex_says_that_the_model_turned_it_away() {
    CODEX.says_that_the_model_turned_it_away();
}

#[test]
fn gemini_says_that_the_model_turned_it_away() {
    GEMINI.says_that_the_model_turned_it_away();
}

#[test]
fn opencode_says_that_the_model_turned_it_away() {
    OPENCODE.says_that_the_model_turned_it_away();
}
