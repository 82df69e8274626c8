//! Skill packages: folders that say what an agent should do, and how.
//!
//! A package is an Open Agent Skills folder: `SKILL.md` with `name` and `description` in its front matter. It may carry
//! `assets/runner.json`, schemas for what goes in and what comes out, and a recording. Packages written for
//! Skill-Runner are read as they are; a folder with only `SKILL.md` is a package too.

mod find;
mod front_matter;
mod manifest;
mod problem;
mod schemas;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use adjourn_api::RunOptions;
use adjourn_core::ExecutionMode;

pub use find::{Installed, NotFound, find, installed};
pub use problem::{Problem, SkillProblems};
pub use schemas::{SkillSchema, Source};
pub use template::{Template, TemplateError};

pub(crate) use front_matter::FrontMatter;
use manifest::Manifest;
use problem::Problems;

use crate::{Severity, folder};
use adjourn_api::nearest::hint;
use adjourn_engine::beneath;

/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// A recording of a run, for those who have no agent.
const RECORDING: &str = "assets/recording.jsonl";

/// The longest file that is read: the text of a skill has to fit into a prompt.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The rules of Open Agent Skills.
const NAME_CHARS_MAX: usize = 64;
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// A skill that can be used.
#[derive(Debug, Clone)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its version.
    pub version: Option<String>,
    /// Where it is.
    pub dir: PathBuf,
    /// What the agent is told: `SKILL.md` without its front matter.
    pub text: String,
    /// Engines it is meant for, best first; none for any.
    pub engines: Vec<String>,
    /// Engines it does not work with.
    pub unsupported_engines: Vec<String>,
    /// Modes it can be run in.
    pub modes: Vec<ExecutionMode>,
    /// How many attempts an interactive run has. A request may only lower it.
    pub max_attempt: Option<u32>,
    /// What its input has to be like.
    pub input: Option<SkillSchema>,
    /// What its parameters have to be like.
    pub parameter: Option<SkillSchema>,
    /// What its result has to be like.
    pub output: Option<SkillSchema>,
    /// Prompts, by engine, and `common` for all others.
    pub prompts: BTreeMap<String, Template>,
    /// MCP servers, or tools of them, that it uses.
    pub tools: Vec<String>,
    /// MCP servers that a package for another runner says it needs. Its agent may have them by itself, so they are offered
    /// where there are any of these names, and nothing fails where there are not.
    pub servers: Vec<String>,
    /// Options for runs that do not choose.
    pub options: RunOptions,
    /// A recording of a run.
    pub recording: Option<PathBuf>,
    /// What was hardly meant like this.
    pub warnings: Vec<Problem>,
}

impl Skill {
    /// The skill in `dir`, or all that is wrong with it.
    pub fn load(dir: &Path) -> Result<Self, SkillProblems> {
        let mut problems = Problems::default();
        let mut skill = read(dir, &mut problems);
        skill.warnings = problems.into_sorted();
        if skill.warnings.iter().any(|problem| problem.severity == Severity::Error) {
            return Err(SkillProblems { dir: dir.to_owned(), problems: skill.warnings });
        }
        Ok(skill)
    }

    /// Whether it may be run on `engine`.
    pub fn allows_engine(&self, engine: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == engine);
        (self.engines.is_empty() || listed(&self.engines)) && !listed(&self.unsupported_engines)
    }

    /// The mode of runs that do not choose one: the one that can ask, if it is allowed.
    pub fn default_mode(&self) -> ExecutionMode {
        if self.modes.contains(&ExecutionMode::Interactive) {
            ExecutionMode::Interactive
        } else {
            ExecutionMode::Auto
        }
    }

    /// Its prompt for `engine`, if it has one.
    pub fn prompt(&self, engine: &str) -> Option<&Template> {
        self.prompts.get(engine).or_else(|| self.prompts.get("common"))
    }
}

/// Everything that is wrong with the package in `dir`, where `engines` are the ones that there are.
pub fn check(dir: &Path, engines: &[&str]) -> Vec<Problem> {
    let mut problems = Problems::default();
    let skill = read(dir, &mut problems);
    for name in skill.engines.iter().chain(&skill.unsupported_engines) {
        if !engines.contains(&name.as_str()) {
            let hint = hint(name, engines.iter().copied());
            let line = line_of(dir, name);
            problems.warning(manifest::FILE, line, format!("unknown engine `{name}`{hint}"));
        }
    }
    if let Err(unfit) = folder::survey(dir) {
        for folder::Unfit { path, message } in unfit {
            let path = if path == Path::new("") { PathBuf::from(".") } else { path };
            problems.error(path, None, message);
        }
    }
    problems.into_sorted()
}

/// The line of the manifest where an engine is named.
fn line_of(dir: &Path, engine: &str) -> Option<usize> {
    let text = read_text(dir, manifest::FILE).ok()?;
    let quoted = serde_json::Value::from(engine).to_string();
    let index = text.lines().position(|line| line.contains(&quoted))?;
    Some(index + 1)
}

