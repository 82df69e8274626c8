//! `xtask/recordings/SKILL.json`: who plays, what the model says, and what the person answers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use adjourn_testkit::model::Script;
use serde::Deserialize;
use serde_json::Value;

use super::Result;
use super::history::Commit;

/// A run to be recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Play {
    /// The agent.
    pub(crate) engine: String,
    /// Answers to its questions, in order.
    #[serde(default)]
    pub(crate) answers: Vec<Value>,
    /// Commits of the repository that it works in; without any, it gets an empty folder.
    #[serde(default)]
    pub(crate) history: Vec<Commit>,
    /// What the model says.
    pub(crate) script: Script,
}

impl Play {
    pub(crate) fn load(skill: &str) -> Result<Self> {
        let file = folder().join(skill).with_extension("json");
        let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?)
    }
}

/// The skills that have a play.
pub(crate) fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder())? {
        names.extend(entry?.path().file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// The input that a skill carries as an example; null if it needs none.
pub(crate) fn example_input(skill: &Path) -> Result<Value> {
    match fs::read(skill.join("assets/example.input.json")) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("this crate is two folders deep in it")
}

fn folder() -> PathBuf {
    repository().join("xtask/recordings")
}
