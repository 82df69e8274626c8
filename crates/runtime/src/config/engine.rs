//! `[engines.*]`: how turns are executed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use adjourn_core::{Profile, ResumesBy, named};
use adjourn_engine::{Pace, Pattern, Permission, PermissionAnswer, PermissionRule, Preset, Serves, ToolKind};

use super::model::{self, Model};
use super::reader::Reader;
use super::sandbox::{self, SandboxConfig};
use super::value::{command, environment};
use adjourn_engine::secrets::Secret;

named! {
    /// The kind of an engine.
    pub enum EngineKind {
        /// An agent that speaks the Agent Client Protocol.
        Acp = "acp",
        /// An agent's command line program.
        Exec = "exec",
        /// Adjourn's own loop over a model.
        Reasoning = "reasoning",
        /// A recorded run, played back.
        Replay = "replay",
    }
}

impl EngineKind {
    /// Where such an engine takes up a conversation again.
    pub const fn resumes_by(self) -> ResumesBy {
        match self {
            Self::Acp | Self::Exec | Self::Replay => ResumesBy::Handle,
            Self::Reasoning => ResumesBy::Journal,
        }
    }

    /// Whether a process of such an engine can stay while its run waits.
    pub const fn can_stay(self) -> bool {
        match self {
            Self::Acp => true,
            Self::Exec | Self::Reasoning | Self::Replay => false,
        }
    }
}

/// One engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineConfig {
    /// What it is, and what only such an engine has.
    pub how: How,
    /// What becomes of its process while a run waits, where neither request nor skill says it.
    pub profile: Option<Profile>,
    /// What its agent may do. By default: work within the workspace.
    pub permission: Permission,
    /// Added to the allow-listed environment.
    pub env: BTreeMap<String, Secret>,
    /// Variables that are let through to the agent.
    pub pass_env: Vec<String>,
    /// The wall around its agents.
    pub sandbox: SandboxConfig,
}

/// What an engine is, with what only such an engine has.
#[derive(Debug, Clone, PartialEq)]
pub enum How {
    /// An agent that speaks the Agent Client Protocol.
    Acp {
        /// The agent and its arguments.
        command: Vec<String>,
        /// How it is answered when it asks for a permission, before `permission` decides.
        permissions: Vec<PermissionRule>,
        /// What it may have Adjourn do for it in its workspace.
        serves: Vec<Serves>,
        /// The model, where the agent should not choose and offers a choice.
        model: Option<String>,
    },
    /// An agent's command line program.
    Exec {
        /// How it is talked to.
        preset: Preset,
        /// The program and extra arguments.
        command: Vec<String>,
    },
    /// Adjourn's own loop over a model.
    Reasoning(Model),
    /// A recorded run, played back.
    Replay {
        /// The recording; none for the one that the skill carries.
        recording: Option<PathBuf>,
        /// How fast.
        pace: Pace,
    },
}

impl EngineConfig {
    fn new(how: How) -> Self {
        let (profile, permission) = (None, Permission::Workspace);
        let sandbox = SandboxConfig::default();
        Self { how, profile, permission, env: BTreeMap::new(), pass_env: Vec::new(), sandbox }
    }

    /// Whether the engine is given the variable of this name, besides those that every agent gets.
    pub fn passes(&self, variable: &str) -> bool {
        self.key_variable() == Some(variable) || self.pass_env.iter().any(|passed| passed == variable)
    }

    /// The variable with the key that its model is asked with.
    pub(crate) fn key_variable(&self) -> Option<&str> {
        match &self.how {
            How::Reasoning(model) => model.api_key_env.as_deref(),
            How::Acp { .. } | How::Exec { .. } | How::Replay { .. } => None,
        }
    }

    /// The engine of this name that needs no configuration: the agents that have a preset, and `replay`, which plays
    /// back the recording that a skill carries.
    pub fn built_in(name: &str) -> Option<Self> {
        if name == EngineKind::Replay.name() {
            return Some(Self::new(How::Replay { recording: None, pace: Pace::Instant }));
        }
        match name.parse().ok()? {
            preset @ (Preset::Claude | Preset::Codex | Preset::Gemini | Preset::Opencode) => {
                Some(Self::new(How::Exec { preset, command: vec![preset.name().to_owned()] }))
            }
            Preset::Command => None,
        }
    }

    /// What it is.
    pub fn kind(&self) -> EngineKind {
        match self.how {
            How::Acp { .. } => EngineKind::Acp,
            How::Exec { .. } => EngineKind::Exec,
            How::Reasoning(_) => EngineKind::Reasoning,
            How::Replay { .. } => EngineKind::Replay,
        }
    }
}