fn read(dir: &Path, problems: &mut Problems) -> Skill {
    let front_matter = front_matter(dir, problems);
    let manifest = match fs::symlink_metadata(dir.join(manifest::FILE)) {
        Err(_) => Manifest::default(),
        Ok(_) => match read_text(dir, manifest::FILE) {
            Ok(text) => Manifest::read(&text, problems),
            Err(message) => {
                problems.error(manifest::FILE, None, message);
                Manifest::default()
            }
        },
    };
    let (name, description) = identity(dir, &front_matter, &manifest, problems);
    let [input, parameter, output] = schemas::USES.map(|use_| schemas::load(dir, use_, &manifest, problems));
    let both = manifest.engines.iter().find(|engine| manifest.unsupported_engines.contains(engine));
    if let Some(engine) = both {
        let message = format!("`{engine}` is both in `engines` and in `unsupported_engines`");
        problems.error(manifest::FILE, line_of(dir, engine), message);
    }
    Skill {
        name,
        description,
        version: manifest.version,
        dir: dir.to_owned(),
        text: front_matter.body,
        engines: manifest.engines,
        unsupported_engines: manifest.unsupported_engines,
        modes: manifest.modes,
        max_attempt: manifest.max_attempt,
        input,
        parameter,
        output,
        prompts: manifest.prompts,
        tools: manifest.tools,
        servers: manifest.servers,
        options: manifest.options,
        recording: recording(dir, manifest.recording, problems),
        warnings: Vec::new(),
    }
}

fn front_matter(dir: &Path, problems: &mut Problems) -> FrontMatter {
    let text = match read_text(dir, SKILL_FILE) {
        Ok(text) => text,
        Err(message) => {
            problems.error(SKILL_FILE, None, message);
            return FrontMatter::default();
        }
    };
    match FrontMatter::read(&text) {
        Ok(front_matter) => {
            for key in ["name", "description"] {
                if front_matter.fields.get(key).is_none_or(|(value, _)| value.is_empty()) {
                    problems.error(SKILL_FILE, Some(1), format!("`{key}` is missing in the front matter"));
                }
            }
            front_matter
        }
        Err(front_matter::Unreadable { line, message }) => {
            problems.error(SKILL_FILE, Some(line), message);
            FrontMatter::default()
        }
    }
}

/// Name and description, held against the rules.
fn identity(
    dir: &Path,
    front_matter: &FrontMatter,
    manifest: &Manifest,
    problems: &mut Problems,
) -> (String, String) {
    let field = |key| front_matter.fields.get(key).cloned().unwrap_or_default();
    let (name, name_line) = field("name");
    let (description, description_line) = field("description");
    if !name.is_empty() && !find::is_safe(&name) {
        let message =
            format!("`{name}` cannot be the name of a folder: use lower-case letters, digits and `-`");
        problems.error(SKILL_FILE, Some(name_line), message);
    } else if !name.is_empty() {
        if let Some(rule) = broken_rule(&name) {
            problems.warning(SKILL_FILE, Some(name_line), format!("the name `{name}` {rule}"));
        }
        let folder =
            fs::canonicalize(dir).ok().and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            let message = format!("the name `{name}` should be that of its folder, which is `{folder}`");
            problems.warning(SKILL_FILE, Some(name_line), message);
        }
    }
    if description.chars().count() > DESCRIPTION_CHARS_MAX {
        let message = format!("the description should have at most {DESCRIPTION_CHARS_MAX} characters");
        problems.warning(SKILL_FILE, Some(description_line), message);
    }
    if let Some(id) = manifest.id.as_ref().filter(|id| **id != name && !name.is_empty()) {
        let message = format!("`id` is `{id}`, but the skill's name is `{name}`");
        problems.warning(manifest::FILE, line_of(dir, id), message);
    }
    (name, description)
}

/// The rule of Open Agent Skills that a name breaks.
fn broken_rule(name: &str) -> Option<String> {
    if name.chars().count() > NAME_CHARS_MAX {
        return Some(format!("should have at most {NAME_CHARS_MAX} characters"));
    }
    let allowed = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-';
    if !name.chars().all(allowed) {
        return Some("should have only lower-case letters, digits and `-`".to_owned());
    }
    let dashes = name.starts_with('-') || name.ends_with('-') || name.contains("--");
    dashes.then(|| "should have `-` only between words, and one at a time".to_owned())
}

fn recording(dir: &Path, declared: Option<String>, problems: &mut Problems) -> Option<PathBuf> {
    let path = declared.as_deref().unwrap_or(RECORDING);
    match (beneath::open_with_other_names(dir, path), &declared) {
        (Ok(_), _) => Some(dir.join(path)),
        (Err(_), None) => None,
        (Err(problem), Some(path)) => {
            problems.error(manifest::FILE, line_of(dir, path), format!("the recording `{path}` {problem}"));
            None
        }
    }
}

/// The text of a file of the package, or why there is none.
fn read_text(dir: &Path, file: &str) -> Result<String, String> {
    // Not by its path: a link in an uploaded package must not show what is elsewhere.
    let mut source = beneath::open_with_other_names(dir, file)?.take(FILE_BYTES_MAX + 1);
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("has more than the {FILE_BYTES_MAX} bytes that are read"));
    }
    String::from_utf8(bytes).map_err(|_| "is not text in UTF-8".to_owned())
}
