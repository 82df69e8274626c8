//! The beginning of a conversation: a new one, or one that is taken up again.

use std::time::Duration;

use adjourn_core::Observation;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, FileSystemCapabilities, Implementation, InitializeRequest, InitializeResponse,
    LoadSessionRequest, McpServer, NewSessionRequest, ResumeSessionRequest, SessionConfigKind,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect, SessionConfigSelectOptions,
    SessionConfigValueId, SessionId, SessionModeState, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use tokio::sync::mpsc;

use super::failure::Trouble;
use super::live::Live;
use super::{AcpConfig, Serves};
use crate::exec::Permission;
use crate::turn::{Finished, Seen, Turn, show};

/// How long an agent may take until it speaks. The slowest took 11 s for its first start on a machine, which unpacks
/// things.
pub(super) const INITIALIZE_MAX: Duration = Duration::from_secs(30);

/// How long it may take to begin a conversation or to take one up: long ones are read from a disk and replayed.
pub(super) const SESSION_MAX: Duration = Duration::from_secs(60);

const NEW: &str = "session/new";
const RESUME: &str = "session/resume";
const LOAD: &str = "session/load";

/// The requests that take up a conversation.
pub(super) const TAKES_UP: &[&str] = &[RESUME, LOAD];

/// How an agent says it takes up a conversation in a new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Without telling it again.
    Resume,
    /// It tells all of it again.
    Load,
}

impl Way {
    pub(super) fn announced(by: &InitializeResponse) -> Option<Self> {
        let capabilities = &by.agent_capabilities;
        if capabilities.session_capabilities.resume.is_some() {
            Some(Self::Resume)
        } else {
            capabilities.load_session.then_some(Self::Load)
        }
    }

    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::Resume => RESUME,
            Self::Load => LOAD,
        }
    }
}

/// What an agent lets be chosen in a conversation.
struct Choices {
    modes: Option<SessionModeState>,
    options: Option<Vec<SessionConfigOption>>,
}

impl Live {
    /// Opens the conversation of a turn.
    pub(super) async fn open(
        &mut self,
        turn: &Turn,
        config: &AcpConfig,
        seen: &mpsc::Sender<Seen>,
    ) -> Result<(), Finished> {
        show(seen, Seen::Fact(Observation::Process(self.process()))).await;
        show(seen, Seen::Fact(Observation::Sandbox(self.kept().walls().to_owned()))).await;
        let opened = self.open_session(turn, config).await;
        match opened {
            Ok(Some(handle)) => {
                show(seen, Seen::Fact(Observation::Handle(handle))).await;
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(trouble) => Err(self.failure(trouble).await),
        }
    }

    /// Opens it, and gives the handle that it can be taken up again by; none where the agent does not say that it can.
    async fn open_session(&mut self, turn: &Turn, config: &AcpConfig) -> Result<Option<String>, Trouble> {
        let agent = self.initialize(config).await?;
        let way = Way::announced(&agent);
        let servers = self.servers(&agent)?;
        let (id, choices) = match &turn.handle {
            None => self.new_session(turn, servers).await?,
            Some(handle) => {
                // One that says nothing of it is asked all the same: it once gave this handle.
                self.take_up(turn, handle, way.unwrap_or(Way::Load), servers).await?
            }
        };
        self.session = Some(id.clone());
        self.choose(&id, &choices, config).await?;
        Ok(way.map(|_| id.0.to_string()))
    }

    pub(super) async fn initialize(&mut self, config: &AcpConfig) -> Result<InitializeResponse, Trouble> {
        let files = config.serves.contains(&Serves::Files);
        let capabilities = ClientCapabilities::new()
            .fs(FileSystemCapabilities::new().read_text_file(files).write_text_file(files))
            .terminal(config.serves.contains(&Serves::Terminal));
        let request = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(Implementation::new("adjourn", env!("CARGO_PKG_VERSION")));
        let agent = self.ask("initialize", INITIALIZE_MAX, request).await?;
        if agent.protocol_version != ProtocolVersion::V1 {
            return Err(Trouble::WrongVersion(agent.protocol_version.to_string()));
        }
        Ok(agent)
    }

    async fn new_session(
        &mut self,
        turn: &Turn,
        servers: Vec<McpServer>,
    ) -> Result<(SessionId, Choices), Trouble> {
        let request = NewSessionRequest::new(&turn.workspace).mcp_servers(servers);
        let opened = self.ask(NEW, SESSION_MAX, request).await?;
        let choices = Choices { modes: opened.modes, options: opened.config_options };
        Ok((opened.session_id, choices))
    }

    async fn take_up(
        &mut self,
        turn: &Turn,
        handle: &str,
        way: Way,
        servers: Vec<McpServer>,
    ) -> Result<(SessionId, Choices), Trouble> {
        let id = SessionId::new(handle);
        let choices = match way {
            Way::Resume => {
                let request = ResumeSessionRequest::new(id.clone(), &turn.workspace).mcp_servers(servers);
                let opened = self.ask(way.method(), SESSION_MAX, request).await?;
                Choices { modes: opened.modes, options: opened.config_options }
            }
            Way::Load => {
                let request = LoadSessionRequest::new(id.clone(), &turn.workspace).mcp_servers(servers);
                let opened = self.ask(way.method(), SESSION_MAX, request).await?;
                Choices { modes: opened.modes, options: opened.config_options }
            }
        };
        Ok((id, choices))
    }

    /// Begins a conversation that nobody will have, to see whether it can be taken up.
    pub(super) async fn try_new(&mut self, turn: &Turn) -> Result<String, Trouble> {
        self.new_session(turn, Vec::new()).await.map(|(id, _)| id.0.to_string())
    }

    /// Takes up a conversation that nobody will have.
    pub(super) async fn try_to_take_up(
        &mut self,
        turn: &Turn,
        handle: &str,
        way: Way,
    ) -> Result<(), Trouble> {
        self.take_up(turn, handle, way, Vec::new()).await.map(drop)
    }

    /// Sets what the configuration asks for, where the agent offers it. One that offers nothing is as it is.
    async fn choose(&mut self, id: &SessionId, choices: &Choices, config: &AcpConfig) -> Result<(), Trouble> {
        if let Some(state) = &choices.modes
            && let Some(mode) = wanted_mode(config.permission, state)
        {
            let request = SetSessionModeRequest::new(id.clone(), mode);
            match (self.ask("session/set_mode", INITIALIZE_MAX, request).await, config.permission) {
                // It asks more than it would have to, and is answered by the same rules.
                (Ok(_), _) | (Err(Trouble::Refused { .. }), Permission::Workspace | Permission::Full) => {}
                (Err(trouble), _) => return Err(trouble),
            }
        }
        if let Some(wanted) = &config.model
            && let Some((option, select)) = model_option(choices.options.as_deref().unwrap_or_default())
            && let Some(value) = offered(select, wanted)
        {
            let request = SetSessionConfigOptionRequest::new(id.clone(), option.id.clone(), value);
            self.ask("session/set_config_option", INITIALIZE_MAX, request).await?;
        }
        Ok(())
    }
}

/// What agents call each permission; the first that is offered counts. `auto` is codex's name for it, and in claude a mode in
/// which a model decides, which claude offers besides `acceptEdits`.
fn names_of(permission: Permission) -> &'static [&'static str] {
    match permission {
        Permission::ReadOnly => &["read-only", "plan"],
        Permission::Workspace => &["acceptEdits", "autoEdit", "auto_edit", "auto", "build"],
        Permission::Full => &["full-access", "bypassPermissions", "yolo"],
    }
}