/// Keys that only some kinds have, with those kinds.
const OF_KINDS: &[(&str, &[EngineKind])] = &[
    ("command", &[EngineKind::Acp, EngineKind::Exec]),
    ("profile", &[EngineKind::Acp, EngineKind::Exec]),
    ("permission", &[EngineKind::Acp, EngineKind::Exec]),
    ("env", &[EngineKind::Acp, EngineKind::Exec]),
    ("pass_env", &[EngineKind::Acp, EngineKind::Exec]),
    ("sandbox", &[EngineKind::Acp, EngineKind::Exec]),
    ("sandbox_write", &[EngineKind::Acp, EngineKind::Exec]),
    ("sandbox_allow", &[EngineKind::Acp, EngineKind::Exec]),
    ("preset", &[EngineKind::Exec]),
    ("api", &[EngineKind::Reasoning]),
    ("base_url", &[EngineKind::Reasoning]),
    ("model", &[EngineKind::Acp, EngineKind::Reasoning]),
    ("permissions", &[EngineKind::Acp]),
    ("serves", &[EngineKind::Acp]),
    ("api_key_env", &[EngineKind::Reasoning]),
    ("output_tokens_max", &[EngineKind::Reasoning]),
    ("prices", &[EngineKind::Reasoning]),
    ("recording", &[EngineKind::Replay]),
    ("pace", &[EngineKind::Replay]),
];

pub(super) fn read(reader: &Reader<'_>) -> Option<EngineConfig> {
    if !reader.is_there() {
        return None;
    }
    let Some(kind) = reader.named::<EngineKind>("kind") else {
        reader.missing("kind", "it is one of `acp`, `exec`, `reasoning`, `replay`");
        return None;
    };
    let kind = kind.value;
    let how = match kind {
        EngineKind::Acp => acp(reader),
        EngineKind::Exec => exec(reader),
        EngineKind::Reasoning => model::read(reader).map(How::Reasoning),
        EngineKind::Replay => Some(replay(reader)),
    };
    let mut engine = EngineConfig::new(how?);
    match kind {
        EngineKind::Acp | EngineKind::Exec => {
            engine.profile = reader.named("profile").map(|found| found.value);
            engine.permission = reader.named("permission").map_or(engine.permission, |found| found.value);
            engine.env = environment(reader, "env");
            engine.pass_env = reader.strings("pass_env").map_or_else(Vec::new, |found| found.value);
            engine.sandbox = sandbox::read(reader);
        }
        EngineKind::Reasoning | EngineKind::Replay => {}
    }
    for (key, kinds) in OF_KINDS.iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
        let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        reader
            .refuse(key, &format!("it is for engines of kind {}, this one is `{kind}`", kinds.join(" or ")));
    }
    reader.finish();
    Some(engine)
}

fn acp(reader: &Reader<'_>) -> Option<How> {
    let permissions = reader.list("permissions").iter().filter_map(permission_rule).collect();
    let serves = reader.names_in("serves");
    let model = reader.string("model").map(|found| found.value);
    match command(reader) {
        Some(command) => Some(How::Acp { command, permissions, serves, model }),
        None => {
            reader.missing("command", "the agent to start, as [\"program\", \"argument\"]");
            None
        }
    }
}

/// `{ kind = "edit", path = "src/*", answer = "allow" }`, of which only the answer has to be there.
fn permission_rule(reader: &Reader<'_>) -> Option<PermissionRule> {
    let kind = reader.named::<ToolKind>("kind").map(|found| found.value);
    let path = reader.string("path").map(|found| Pattern::new(found.value));
    let answer = reader.named::<PermissionAnswer>("answer").map(|found| found.value);
    if answer.is_none() {
        reader.missing("answer", "it is one of `allow`, `deny`, `ask`");
    }
    reader.finish();
    Some(PermissionRule { kind, path, answer: answer? })
}

fn exec(reader: &Reader<'_>) -> Option<How> {
    let preset = reader.named::<Preset>("preset").map(|found| found.value);
    let command = command(reader);
    match (preset, command) {
        (None, _) => {
            reader.missing("preset", "an `exec` engine is one of claude, codex, gemini, opencode, command");
            None
        }
        (Some(preset), Some(command)) => Some(How::Exec { preset, command }),
        (Some(Preset::Command), None) => {
            reader.missing("command", "preset `command` needs the program to run");
            None
        }
        (Some(preset @ (Preset::Claude | Preset::Codex | Preset::Gemini | Preset::Opencode)), None) => {
            Some(How::Exec { preset, command: vec![preset.name().to_owned()] })
        }
    }
}

fn replay(reader: &Reader<'_>) -> How {
    let recording = reader.string("recording").map(|found| reader.document.path(&found.value));
    let pace = reader.named("pace").map_or(Pace::Instant, |found| found.value);
    How::Replay { recording, pace }
}
