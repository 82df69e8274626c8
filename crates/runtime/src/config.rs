//! The configuration: `adjourn.toml` and the environment.
//!
//! The file is the one that `--config` names, else `adjourn.toml` in the data directory's parent; without a file, all
//! is at its default. Relative paths in it are relative to it. Everything that is wrong is said at once, with its place
//! and the nearest right name.
//!
//! **Environment.** A setting that holds one value is overridden by the variable `ADJOURN_` and its keys, in capitals,
//! joined by `_`: `slots.total` by `ADJOURN_SLOTS_TOTAL`, `engines.local.model` by `ADJOURN_ENGINES_LOCAL_MODEL`. An
//! engine or tool has to be in the file for that. Lists and tables are not overridden.

mod check;
mod engine;
mod file;
mod model;
mod problem;
mod sandbox;
mod secret_values;
mod server;
#[cfg(test)]
mod tests;
mod tool;
mod webhook;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use adjourn_api::nearest::hint;
use adjourn_api::read::{Document, Variables, within};
use serde::Deserialize;

pub use adjourn_engine::model::Api;
pub use adjourn_engine::{Pace, Pattern, Permission, Preset};
pub use engine::{EngineConfig, EngineKind, How};
pub use file::ConfigFile;
pub use model::Model;
pub use problem::{ConfigError, ConfigProblem};
pub use sandbox::{SandboxConfig, SandboxSwitch};
pub use server::{ServerConfig, WriteRate};
pub use tool::{TOOL_TIMEOUT_DEFAULT_SEC, ToolConfig, ToolServer};
pub use webhook::Webhooks;

use check::Check;
use engine::EngineTable;
use server::ServerTable;
use tool::ToolTable;
use webhook::WebhooksTable;

use crate::Severity;
use adjourn_engine::secrets::Secret;

/// The name of the file.
pub const FILE_NAME: &str = "adjourn.toml";

/// Turns that run at the same time when nobody says otherwise. An agent's process takes some hundred megabytes.
pub const SLOTS_TOTAL_DEFAULT: u32 = 4;

/// Runs that wait for a slot when nobody says otherwise: hours of work, and still a list that can be looked through.
pub const QUEUE_MAX_DEFAULT: u32 = 10_000;

/// More processes at once than this are a slip of the pen on any machine.
const SLOTS_TOTAL_MAX: u32 = 10_000;

/// What every run in the queue has in memory should fit into some gigabytes.
const QUEUE_MAX_MAX: u32 = 10_000_000;

/// A file that is longer is not a configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Variables that begin like this are settings, and a warning is due if they are not.
const SETTING_PREFIXES: &[&str] =
    &["ADJOURN_SLOTS_", "ADJOURN_SERVER_", "ADJOURN_WEBHOOKS_", "ADJOURN_ENGINES_", "ADJOURN_TOOLS_"];

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The file that it was read from, whether it is there or not; none where it was made otherwise.
    pub file: Option<PathBuf>,
    /// Folders whose skills can be named. By default none.
    pub skills: Vec<PathBuf>,
    /// Folders with roles for roundtables, besides those that are built in. By default none.
    pub roles: Vec<PathBuf>,
    /// How much runs at the same time.
    pub slots: Slots,
    /// Engines that are configured. [`engine`](Self::engine) knows more.
    pub engines: BTreeMap<String, EngineConfig>,
    /// MCP servers that skills may name.
    pub tools: BTreeMap<String, ToolConfig>,
    /// What the server lets clients do.
    pub server: ServerConfig,
    /// Who is told of what happens.
    pub webhooks: Option<Webhooks>,
    /// What was hardly meant like this.
    pub warnings: Vec<ConfigProblem>,
}

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ConfigText {
    skills: Vec<String>,
    roles: Vec<String>,
    slots: Slots,
    engines: BTreeMap<String, EngineTable>,
    tools: BTreeMap<String, ToolTable>,
    server: ServerTable,
    webhooks: Option<WebhooksTable>,
}

/// How much runs at the same time.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Slots {
    /// Turns that run at the same time.
    #[serde(deserialize_with = "within::<1, SLOTS_TOTAL_MAX, _, _>")]
    pub total: u32,
    /// Runs that wait for a slot.
    #[serde(deserialize_with = "within::<0, QUEUE_MAX_MAX, _, _>")]
    pub queue_max: u32,
    /// Turns of one engine that run at the same time, where that is less.
    pub engine: BTreeMap<String, u32>,
}

impl Default for Slots {
    fn default() -> Self {
        Self { total: SLOTS_TOTAL_DEFAULT, queue_max: QUEUE_MAX_DEFAULT, engine: BTreeMap::new() }
    }
}

