//! The real agents through the service, each with the scripted model: a run asks, waits without a process, and goes on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use adjourn_core::fcmp::Frame;
use adjourn_core::{ErrorCode, FrameType, RunStatus};
use adjourn_engine::secrets::Secret;
use adjourn_runtime::config::{Config, EngineConfig, How, ToolConfig};
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_testkit::agents;
use adjourn_testkit::model::{Fault, ModelServer, Outcome, Reply, Script};
use serde_json::{Value, json};

use crate::skill_stage::Stage;

pub(crate) const QUESTION: &str = r#"{"__SKILL_DONE__": false, "message": "Which colour?"}"#;
pub(crate) const DONE: &str = r#"{"__SKILL_DONE__": true, "colour": "blue"}"#;

/// The variable that marks the processes of a test's agent.
const MARK: &str = "ADJOURN_TEST_MARK";

/// What an agent needs, in a folder: a home, a data directory, and a skill.
pub(crate) struct Props {
    pub(crate) agent: String,
    folder: PathBuf,
}

impl Props {
    /// In a folder that is empty, or was prepared by this before.
    pub(crate) fn new(agent: &str, folder: &Path) -> Self {
        let props = Self { agent: agent.to_owned(), folder: folder.to_owned() };
        fs::create_dir_all(props.folder.join("home")).unwrap();
        let skill = props.skill();
        fs::create_dir_all(skill.join("assets")).unwrap();
        let text =
            "---\nname: paint\ndescription: Paints the shed.\n---\nPaint the shed. Ask for the colour.\n";
        fs::write(skill.join("SKILL.md"), text).unwrap();
        let schema = json!({"required": ["colour"], "properties": {"colour": {"type": "string"}}});
        fs::write(skill.join("assets/output.schema.json"), schema.to_string()).unwrap();
        props
    }

    pub(crate) fn skill(&self) -> PathBuf {
        self.folder.join("paint")
    }

    /// Opens the data directory, for an agent whose model is at `url`.
    pub(crate) fn open(&self, program: &Path, url: &str) -> Stage {
        self.open_engine(self.engine(program), url)
    }

    /// The engine that runs the agent by its command line.
    pub(crate) fn engine(&self, program: &Path) -> EngineConfig {
        let mut engine = EngineConfig::built_in(&self.agent).unwrap();
        if let How::Exec { command, .. } = &mut engine.how {
            *command = vec![program.display().to_string()];
        }
        engine
    }

    /// Opens the data directory for this engine, which runs the agent or something that wraps it.
    pub(crate) fn open_engine(&self, engine: EngineConfig, url: &str) -> Stage {
        self.open_with_tools(engine, url, BTreeMap::new())
    }

    /// The same, with tools that the skill may declare.
    pub(crate) fn open_with_tools(
        &self,
        mut engine: EngineConfig,
        url: &str,
        tools: BTreeMap<String, ToolConfig>,
    ) -> Stage {
        let mut environment = agents::point(&self.agent, &self.folder.join("home"), url).unwrap();
        environment.push((MARK.to_owned(), self.folder.display().to_string()));
        engine.env.extend(environment.into_iter().map(|(name, value)| (name, Secret::new(value))));
        let engines = BTreeMap::from([(self.agent.clone(), engine)]);
        Stage::open(&self.folder.join("data"), Config { engines, tools, ..Config::default() })
    }

    pub(crate) fn request(&self) -> RunRequest {
        RunRequest {
            skill: Some(SkillRef::At(self.skill())),
            engine: Some(self.agent.clone()),
            ..RunRequest::default()
        }
    }

