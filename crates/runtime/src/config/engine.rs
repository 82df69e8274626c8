//! `[engines.*]`: how turns are executed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use adjourn_api::read::within;
use adjourn_core::{Profile, ResumesBy, named};
use adjourn_engine::model::{Api, Prices};
use adjourn_engine::secrets::Secret;
use adjourn_engine::{Allowance, Pace, Permission, PermissionRule, Preset, Serves};
use serde::Deserialize;

use super::check::Check;
use super::model::{Model, OUTPUT_TOKENS_MAX};
use super::sandbox::{SandboxConfig, SandboxSwitch};

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

/// `[engines.*]` as it is written, whatever its kind.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct EngineTable {
    kind: Option<EngineKind>,
    command: Option<Vec<String>>,
    profile: Option<Profile>,
    permission: Option<Permission>,
    env: BTreeMap<String, Secret>,
    pass_env: Vec<String>,
    sandbox: Option<SandboxSwitch>,
    sandbox_write: Vec<String>,
    sandbox_allow: Vec<Allowance>,
    preset: Option<Preset>,
    api: Option<Api>,
    base_url: Option<String>,
    model: Option<String>,
    permissions: Vec<PermissionRule>,
    serves: Vec<Serves>,
    api_key_env: Option<String>,
    #[serde(deserialize_with = "within::<1, OUTPUT_TOKENS_MAX, _, _>")]
    output_tokens_max: Option<u32>,
    prices: Option<Prices>,
    recording: Option<String>,
    pace: Option<Pace>,
}

impl EngineTable {
    pub(super) fn engine(mut self, name: &str, check: &mut Check<'_>) -> Option<EngineConfig> {
        let at = |key| ["engines", name, key];
        check.missing(&at("kind"), "it is one of `acp`, `exec`, `reasoning`, `replay`");
        let kind = self.kind?;
        for (key, kinds) in OF_KINDS.iter().filter(|(_, kinds)| !kinds.contains(&kind)) {
            let kinds: Vec<_> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            let why = format!("it is for engines of kind {}, this one is `{kind}`", kinds.join(" or "));
            check.refuse(&at(key), &why);
        }
        check.environment(&at("env"), &self.env);
        let (env, pass_env) = (std::mem::take(&mut self.env), std::mem::take(&mut self.pass_env));
        let allow = std::mem::take(&mut self.sandbox_allow);
        let sandbox = SandboxConfig::new(self.sandbox, &self.sandbox_write, allow, check);
        let (profile, permission) = (self.profile, self.permission.unwrap_or(Permission::Workspace));
        let how = match kind {
            EngineKind::Acp => self.acp(name, check)?,
            EngineKind::Exec => self.exec(name, check)?,
            EngineKind::Reasoning => self.reasoning(name, check)?,
            EngineKind::Replay => How::Replay {
                recording: self.recording.map(|recording| check.path(&recording)),
                pace: self.pace.unwrap_or(Pace::Instant),
            },
        };
        Some(EngineConfig { how, profile, permission, env, pass_env, sandbox })
    }

    fn acp(self, name: &str, check: &mut Check<'_>) -> Option<How> {
        let command = ["engines", name, "command"];
        check.missing(&command, "the agent to start, as [\"program\", \"argument\"]");
        let command = check.command(&command, self.command)?;
        let Self { permissions, serves, model, .. } = self;
        Some(How::Acp { command, permissions, serves, model })
    }

    fn exec(self, name: &str, check: &mut Check<'_>) -> Option<How> {
        let at = |key| ["engines", name, key];
        check.missing(&at("preset"), "an `exec` engine is one of claude, codex, gemini, opencode, command");
        let given = check.command(&at("command"), self.command);
        let preset = self.preset?;
        let command = match (preset, given) {
            (_, Some(command)) => command,
            (Preset::Command, None) => {
                check.missing(&at("command"), "preset `command` needs the program to run");
                return None;
            }
            (Preset::Claude | Preset::Codex | Preset::Gemini | Preset::Opencode, None) => {
                vec![preset.name().to_owned()]
            }
        };
        Some(How::Exec { preset, command })
    }

    fn reasoning(self, name: &str, check: &mut Check<'_>) -> Option<How> {
        let at = |key| ["engines", name, key];
        check.missing(&at("api"), "`openai` or `anthropic`");
        check.missing(&at("model"), "the name of the model to ask");
        if let Some(Prices { input_usd_per_million, output_usd_per_million }) = self.prices {
            let prices = [
                ("input_usd_per_million", input_usd_per_million),
                ("output_usd_per_million", output_usd_per_million),
            ];
            for (key, price) in prices.into_iter().filter(|(_, price)| *price < 0.0) {
                let message = format!("should be a number from 0 on, it is {price}");
                check.error(&["engines", name, "prices", key], message);
            }
        }
        let base_url = check.url(&at("base_url"), self.base_url);
        let (api, model) = (self.api?, self.model?);
        Some(How::Reasoning(Model {
            api,
            base_url: base_url.unwrap_or_else(|| api.base_url().to_owned()),
            model,
            api_key_env: self.api_key_env,
            output_tokens_max: self.output_tokens_max,
            prices: self.prices,
        }))
    }
}
