//! The agent's side of the protocol.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, ContentChunk, Implementation, InitializeRequest,
    InitializeResponse, LoadSessionRequest, LoadSessionResponse, McpCapabilities, McpServer,
    NewSessionRequest, NewSessionResponse, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SessionCapabilities, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionId, SessionMode, SessionModeState, SessionNotification,
    SessionResumeCapabilities, SessionUpdate, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
    SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::{Agent, Client, Error, on_receive_notification, on_receive_request};

use super::act::{Place, Turn};
use super::output::{Printer, lines};
use super::script::{Behaviour, Mcp, Script, TakesUp};
use super::session::{Said, Session};

/// Whether a session is to stop what it does.
pub(super) type Cancelled = Arc<AtomicBool>;

/// The agent, for all of its sessions.
pub(super) struct Scripted {
    pub(super) script: Script,
    pub(super) printer: Printer,
    open: Mutex<HashMap<SessionId, Open>>,
    sessions: AtomicU32,
}

/// A session that it has.
struct Open {
    folder: PathBuf,
    cancelled: Cancelled,
    servers: Vec<McpServer>,
}

/// The program: its argument is the path of a script.
pub fn main() -> ExitCode {
    let script = std::env::args_os().nth(1).and_then(|path| std::fs::read(path).ok());
    let Some(script) = script.and_then(|bytes| serde_json::from_slice::<Script>(&bytes).ok()) else {
        eprintln!("the argument has to be the path of a script");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.map(|runtime| runtime.block_on(serve(script)));
    match served {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("the connection failed: {error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(script: Script) -> Result<(), Error> {
    let printer = Printer::start();
    let transport = lines(printer.clone());
    let scripted =
        Arc::new(Scripted { script, printer, open: Mutex::default(), sessions: AtomicU32::new(0) });
    let each = || scripted.clone();
    let (initialized, created, loaded, resumed) = (each(), each(), each(), each());
    let (prompted, cancelled, moded, configured) = (each(), each(), each(), each());
    Agent
        .v1()
        .on_receive_request(
            async move |request: InitializeRequest, responder, _cx| match initialized.initialize(&request) {
                Some(answer) => responder.respond(answer),
                None => std::future::pending().await,
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _cx| {
                responder.respond_with_result(created.create(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, cx: ConnectionTo<Client>| {
                responder.respond_with_result(loaded.load(request, &cx))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, _cx| {
                responder.respond_with_result(resumed.resume(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _cx| {
                moded.note(&format!("mode {}", request.mode_id.0))?;
                responder.respond(SetSessionModeResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionConfigOptionRequest, responder, _cx| {
                let SessionConfigOptionValue::ValueId { value } = &request.value else {
                    return responder.respond_with_error(Error::invalid_params());
                };
                configured.note(&format!("{} {}", request.config_id.0, value.0))?;
                responder.respond(SetSessionConfigOptionResponse::new(Vec::new()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, cx: ConnectionTo<Client>| {
                let turn = prompted.turn(&request, cx.clone());
                cx.spawn(async move {
                    let result = match turn {
                        Ok(turn) => turn.play(&request).await,
                        Err(error) => Err(error),
                    };
                    responder.respond_with_result(result)
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: CancelNotification, _cx| {
                cancelled.cancel(&notification.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

impl Scripted {
    fn initialize(&self, request: &InitializeRequest) -> Option<InitializeResponse> {
        if matches!(self.script.behaviour, Behaviour::Silent) {
            return None;
        }
        let (load, resume) = match self.script.takes_up {
            TakesUp::Resume => (true, Some(SessionResumeCapabilities::new())),
            TakesUp::Load | TakesUp::Forgets => (true, None),
            TakesUp::Never => (false, None),
        };
        let sessions = SessionCapabilities::new().resume(resume);
        let mcp = McpCapabilities::new().http(self.script.mcp == Mcp::Http);
        let capabilities =
            AgentCapabilities::new().load_session(load).session_capabilities(sessions).mcp_capabilities(mcp);
        let info = Implementation::new("scripted", "1.0.0");
        Some(
            InitializeResponse::new(request.protocol_version)
                .agent_capabilities(capabilities)
                .agent_info(info),
        )
    }

    fn create(&self, request: NewSessionRequest) -> Result<NewSessionResponse, Error> {
        if matches!(self.script.behaviour, Behaviour::LoggedOut) {
            return Err(Error::auth_required());
        }
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let id = format!("session-{}-{number}", std::process::id());
        Session::default().store(&self.script.sessions, &id).map_err(Error::into_internal_error)?;
        let id = SessionId::new(id);
        self.enter(&id, request.cwd, request.mcp_servers)?;
        Ok(NewSessionResponse::new(id).modes(self.modes()).config_options(self.models()))
    }

    fn load(
        &self,
        request: LoadSessionRequest,
        cx: &ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse, Error> {
        let session = self.find(&request.session_id)?;
        for said in session.said {
            let chunk = |text: String| ContentChunk::new(ContentBlock::from(text));
            let update = match said {
                Said::Prompt(text) => SessionUpdate::UserMessageChunk(chunk(text)),
                Said::Answer(text) => SessionUpdate::AgentMessageChunk(chunk(text)),
            };
            cx.send_notification(SessionNotification::new(request.session_id.clone(), update))?;
        }
        self.enter(&request.session_id, request.cwd, request.mcp_servers)?;
        Ok(LoadSessionResponse::new().modes(self.modes()).config_options(self.models()))
    }

    fn resume(&self, request: ResumeSessionRequest) -> Result<ResumeSessionResponse, Error> {
        if self.script.takes_up != TakesUp::Resume {
            return Err(Error::method_not_found());
        }
        self.find(&request.session_id)?;
        self.enter(&request.session_id, request.cwd, request.mcp_servers)?;
        Ok(ResumeSessionResponse::new().modes(self.modes()).config_options(self.models()))
    }

    fn find(&self, id: &SessionId) -> Result<Session, Error> {
        match self.script.takes_up {
            TakesUp::Never => return Err(Error::method_not_found()),
            TakesUp::Forgets => return Err(Error::invalid_params().data("invalid session identifier")),
            TakesUp::Resume | TakesUp::Load => {}
        }
        Session::load(&self.script.sessions, &id.0)
            .map_err(|error| Error::invalid_params().data(error.to_string()))
    }

    /// Writes down what it was told about its sessions, next to them.
    fn note(&self, line: &str) -> Result<(), Error> {
        let file = OpenOptions::new().create(true).append(true).open(self.script.sessions.join("told"));
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.map_err(Error::into_internal_error)
    }

    fn enter(&self, id: &SessionId, folder: PathBuf, servers: Vec<McpServer>) -> Result<(), Error> {
        for server in &servers {
            self.note(&serde_json::to_string(server).map_err(Error::into_internal_error)?)?;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(id.clone(), Open { folder, cancelled: Cancelled::default(), servers });
        Ok(())
    }

    fn turn(self: &Arc<Self>, request: &PromptRequest, cx: ConnectionTo<Client>) -> Result<Turn, Error> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Open { folder, cancelled, servers } =
            open.get(&request.session_id).ok_or_else(Error::invalid_params)?;
        cancelled.store(false, Ordering::Relaxed);
        let server = servers.last().cloned();
        let place = Place { id: request.session_id.clone(), folder: folder.clone(), server };
        Ok(Turn::new(self.clone(), cx, place, cancelled.clone()))
    }

    fn cancel(&self, id: &SessionId) {
        if let Some(open) = self.open.lock().unwrap_or_else(PoisonError::into_inner).get(id) {
            open.cancelled.store(true, Ordering::Relaxed);
        }
    }

    fn modes(&self) -> Option<SessionModeState> {
        let first = self.script.modes.first()?.clone();
        let modes =
            self.script.modes.iter().map(|mode| SessionMode::new(mode.clone(), mode.clone())).collect();
        Some(SessionModeState::new(first, modes))
    }

    fn models(&self) -> Option<Vec<SessionConfigOption>> {
        let first = self.script.models.first()?.clone();
        let each = |model: &String| SessionConfigSelectOption::new(model.clone(), model.clone());
        let models: Vec<_> = self.script.models.iter().map(each).collect();
        let option = SessionConfigOption::select("model", "Model", first, models);
        Some(vec![option.category(SessionConfigOptionCategory::Model)])
    }
}
