//! `assets/runner.json`: how a skill wants to be run. Read tolerantly: a package may be written for another runner.

use std::collections::BTreeMap;

use adjourn_api::nearest::hint;
use adjourn_api::read::{Document, Place, Problem, ProblemKind, Step, pointer, within};
use adjourn_api::{RunOptions, SkillRunnerOptions};
use adjourn_core::ExecutionMode;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::problem::Problems;
use super::template::Template;

/// Where it is in a package.
pub(super) const FILE: &str = "assets/runner.json";

/// The manifest of a skill.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Manifest {
    pub(super) id: Option<String>,
    pub(super) version: Option<String>,
    pub(super) engines: Vec<String>,
    pub(super) unsupported_engines: Vec<String>,
    pub(super) modes: Vec<ExecutionMode>,
    pub(super) max_attempt: Option<u32>,
    /// Declared paths of schemas, by what they are for, with their lines.
    pub(super) schemas: BTreeMap<String, (String, Option<usize>)>,
    pub(super) prompts: BTreeMap<String, Template>,
    pub(super) tools: Vec<String>,
    pub(super) servers: Vec<String>,
    pub(super) options: RunOptions,
    pub(super) recording: Option<String>,
}

impl Default for Manifest {
    /// The manifest of a folder with only `SKILL.md`.
    fn default() -> Self {
        Self::new(ManifestText::default())
    }
}

/// The file as it is written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ManifestText {
    id: Option<String>,
    // Known, and said by `SKILL.md`.
    #[serde(rename = "name")]
    _name: IgnoredAny,
    #[serde(rename = "description")]
    _description: IgnoredAny,
    version: Option<String>,
    engines: Vec<String>,
    unsupported_engines: Vec<String>,
    execution_modes: Option<Vec<ExecutionMode>>,
    #[serde(deserialize_with = "within::<1, { u32::MAX }, _, _>")]
    max_attempt: Option<u32>,
    schemas: BTreeMap<String, Option<String>>,
    entrypoint: Entrypoint,
    tools: Vec<String>,
    // Known, and of no use here.
    #[serde(rename = "artifacts")]
    _artifacts: IgnoredAny,
    runtime: Runtime,
    mcp: Mcp,
    recording: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Entrypoint {
    prompts: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Runtime {
    default_options: SkillRunnerOptions,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Mcp {
    required_servers: Vec<String>,
}

impl Manifest {
    fn new(text: ManifestText) -> Self {
        Self {
            id: text.id,
            version: text.version,
            engines: text.engines,
            unsupported_engines: text.unsupported_engines,
            modes: text.execution_modes.unwrap_or_else(|| ExecutionMode::ALL.to_vec()),
            max_attempt: text.max_attempt,
            schemas: BTreeMap::new(),
            prompts: BTreeMap::new(),
            tools: text.tools,
            servers: text.mcp.required_servers,
            options: text.runtime.default_options.options(),
            recording: text.recording,
        }
    }

    pub(super) fn read(text: &str, problems: &mut Problems) -> Self {
        let document = match Document::json(text) {
            Ok(document) => document,
            Err(problem) => {
                problems.error(FILE, problem.line(), problem.message);
                return Self::default();
            }
        };
        let line = |pointer: &str| document.key_place(pointer).as_ref().and_then(Place::line);
        let reading = document.read::<ManifestText>();
        for problem in reading.problems {
            tell(problem, problems);
        }
        let mut text = reading.value.unwrap_or_default();
        let (schemas, prompts) =
            (std::mem::take(&mut text.schemas), std::mem::take(&mut text.entrypoint.prompts));
        if document.has("/execution_modes") && text.execution_modes.as_ref().is_some_and(Vec::is_empty) {
            let message = "`execution_modes` is empty: it should hold `auto`, `interactive` or both";
            problems.error(FILE, line("/execution_modes"), message);
        }
        let mut manifest = Self::new(text);
        for (key, path) in schemas {
            let line = line(&pointer(&["schemas", &key]));
            if !super::schemas::USES.contains(&key.as_str()) {
                let hint = hint(&key, super::schemas::USES);
                problems.warning(FILE, line, format!("unknown schema `{key}` is ignored{hint}"));
            } else if let Some(path) = path {
                manifest.schemas.insert(key, (path, line));
            }
        }
        for (engine, prompt) in prompts {
            match Template::new(&prompt) {
                Ok(template) => {
                    manifest.prompts.insert(engine, template);
                }
                Err(error) => {
                    let line = line(&pointer(&["entrypoint", "prompts", &engine]));
                    let message = format!("the prompt `{engine}` cannot be used: {error}");
                    problems.error(FILE, line, message);
                }
            }
        }
        manifest
    }
}

/// Tells a problem of the shape of the file, as bad as it is: what another runner may have meant is no error.
fn tell(problem: Problem, problems: &mut Problems) {
    let (path, line) = (problem.path.to_string(), problem.line());
    let keys = problem.path.0.iter().map_while(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    let steps: Vec<_> = keys.collect();
    match (problem.kind, steps.as_slice()) {
        (ProblemKind::UnknownKey, [key]) if key.starts_with("x-") => {}
        (_, ["runtime", "default_options", ..]) => {
            let name = path.trim_start_matches("runtime.default_options.");
            let message = format!("`{name}`: {}, so it is ignored", problem.message);
            problems.warning(FILE, line, message);
        }
        (ProblemKind::UnknownKey, [key]) => {
            let hint = problem.message.strip_prefix("unknown key").unwrap_or_default();
            problems.warning(FILE, line, format!("unknown key `{key}` is ignored{hint}"));
        }
        (ProblemKind::UnknownKey, _) | (_, ["entrypoint" | "runtime" | "mcp"]) => {}
        (ProblemKind::Syntax | ProblemKind::Wrong | ProblemKind::WrongKind, _) if path.is_empty() => {
            problems.error(FILE, line, problem.message);
        }
        (ProblemKind::Syntax | ProblemKind::Wrong | ProblemKind::WrongKind, _) => {
            problems.error(FILE, line, format!("`{path}`: {}", problem.message));
        }
    }
}
