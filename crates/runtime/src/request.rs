//! What a user asks for, checked before anything is created.
//!
//! A request is held against its skill, the configuration and the limits all at once; the answer is either what to
//! create, or every problem with the place of each.

mod check;
mod engine;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use adjourn_core::{FieldError, RunId, RunSpec, check_depth};
use adjourn_engine::ShellVariables;
use serde_json::{Map, Value};

pub use check::Surroundings;
pub(crate) use engine::none_installed;

use crate::workspace::Upload;
use adjourn_api::nearest::hint;

/// Labels of one run: enough for a project, a ticket and a team, not for a database.
pub const LABELS_MAX: usize = 32;

/// Bytes of a label's name.
pub const LABEL_NAME_BYTES_MAX: usize = 64;

/// Bytes of a label's value.
pub const LABEL_VALUE_BYTES_MAX: usize = 256;

/// Bytes of a prompt. What is longer belongs into a file: models that would read it are few.
pub const PROMPT_BYTES_MAX: usize = 256 * 1024;

/// Bytes of input, and of parameters, as JSON. They are part of the prompt, and kept in the journal.
pub const INPUT_BYTES_MAX: usize = 512 * 1024;

/// Which skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillRef {
    /// An installed one.
    Named(String),
    /// The one in this folder: only for those who could read the folder themselves.
    At(PathBuf),
}

impl SkillRef {
    /// What somebody at a terminal means: the folder, if there is one, else the name.
    pub fn typed(text: &str) -> Self {
        let folder = PathBuf::from(text);
        if folder.is_dir() { Self::At(folder) } else { Self::Named(text.to_owned()) }
    }
}

/// What a user asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunRequest {
    /// The skill.
    pub skill: Option<SkillRef>,
    /// What to do, without a skill.
    pub prompt: Option<String>,
    /// The engine; none for the best there is.
    pub engine: Option<String>,
    /// The mode; none for the skill's.
    pub execution_mode: Option<String>,
    /// The skill's input.
    pub input: Value,
    /// The skill's parameters.
    pub parameter: Value,
    /// Options.
    pub options: Value,
    /// What to find it by.
    pub labels: BTreeMap<String, String>,
    /// The finished run whose conversation it takes over.
    pub continues: Option<RunId>,
    /// Files that come with it.
    pub files: Vec<Upload>,
    /// The folder to work in; none for a new one.
    pub workspace: Option<PathBuf>,
    /// The variables of the shell that asks; none where no shell does, or it is not on this machine.
    pub shell: Option<ShellVariables>,
}

/// A request that can be met.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// What to create. What a continued run hands over is still to be filled in.
    pub spec: RunSpec,
    /// Files to copy into the workspace.
    pub uploads: Vec<Upload>,
    /// The run that is continued.
    pub continues: Option<RunId>,
    /// What the asker should know.
    pub notice: Option<String>,
}

const KEYS: [&str; 9] =
    ["skill", "prompt", "engine", "execution_mode", "input", "parameter", "options", "labels", "continues"];

impl RunRequest {
    /// The request that a JSON document is, from anybody: a skill is named. Files, and folders of the asker, come another
    /// way.
    pub fn read(document: &Value) -> Result<Self, Vec<FieldError>> {
        let Value::Object(members) = document else {
            return Err(vec![FieldError::new("", "should be an object")]);
        };
        check_depth(document).map_err(|too_big| vec![FieldError::new("", too_big.to_string())])?;
        let mut errors = Vec::new();
        let unknown = members.keys().filter(|key| !KEYS.contains(&key.as_str()));
        for key in unknown.take(adjourn_api::read::PROBLEMS_MAX) {
            let message = format!("unknown key{}", hint(key, KEYS));
            errors.push(FieldError::new(pointer(&[key]), message));
        }
        let request = Self {
            skill: named_skill(members, &mut errors),
            prompt: string(members, "prompt", &mut errors),
            engine: string(members, "engine", &mut errors),
            execution_mode: string(members, "execution_mode", &mut errors),
            input: value(members, "input"),
            parameter: value(members, "parameter"),
            options: value(members, "options"),
            labels: labels(members, &mut errors),
            continues: continues(members, &mut errors),
            files: Vec::new(),
            workspace: None,
            shell: None,
        };
        if errors.is_empty() { Ok(request) } else { Err(errors) }
    }
}

/// A JSON pointer to what these keys lead to.
pub(crate) fn pointer(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1"))).collect()
}

fn value(members: &Map<String, Value>, key: &str) -> Value {
    members.get(key).cloned().unwrap_or_default()
}

fn string(members: &Map<String, Value>, key: &str, errors: &mut Vec<FieldError>) -> Option<String> {
    match members.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => {
            errors.push(FieldError::new(pointer(&[key]), "should be a string"));
            None
        }
    }
}

fn named_skill(members: &Map<String, Value>, errors: &mut Vec<FieldError>) -> Option<SkillRef> {
    let name = string(members, "skill", errors)?;
    if name.contains('/') {
        errors.push(FieldError::new("/skill", "should be the name of an installed skill, not a path"));
    }
    Some(SkillRef::Named(name))
}

fn continues(members: &Map<String, Value>, errors: &mut Vec<FieldError>) -> Option<RunId> {
    match string(members, "continues", errors)?.parse() {
        Ok(run_id) => Some(run_id),
        Err(error) => {
            errors.push(FieldError::new("/continues", error.to_string()));
            None
        }
    }
}

fn labels(members: &Map<String, Value>, errors: &mut Vec<FieldError>) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    match members.get("labels") {
        None | Some(Value::Null) => {}
        Some(Value::Object(given)) => {
            for (name, value) in given {
                match value {
                    Value::String(text) => {
                        labels.insert(name.clone(), text.clone());
                    }
                    _ => errors.push(FieldError::new(pointer(&["labels", name]), "should be a string")),
                }
            }
        }
        Some(_) => errors.push(FieldError::new("/labels", "should be an object of strings")),
    }
    labels
}