impl Config {
    /// The configuration in `file`, or else the one that belongs to `data_dir`.
    pub fn load(file: Option<&Path>, data_dir: &Path) -> Result<Self, ConfigError> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Self::load_with(file, data_dir, &variables.collect())
    }

    /// As [`load`](Self::load), with these variables for an environment.
    pub fn load_with(
        file: Option<&Path>,
        data_dir: &Path,
        variables: &Variables,
    ) -> Result<Self, ConfigError> {
        match file {
            Some(file) => {
                let text = read(file).map_err(|source| unreadable(file, source))?;
                Self::parse(file, &text, variables)
            }
            None => {
                // The parent of `.adjourn` is the folder one is in, which has no name.
                let file = data_dir.parent().unwrap_or(Path::new("")).join(FILE_NAME);
                match read(&file) {
                    Ok(text) => Self::parse(&file, &text, variables),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        Self::parse(&file, "", variables)
                    }
                    Err(source) => Err(unreadable(&file, source)),
                }
            }
        }
    }

    /// The configuration that `text` is, which is what is in `file`.
    pub fn parse(file: &Path, text: &str, variables: &Variables) -> Result<Self, ConfigError> {
        let mut document = match Document::toml(text) {
            // What only variables set needs a table to be set in.
            Ok(document) => document.with_tables(&["slots", "server"]),
            Err(problems) => {
                let problem = |problem| ConfigProblem::of(file, problem);
                return Err(ConfigError::Invalid(problems.into_iter().map(problem).collect()));
            }
        };
        let settings = |name: &str| SETTING_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        let settings = variables.iter().filter(|(name, _)| settings(name));
        let settings = settings.map(|(name, value)| (name.clone(), value.clone())).collect();
        let unused = document.override_by("ADJOURN_", &settings);
        let reading = document.read::<ConfigText>();
        let mut check = Check::new(file, &document, variables);
        let config = Self::from(reading.value.unwrap_or_default(), &mut check);
        let problems = check.finish(reading.problems, unused);
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(ConfigError::Invalid(problems));
        }
        Ok(Self { warnings: problems, ..config })
    }

    fn from(text: ConfigText, check: &mut Check<'_>) -> Self {
        check_slots(&text.slots, &text.engines, check);
        let folders = |named: Vec<String>| named.iter().map(|folder| check.path(folder)).collect();
        let (skills, roles) = (folders(text.skills), folders(text.roles));
        let engines = text.engines.into_iter().filter_map(|(name, table)| {
            check.name("engines", &name);
            let engine = table.engine(&name, check)?;
            Some((name, engine))
        });
        let engines = engines.collect();
        let tools = text.tools.into_iter().filter_map(|(name, table)| {
            check.name("tools", &name);
            let tool = table.tool(&name, check)?;
            Some((name, tool))
        });
        let tools = tools.collect();
        Self {
            file: Some(check.file.to_owned()),
            skills,
            roles,
            slots: text.slots,
            engines,
            tools,
            server: text.server.server(check),
            webhooks: text.webhooks.and_then(|webhooks| webhooks.webhooks(check)),
            warnings: Vec::new(),
        }
    }

    /// The engine of this name: the configured one, else the one that needs no configuration.
    pub fn engine(&self, name: &str) -> Option<EngineConfig> {
        self.engines.get(name).cloned().or_else(|| EngineConfig::built_in(name))
    }

    /// The names of all engines, configured or not, in order.
    pub fn engine_names(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.engines.keys().map(String::as_str).chain(built_in()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Every value in the configuration or in a variable it names that must not be seen, with the name that people know it by.
    ///
    /// What an engine or a tool is given by `env` or `pass_env` is one, whatever its name, unless it is a word, a number, a
    /// path or the like: `config/secret_values.rs` has the rule.
    pub fn secrets(&self, variables: &BTreeMap<String, String>) -> Vec<(String, Secret)> {
        let mut found = Vec::new();
        let mut environment = |env: &BTreeMap<String, Secret>, pass_env: &[String]| {
            let configured = env.iter().map(|(name, value)| (name, value.expose()));
            let passed = pass_env.iter().filter_map(|name| Some((name, variables.get(name)?.as_str())));
            let secret =
                configured.chain(passed).filter(|(name, value)| secret_values::is_secret(name, value));
            found.extend(secret.map(|(name, value)| (name.clone(), Secret::new(value))));
        };
        for engine in self.engines.values() {
            environment(&engine.env, &engine.pass_env);
        }
        for tool in self.tools.values() {
            match &tool.server {
                ToolServer::Command { env, pass_env, .. } => environment(env, pass_env),
                ToolServer::Url(_) => {}
            }
        }
        let keys = self.engines.values().filter_map(|engine| match &engine.how {
            How::Reasoning(model) => model.api_key_env.clone(),
            How::Acp { .. } | How::Exec { .. } | How::Replay { .. } => None,
        });
        let named = keys.chain(self.webhooks.iter().filter_map(|webhooks| webhooks.secret_env.clone()));
        for name in named {
            found.extend(variables.get(&name).map(|value| (name, Secret::new(value))));
        }
        found
    }
}

fn built_in<'a>() -> impl Iterator<Item = &'a str> + Clone {
    let names = Preset::ALL.iter().map(|preset| preset.name()).chain([EngineKind::Replay.name()]);
    names.filter(|name| EngineConfig::built_in(name).is_some())
}

/// Limits of single engines have to be of engines that there are.
fn check_slots(slots: &Slots, engines: &BTreeMap<String, EngineTable>, check: &mut Check<'_>) {
    for (name, limit) in &slots.engine {
        let path = ["slots", "engine", name];
        let known = engines.keys().map(String::as_str).chain(built_in());
        if *limit == 0 || *limit > SLOTS_TOTAL_MAX {
            let message = format!("should be a whole number from 1 to {SLOTS_TOTAL_MAX}, it is {limit}");
            check.error(&path, message);
        } else if !known.clone().any(|known| known == name) {
            check.error(&path, format!("there is no engine `{name}`{}", hint(name, known)));
        } else if *limit > slots.total {
            let total = slots.total;
            let message = format!("{limit} is more than `slots.total`, so at most {total} will run");
            check.warning(&path, message);
        }
    }
}

fn read(file: &Path) -> io::Result<String> {
    let bytes = fs::metadata(file)?.len();
    if bytes > FILE_BYTES_MAX {
        let message = format!("it has {bytes} bytes, a configuration has at most {FILE_BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    fs::read_to_string(file)
}

fn unreadable(file: &Path, source: io::Error) -> ConfigError {
    ConfigError::Unreadable { file: file.to_owned(), source }
}
