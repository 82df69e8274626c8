//! What was typed, as the request for a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adjourn_api::{AbsolutePath, Local, NewRun, RunOptions};
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
    /// The request. A server on this machine is told where folders and files are; a server elsewhere is sent the files,
    /// and cannot work in our folders.
    pub(super) fn request(&self, global: &Global) -> anyhow::Result<Request> {
        let run = NewRun {
            skill: self.skill(global)?,
            prompt: self.prompt.clone(),
            engine: self.engine.clone(),
            execution_mode: self.mode,
            input: self.input.as_deref().map(|given| json_or_file("--input", given)).transpose()?,
            parameter: self.parameter()?,
            options: Some(self.options()).filter(|options| *options != RunOptions::default()),
            labels: self.labels()?,
            continues: None,
        };
        let mut document = json!(run);
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
            return Ok(Request { document, files });
        }
        let mut local = Local {
            workspace: self.workspace.as_deref().map(|path| absolute("--workspace", path)).transpose()?,
            record: self.record.as_deref().map(|path| absolute("--record", path)).transpose()?,
            ..Local::default()
        };
        for (name, path) in &files {
            local.files.insert(name.clone(), absolute("--file", path)?);
        }
        if let (Some(members), Value::Object(more)) = (document.as_object_mut(), json!(local)) {
            members.extend(more);
        }
        Ok(Request { document, files: Vec::new() })
    }

    /// A folder by its absolute path, or a name.
    fn skill(&self, global: &Global) -> anyhow::Result<Option<String>> {
        let Some(skill) = &self.skill else { return Ok(None) };
        match &global.server {
            Some(url) if skill.contains('/') => Err(wrong_use(format!(
                "{skill} is a folder on this machine: give the name of a skill that is installed at {url}"
            ))),
            None if Path::new(skill).is_dir() => {
                let folder = absolute("SKILL", Path::new(skill))?;
                Ok(folder.as_path().to_str().map(str::to_owned))
            }
            Some(_) | None => Ok(Some(skill.clone())),
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

    fn options(&self) -> RunOptions {
        RunOptions {
            interactive_require_user_reply: self.no_strict.then_some(false),
            session_timeout_sec: self.session_timeout,
            interactive_profile: self.profile,
            max_attempt: self.max_attempt,
            hard_timeout_sec: self.hard_timeout,
            repair_limit: self.repair_limit,
            priority: self.priority,
        }
    }

    fn labels(&self) -> anyhow::Result<Option<BTreeMap<String, String>>> {
        let labels: BTreeMap<_, _> = pairs("--label", &self.labels)?
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Ok((!labels.is_empty()).then_some(labels))
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
fn absolute(option: &str, path: &Path) -> anyhow::Result<AbsolutePath> {
    let absolute = std::path::absolute(path)
        .map_err(|error| wrong_use(format!("{option}: {} cannot be found: {error}", path.display())))?;
    let as_text = absolute.to_str().and_then(AbsolutePath::new);
    as_text.ok_or_else(|| wrong_use(format!("{option}: {} is not UTF-8", path.display())))
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
