//! What was typed, as the request for a run.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::RunCommand;
use crate::data::Global;
use crate::exit::wrong_use;

/// A request, and the files that have to be sent with it.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) document: Value,
    pub(super) files: Vec<(String, PathBuf)>,
}

impl RunCommand {
    /// The request. Whoever works on this machine is told where folders and files are; a server elsewhere is sent the
    /// files, and cannot work in our folders.
    pub(super) fn request(&self, global: &Global) -> anyhow::Result<Request> {
        let mut document = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            document.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("skill", self.skill(global)?);
        set("prompt", self.prompt.clone().map(Value::from));
        set("engine", self.engine.clone().map(Value::from));
        set("execution_mode", self.mode.map(|mode| json!(mode)));
        set("input", self.input.as_deref().map(|given| json_or_file("--input", given)).transpose()?);
        set("parameter", self.parameter()?);
        set("options", self.options());
        set("labels", self.labels()?);
        let files = self.files()?;
        if let Some(url) = &global.server {
            for (option, is_given) in
                [("--workspace", self.workspace.is_some()), ("--record", self.record.is_some())]
            {
                if is_given {
                    return Err(wrong_use(format!(
                        "{option} is a place on this machine, and the run works at {url}"
                    )));
                }
            }
            return Ok(Request { document: document.into(), files });
        }
        set("workspace", self.workspace.as_deref().map(|path| absolute("--workspace", path)).transpose()?);
        set("record", self.record.as_deref().map(|path| absolute("--record", path)).transpose()?);
        if !files.is_empty() {
            let mut paths = Map::new();
            for (name, path) in &files {
                paths.insert(name.clone(), absolute("--file", path)?);
            }
            set("files", Some(paths.into()));
        }
        Ok(Request { document: document.into(), files: Vec::new() })
    }

    /// A folder by its absolute path, or a name.
    fn skill(&self, global: &Global) -> anyhow::Result<Option<Value>> {
        let Some(skill) = &self.skill else { return Ok(None) };
        match &global.server {
            Some(url) if skill.contains('/') => Err(wrong_use(format!(
                "{skill} is a folder on this machine: give the name of a skill that is installed at {url}"
            ))),
            None if Path::new(skill).is_dir() => absolute("SKILL", Path::new(skill)).map(Some),
            Some(_) | None => Ok(Some(Value::from(skill.as_str()))),
        }
    }

    fn parameter(&self) -> anyhow::Result<Option<Value>> {
        let parameter: Map<_, _> = pairs("--param", &self.params)?
            .map(|(name, value)| {
                let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
                (name.to_owned(), value)
            })
            .collect();
        Ok((!parameter.is_empty()).then_some(Value::Object(parameter)))
    }

    fn options(&self) -> Option<Value> {
        let mut options = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            options.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("interactive_require_user_reply", self.no_strict.then_some(json!(false)));
        set("session_timeout_sec", self.session_timeout.map(Value::from));
        set("interactive_profile", self.profile.map(|profile| json!({ "kind": profile })));
        set("max_attempt", self.max_attempt.map(Value::from));
        set("hard_timeout_sec", self.hard_timeout.map(Value::from));
        set("priority", self.priority.map(Value::from));
        (!options.is_empty()).then_some(Value::Object(options))
    }

    fn labels(&self) -> anyhow::Result<Option<Value>> {
        let labels: Map<_, _> = pairs("--label", &self.labels)?
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect();
        Ok((!labels.is_empty()).then_some(Value::Object(labels)))
    }

    /// The files, if each of them is one.
    fn files(&self) -> anyhow::Result<Vec<(String, PathBuf)>> {
        let mut files = Vec::new();
        for (name, path) in pairs("--file", &self.files)? {
            let problem = match std::fs::metadata(path) {
                Ok(found) if found.is_file() => {
                    files.push((name.to_owned(), PathBuf::from(path)));
                    continue;
                }
                Ok(_) => "is not a file".to_owned(),
                Err(error) => format!("cannot be read: {error}"),
            };
            return Err(wrong_use(format!("--file {name}: {path} {problem}")));
        }
        Ok(files)
    }
}

/// A path that means the same in every folder.
fn absolute(option: &str, path: &Path) -> anyhow::Result<Value> {
    let absolute = std::path::absolute(path)
        .map_err(|error| wrong_use(format!("{option}: {} cannot be found: {error}", path.display())))?;
    match absolute.to_str() {
        Some(text) => Ok(Value::from(text)),
        None => Err(wrong_use(format!("{option}: {} is not UTF-8", path.display()))),
    }
}

/// Both sides of each `K=V`.
fn pairs<'a>(
    option: &str,
    given: &'a [String],
) -> anyhow::Result<impl Iterator<Item = (&'a str, &'a str)> + use<'a>> {
    if let Some(wrong) = given.iter().find(|pair| !pair.contains('=')) {
        return Err(wrong_use(format!(
            "{option} {wrong}: it should be a name and a value, as in {option} name=value"
        )));
    }
    Ok(given.iter().filter_map(|pair| pair.split_once('=')))
}

/// The value that is given as JSON, or in a file.
fn json_or_file(option: &str, given: &str) -> anyhow::Result<Value> {
    let (text, place) = match given.strip_prefix('@') {
        None => (given.to_owned(), option.to_owned()),
        Some(file) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| wrong_use(format!("{option}: {file} cannot be read: {error}")))?;
            (text, format!("{option}: {file}"))
        }
    };
    serde_json::from_str(&text).map_err(|error| {
        let hint = if given.starts_with(['{', '[', '@']) { "" } else { "; a file is given as @FILE" };
        wrong_use(format!("{place} is not JSON: {error}{hint}"))
    })
}
