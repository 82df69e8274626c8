//! One turn of the agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, CreateTerminalRequest, McpServer, PermissionOption, PermissionOptionKind,
    Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus, PromptRequest, PromptResponse, ReadTextFileRequest,
    RequestPermissionOutcome, RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate,
    StopReason, TerminalOutputRequest, ToolCall, ToolCallLocation, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, Usage, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::{Client, Error, UntypedMessage};
use serde_json::{Value, json};

use super::agent::{Cancelled, Scripted};
use super::script::{Act, Asks, Behaviour};
use super::session::{Said, Session};
use super::tools;

/// How often the agent looks whether it is told something by a file or a flag.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The size of a message in a flood.
const FLOOD_BYTES: usize = 8 << 10;

/// How a turn ends early.
enum Over {
    Cancelled,
    Failed(Error),
}

impl From<Error> for Over {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The session that a turn belongs to, where it works, and what it can call there.
pub(super) struct Place {
    pub(super) id: SessionId,
    pub(super) folder: PathBuf,
    pub(super) server: Option<McpServer>,
}

/// A turn that goes on.
pub(super) struct Turn {
    scripted: Arc<Scripted>,
    cx: ConnectionTo<Client>,
    id: SessionId,
    folder: PathBuf,
    server: Option<McpServer>,
    cancelled: Cancelled,
    said: String,
    usage: Option<Usage>,
    calls: u32,
}

impl Turn {
    pub(super) fn new(
        scripted: Arc<Scripted>,
        cx: ConnectionTo<Client>,
        place: Place,
        cancelled: Cancelled,
    ) -> Self {
        let Place { id, folder, server } = place;
        Self { scripted, cx, id, folder, server, cancelled, said: String::new(), usage: None, calls: 0 }
    }

    pub(super) async fn play(mut self, request: &PromptRequest) -> Result<PromptResponse, Error> {
        let sessions = &self.scripted.script.sessions;
        let prompt: String = request.prompt.iter().filter_map(text_of).collect();
        let mut session = Session::load(sessions, &self.id.0).map_err(Error::into_internal_error)?;
        let index = session.prompts();
        session.said.push(Said::Prompt(prompt.clone()));
        session.store(sessions, &self.id.0).map_err(Error::into_internal_error)?;
        let played = self.do_all(index, &prompt).await;
        session.said.push(Said::Answer(std::mem::take(&mut self.said)));
        session.store(&self.scripted.script.sessions, &self.id.0).map_err(Error::into_internal_error)?;
        let reason = match played {
            Ok(()) => StopReason::EndTurn,
            Err(Over::Cancelled) => StopReason::Cancelled,
            Err(Over::Failed(error)) => return Err(error),
        };
        Ok(PromptResponse::new(reason).usage(self.usage))
    }

    async fn do_all(&mut self, index: usize, prompt: &str) -> Result<(), Over> {
        let acts = match &self.scripted.script.behaviour {
            Behaviour::Prompts(prompts) => prompts.get(index).or(prompts.last()).cloned().unwrap_or_default(),
            Behaviour::Steered => self.steered(prompt).await?,
            Behaviour::Silent | Behaviour::LoggedOut => Vec::new(),
        };
        for act in acts {
            self.act(act).await?;
        }
        Ok(())
    }

    /// What it finds in its working folder.
    async fn steered(&self, prompt: &str) -> Result<Vec<Act>, Over> {
        let turns = self.folder.join("turns");
        let number = 1 + fs::read_to_string(&turns).ok().and_then(|n| n.trim().parse().ok()).unwrap_or(0);
        let failed = |error| Over::Failed(Error::into_internal_error(error));
        fs::write(&turns, format!("{number}\n")).map_err(failed)?;
        let part = self.folder.join("prompt.part");
        fs::write(&part, prompt).map_err(failed)?;
        fs::rename(part, self.folder.join(format!("prompt.{number}"))).map_err(failed)?;
        let does = self.folder.join(format!("does.{number}"));
        loop {
            if let Ok(acts) = fs::read(&does) {
                return serde_json::from_slice(&acts)
                    .map_err(|error| Over::Failed(Error::into_internal_error(error)));
            }
            self.look_again().await?;
        }
    }

