//! `assets/runner.json`: how a skill wants to be run. Read tolerantly: a package may be written for another runner.

use std::collections::BTreeMap;

use adjourn_core::{ExecutionMode, UnknownName, check_depth};
use serde_json::{Map, Value};

use super::json_lines::JsonLines;
use super::problem::Problems;
use super::template::Template;
use crate::Options;
use adjourn_api::nearest::hint;

/// Where it is in a package.
pub(super) const FILE: &str = "assets/runner.json";

const KEYS: [&str; 15] = [
    "id",
    "name",
    "description",
    "version",
    "engines",
    "unsupported_engines",
    "execution_modes",
    "max_attempt",
    "schemas",
    "entrypoint",
    "tools",
    "artifacts",
    "runtime",
    "mcp",
    "recording",
];

/// What a manifest says.
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
    pub(super) options: Options,
    pub(super) recording: Option<String>,
}

impl Default for Manifest {
    /// What a folder with only `SKILL.md` is like.
    fn default() -> Self {
        Self {
            id: None,
            version: None,
            engines: Vec::new(),
            unsupported_engines: Vec::new(),
            modes: ExecutionMode::ALL.to_vec(),
            max_attempt: None,
            schemas: BTreeMap::new(),
            prompts: BTreeMap::new(),
            tools: Vec::new(),
            servers: Vec::new(),
            options: Options::default(),
            recording: None,
        }
    }
}

impl Manifest {
    pub(super) fn read(text: &str, problems: &mut Problems) -> Self {
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                problems.error(FILE, Some(error.line()), format!("not valid JSON: {error}"));
                return Self::default();
            }
        };
        if let Err(too_big) = check_depth(&value) {
            problems.error(FILE, Some(1), too_big.to_string());
            return Self::default();
        }
        let lines = JsonLines::of(text);
        let Value::Object(members) = &value else {
            problems.error(FILE, Some(1), "should be an object");
            return Self::default();
        };
        let mut reading = Reading { members, lines, problems };
        reading.unknown_keys();
        Self {
            id: reading.string("/id"),
            version: reading.string("/version"),
            engines: reading.strings("/engines"),
            unsupported_engines: reading.strings("/unsupported_engines"),
            modes: reading.modes(),
            max_attempt: reading.max_attempt(),
            schemas: reading.schemas(),
            prompts: reading.prompts(),
            tools: reading.strings("/tools"),
            servers: reading.strings("/mcp/required_servers"),
            options: reading.options(),
            recording: reading.string("/recording"),
        }
    }
}

struct Reading<'a> {
    members: &'a Map<String, Value>,
    lines: JsonLines,
    problems: &'a mut Problems,
}

impl<'a> Reading<'a> {
    /// What stands at `pointer`, where null is as good as nothing.
    fn get(&self, pointer: &str) -> Option<&'a Value> {
        let mut keys = pointer.split('/').skip(1);
        let first = self.members.get(keys.next()?)?;
        keys.try_fold(first, |value, key| value.get(key)).filter(|value| !value.is_null())
    }

    fn error(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.error(FILE, self.lines.line(pointer), message);
    }

    fn warning(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.warning(FILE, self.lines.line(pointer), message);
    }

    fn unknown_keys(&mut self) {
        let members = self.members;
        for key in members.keys().filter(|key| !KEYS.contains(&key.as_str()) && !key.starts_with("x-")) {
            let nearest = adjourn_api::nearest::nearest(key, KEYS);
            let hint = nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            self.warning(&pointer, format!("unknown key `{key}` is ignored{hint}"));
        }
    }

    fn string(&mut self, pointer: &str) -> Option<String> {
        match self.get(pointer)? {
            Value::String(text) => Some(text.clone()),
            _ => {
                self.error(pointer, format!("`{}` should be a string", name(pointer)));
                None
            }
        }
    }

    fn strings(&mut self, pointer: &str) -> Vec<String> {
        let Some(value) = self.get(pointer) else { return Vec::new() };
        let Value::Array(items) = value else {
            self.error(pointer, format!("`{}` should be a list of strings", name(pointer)));
            return Vec::new();
        };
        let mut strings = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item {
                Value::String(text) => strings.push(text.clone()),
                _ => self.error(
                    &format!("{pointer}/{index}"),
                    format!("`{}` should hold only strings", name(pointer)),
                ),
            }
        }
        strings
    }

    fn modes(&mut self) -> Vec<ExecutionMode> {
        if self.get("/execution_modes").is_none() {
            return ExecutionMode::ALL.to_vec();
        }
        let names = self.strings("/execution_modes");
        let mut modes = Vec::new();
        for (index, name) in names.iter().enumerate() {
            match name.parse() {
                Ok(mode) => modes.push(mode),
                Err(UnknownName { given, known }) => {
                    let hint = hint(&given, known.iter().copied());
                    let message = format!("unknown execution mode `{given}`{hint}");
                    self.error(&format!("/execution_modes/{index}"), message);
                }
            }
        }
        if names.is_empty() {
            self.error(
                "/execution_modes",
                "`execution_modes` is empty: it should hold `auto`, `interactive` or both",
            );
        }
        modes
    }

    fn max_attempt(&mut self) -> Option<u32> {
        let value = self.get("/max_attempt")?;
        let number =
            value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
        if number.is_none() {
            self.error(
                "/max_attempt",
                "`max_attempt` should be a whole number from 1, or left out for no limit",
            );
        }
        number
    }

    fn schemas(&mut self) -> BTreeMap<String, (String, Option<usize>)> {
        let Some(value) = self.get("/schemas") else { return BTreeMap::new() };
        let Value::Object(members) = value else {
            self.error("/schemas", "`schemas` should be an object of paths");
            return BTreeMap::new();
        };
        let mut schemas = BTreeMap::new();
        for (key, value) in members.iter().filter(|(_, value)| !value.is_null()) {
            let pointer = format!("/schemas/{key}");
            match value {
                _ if !super::schemas::USES.contains(&key.as_str()) => {
                    let hint = hint(key, super::schemas::USES);
                    self.warning(&pointer, format!("unknown schema `{key}` is ignored{hint}"));
                }
                Value::String(path) => {
                    schemas.insert(key.clone(), (path.clone(), self.lines.line(&pointer)));
                }
                _ => self.error(&pointer, format!("the schema `{key}` should be a path")),
            }
        }
        schemas
    }

    fn prompts(&mut self) -> BTreeMap<String, Template> {
        let Some(value) = self.get("/entrypoint/prompts") else { return BTreeMap::new() };
        let Value::Object(members) = value else {
            self.error("/entrypoint/prompts", "`prompts` should be an object of templates");
            return BTreeMap::new();
        };
        let mut prompts = BTreeMap::new();
        for (engine, value) in members {
            let pointer = format!("/entrypoint/prompts/{engine}");
            match value.as_str().map(Template::new) {
                Some(Ok(template)) => {
                    prompts.insert(engine.clone(), template);
                }
                Some(Err(error)) => {
                    self.error(&pointer, format!("the prompt `{engine}` cannot be used: {error}"));
                }
                None => self.error(&pointer, format!("the prompt `{engine}` should be a string")),
            }
        }
        prompts
    }

    fn options(&mut self) -> Options {
        let pointer = "/runtime/default_options";
        let Some(value) = self.get(pointer) else { return Options::default() };
        let (options, errors) = Options::read_defaults(value, pointer);
        for error in errors {
            let message = format!("`{}`: {}, so it is ignored", name(&error.path), error.message);
            self.warning(&error.path, message);
        }
        options
    }
}

fn name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or(pointer)
}