    /// The processes of the agent that are there.
    pub(crate) fn processes(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.folder.display()).into_bytes();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let marked = processes.filter(|process| {
            // One that has ended but was not yet asked about has no environment any more.
            let environment = fs::read(process.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        });
        marked.map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// What happened, one line each, without what agents show in between and each in its own way.
pub(crate) fn story(frames: &[Frame]) -> Vec<String> {
    let told = |frame: &Frame| match frame.kind {
        FrameType::StateChanged => {
            let status = |key: &str| frame.data[key].as_str().unwrap_or_default().to_owned();
            format!("{} -> {}", status("from"), status("to"))
        }
        other => other.to_string(),
    };
    let between = [FrameType::Reasoning, FrameType::ToolCall, FrameType::CommandExecution];
    frames.iter().filter(|frame| !between.contains(&frame.kind)).map(told).collect()
}

/// All that the model was told last, in whatever format.
pub(crate) fn last_prompt(server: &ModelServer) -> String {
    let mut asked = server.requests().into_iter().filter(|asked| matches!(asked.outcome, Outcome::Reply(_)));
    asked.next_back().map(|asked| asked.body.to_string()).unwrap_or_default()
}

async fn asks_waits_and_goes_on(agent: &str) {
    let Some(program) = agents::binary_for_test(agent) else { return };
    let server = ModelServer::start(Script::new([Reply::text(QUESTION), Reply::text(DONE)])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(agent, folder.path());
    let stage = props.open(&program, &server.url());

    let run_id = stage.create(props.request()).await;
    let waiting = stage.settled_in_time(run_id).await;
    assert_eq!(waiting.status(), RunStatus::WaitingUser, "{:?}", waiting.error());
    let question = &waiting.open_interactions().next().unwrap().question;
    assert_eq!(question.prompt, "Which colour?");
    assert_eq!((waiting.holds_slot(), props.processes()), (false, vec![]), "nothing is held meanwhile");
    assert!(waiting.handle().is_some());

    stage.answer(run_id, json!("blue")).await;
    let done = stage.settled_in_time(run_id).await;
    assert_eq!((done.status(), done.error()), (RunStatus::Succeeded, None));
    assert_eq!((done.result(), done.attempt_number()), (Some(&json!({"colour": "blue"})), 2));
    assert_eq!(done.handle(), waiting.handle(), "it is the same conversation");
    assert_eq!(server.outcomes(), [Outcome::Reply(0), Outcome::Reply(1)]);
    assert!(last_prompt(&server).contains("Which colour?"), "the question is told with its answer");
    let usage = done.usage();
    assert_eq!((usage.input_tokens, usage.output_tokens), (140, 14), "two turns of 70 and 7");

    let frames = stage.frames(run_id);
    assert!(frames.iter().map(|frame| frame.seq).eq(1..=frames.len() as u64), "no number is missing");
    assert_eq!(
        story(&frames),
        [
            "queued -> running",
            "assistant.message.final",
            "user.input.required",
            "running -> waiting_user",
            "interaction.reply.accepted",
            "waiting_user -> queued",
            "queued -> running",
            "assistant.message.final",
            "running -> succeeded",
        ]
    );
    assert_eq!(frames.last().unwrap().data["terminal"], json!({"status": "succeeded", "error": Value::Null}));
    assert_eq!(props.processes(), [""; 0]);
    stage.close().await;
}

async fn is_told_to_log_in(agent: &str) {
    let Some(program) = agents::binary_for_test(agent) else { return };
    let server = ModelServer::start(Script::new([Reply::fault(Fault::Status(401))])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let props = Props::new(agent, folder.path());
    let stage = props.open(&program, &server.url());
    let run_id = stage.create(props.request()).await;
    let run = stage.settled_in_time(run_id).await;
    assert_eq!(run.status(), RunStatus::Failed);
    let error = run.error().unwrap();
    assert_eq!(error.code, ErrorCode::EngineAuthRequired, "{error}");
    stage.close().await;
}

#[tokio::test]
async fn claude_asks_waits_and_goes_on() {
    asks_waits_and_goes_on("claude").await;
}

#[tokio::test]
async fn codex_asks_waits_and_goes_on() {
    asks_waits_and_goes_on("codex").await;
}

#[tokio::test]
async fn gemini_asks_waits_and_goes_on() {
    asks_waits_and_goes_on("gemini").await;
}

#[tokio::test]
async fn opencode_asks_waits_and_goes_on() {
    asks_waits_and_goes_on("opencode").await;
}

#[tokio::test]
async fn claude_that_is_turned_away_says_to_log_in() {
    is_told_to_log_in("claude").await;
}

#[tokio::test]
async fn codex_that_is_turned_away_says_to_log_in() {
    is_told_to_log_in("codex").await;
}

#[tokio::test]
async fn gemini_that_is_turned_away_says_to_log_in() {
    is_told_to_log_in("gemini").await;
}

#[tokio::test]
async fn opencode_that_is_turned_away_says_to_log_in() {
    is_told_to_log_in("opencode").await;
}