    async fn look_again(&self) -> Result<(), Over> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Over::Cancelled);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
        Ok(())
    }

    async fn act(&mut self, act: Act) -> Result<(), Over> {
        match act {
            Act::Say(text) => self.say(&text)?,
            Act::SayPid => self.say(&std::process::id().to_string())?,
            Act::Think(text) => self.think(text)?,
            Act::Plan(entries) => {
                let entry = |text| PlanEntry::new(text, PlanEntryPriority::Medium, PlanEntryStatus::Pending);
                self.update(SessionUpdate::Plan(Plan::new(entries.into_iter().map(entry).collect())))?;
            }
            Act::Tool(title, kind) => self.use_tool(title, &kind)?,
            Act::UseTool(name, arguments) => {
                let said = tools::call(self.server.as_ref(), &name, arguments).await;
                self.say(&said.unwrap_or_else(|problem| format!("refused: {problem}")))?;
            }
            Act::Ask(asks) => self.ask(asks).await?,
            Act::Usage(input, output) => self.usage = Some(Usage::new(input + output, input, output)),
            Act::Read(path) => {
                let request = ReadTextFileRequest::new(self.id.clone(), path);
                let read = self.cx.send_request(request).block_task().await;
                self.say(&read.map_or_else(|error| refused(&error), |read| read.content))?;
            }
            Act::Write(path, text) => {
                let request = WriteTextFileRequest::new(self.id.clone(), path, text);
                if let Err(error) = self.cx.send_request(request).block_task().await {
                    self.say(&refused(&error))?;
                }
            }
            Act::Run(command) => {
                let said = self.run(&command).await.unwrap_or_else(|error| refused(&error));
                self.say(&said)?;
            }
            Act::Fork => fork(&self.folder)?,
            Act::Exit(status) => std::process::exit(status),
            Act::Fail(code, message) => return Err(Over::Failed(Error::new(code, message))),
            Act::Raw(line) => self.scripted.printer.print(line),
            Act::Flood(bytes) => self.flood(bytes)?,
            Act::Call(method) => {
                self.cx.send_notification(UntypedMessage::new(&method, json!({}))?)?;
                let answer =
                    self.cx.send_request(UntypedMessage::new(&method, json!({}))?).block_task().await;
                self.think(format!("{method}: {}", if answer.is_ok() { "answered" } else { "unknown" }))?;
            }
            Act::OtherSession => {
                let update = SessionUpdate::AgentMessageChunk(chunk("not yours"));
                self.cx.send_notification(SessionNotification::new("some other session", update))?;
            }
            Act::Wait => loop {
                self.look_again().await?;
            },
            Act::Hang => std::future::pending().await,
        }
        Ok(())
    }

    /// In two pieces, as agents do.
    fn say(&mut self, text: &str) -> Result<(), Error> {
        let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
        for piece in [first, second].into_iter().filter(|piece| !piece.is_empty()) {
            self.update(SessionUpdate::AgentMessageChunk(chunk(piece)))?;
        }
        self.said.push_str(text);
        Ok(())
    }

    fn think(&self, text: String) -> Result<(), Error> {
        self.update(SessionUpdate::AgentThoughtChunk(chunk(text)))
    }

    fn update(&self, update: SessionUpdate) -> Result<(), Error> {
        self.cx.send_notification(SessionNotification::new(self.id.clone(), update))
    }

    fn use_tool(&mut self, title: String, kind: &str) -> Result<(), Error> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        let call = ToolCall::new(id.clone(), title).kind(kind_of(kind)).raw_input(json!({"n": self.calls}));
        self.update(SessionUpdate::ToolCall(call))?;
        let done = ToolCallUpdateFields::new().status(ToolCallStatus::Completed).raw_output(json!("done"));
        self.update(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, done)))
    }

    /// All requests are under way before the first is answered.
    async fn ask(&mut self, asks: Vec<Asks>) -> Result<(), Over> {
        let mut waiting = Vec::new();
        for Asks { title, kind, input, path } in asks {
            self.calls += 1;
            let fields = ToolCallUpdateFields::new()
                .title(title.clone())
                .kind(kind_of(&kind))
                .raw_input(input)
                .locations(path.map(|path| vec![ToolCallLocation::new(path)]));
            let call = ToolCallUpdate::new(format!("call-{}", self.calls), fields);
            let options = [
                ("allow", "Allow", PermissionOptionKind::AllowOnce),
                ("always", "Always allow", PermissionOptionKind::AllowAlways),
                ("reject", "Reject", PermissionOptionKind::RejectOnce),
            ];
            let options = options.map(|(id, name, kind)| PermissionOption::new(id, name, kind)).to_vec();
            let request = RequestPermissionRequest::new(self.id.clone(), call, options);
            waiting.push((title, self.cx.send_request(request)));
        }
        let mut was_cancelled = false;
        for (title, request) in waiting {
            let told = match request.block_task().await.map(|response| response.outcome) {
                Ok(RequestPermissionOutcome::Selected(selected)) => selected.option_id.0.to_string(),
                Ok(_) => {
                    was_cancelled = true;
                    "cancelled".to_owned()
                }
                Err(error) => refused(&error),
            };
            self.think(format!("{title}: {told}"))?;
        }
        if was_cancelled { Err(Over::Cancelled) } else { Ok(()) }
    }

    async fn run(&self, command: &[String]) -> Result<String, Error> {
        let (program, args) = command.split_first().ok_or_else(Error::invalid_params)?;
        let request = CreateTerminalRequest::new(self.id.clone(), program.clone()).args(args.to_vec());
        let terminal = self.cx.send_request(request).block_task().await?.terminal_id;
        let request = WaitForTerminalExitRequest::new(self.id.clone(), terminal.clone());
        self.cx.send_request(request).block_task().await?;
        let request = TerminalOutputRequest::new(self.id.clone(), terminal);
        Ok(self.cx.send_request(request).block_task().await?.output)
    }

    fn flood(&self, bytes: u64) -> Result<(), Error> {
        let update = SessionUpdate::AgentThoughtChunk(chunk("x".repeat(FLOOD_BYTES)));
        let notification = json!({
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": SessionNotification::new(self.id.clone(), update),
        });
        let line = notification.to_string();
        for _ in 0..bytes / line.len() as u64 {
            self.scripted.printer.print(line.clone());
        }
        Ok(())
    }
}

fn chunk(text: impl Into<String>) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text.into()))
}

fn text_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

fn kind_of(name: &str) -> ToolKind {
    serde_json::from_value(Value::String(name.to_owned())).unwrap_or(ToolKind::Other)
}

fn refused(error: &Error) -> String {
    format!("refused: {} {}", error.message, error.data.clone().unwrap_or_default())
}

/// In a session of its own, where a signal to its group does not reach it. It writes its number to `forked`.
fn fork(folder: &Path) -> Result<(), Error> {
    let script = "setsid sh -c 'echo $$ >forked.part; mv forked.part forked; exec sleep 600' &";
    Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map(drop)
        .map_err(Error::into_internal_error)
}