/// The mode to change to; none where it is the current one, or none of those that are known is offered.
fn wanted_mode(permission: Permission, state: &SessionModeState) -> Option<String> {
    let is_offered = |name: &&&str| state.available_modes.iter().any(|mode| &*mode.id.0 == **name);
    let mode = names_of(permission).iter().find(is_offered)?;
    (&*state.current_mode_id.0 != *mode).then(|| (*mode).to_owned())
}

fn model_option(options: &[SessionConfigOption]) -> Option<(&SessionConfigOption, &SessionConfigSelect)> {
    options.iter().find_map(|option| match (&option.category, &option.kind) {
        (Some(SessionConfigOptionCategory::Model), SessionConfigKind::Select(select)) => {
            Some((option, select))
        }
        _ => None,
    })
}

/// The value that is called so, or named so; none where it is the current one.
fn offered(select: &SessionConfigSelect, wanted: &str) -> Option<SessionConfigValueId> {
    let all: Vec<_> = match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).collect()
        }
        _ => Vec::new(),
    };
    let found = all.into_iter().find(|option| &*option.value.0 == wanted || option.name == wanted)?;
    (found.value != select.current_value).then(|| found.value.clone())
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{SessionMode, SessionModeState};

    use super::wanted_mode;
    use crate::exec::Permission;

    #[test]
    fn a_permission_is_the_mode_that_the_agent_calls_so() {
        let state = |current: &str, modes: &[&str]| {
            let modes = modes.iter().map(|mode| SessionMode::new((*mode).to_owned(), *mode)).collect();
            SessionModeState::new(current.to_owned(), modes)
        };
        let claude = ["auto", "default", "acceptEdits", "plan", "bypassPermissions"];
        let codex = ["read-only", "auto", "full-access"];
        for (permission, modes, current, expected) in [
            (Permission::Workspace, &claude[..], "default", Some("acceptEdits")),
            (Permission::ReadOnly, &claude, "default", Some("plan")),
            (Permission::Full, &codex, "auto", Some("full-access")),
            (Permission::Workspace, &codex, "auto", None),
            (Permission::Workspace, &["odd"], "odd", None),
        ] {
            assert_eq!(wanted_mode(permission, &state(current, modes)).as_deref(), expected, "{permission}");
        }
    }
}
