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

use adjourn_api::read::{Document, Problem};
use adjourn_api::{NewRun, RunOptions};
use adjourn_core::{ExecutionMode, FieldError, RunId, RunSpec, check_depth};
use adjourn_engine::ShellVariables;
use serde_json::Value;

pub use check::Surroundings;
pub(crate) use engine::none_installed;

use crate::workspace::Upload;

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
    pub execution_mode: Option<ExecutionMode>,
    /// The skill's input.
    pub input: Value,
    /// The skill's parameters.
    pub parameter: Value,
    /// Options; what they leave out is as the skill or the engine has it.
    pub options: Option<RunOptions>,
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

impl RunRequest {
    /// The request that a JSON document is, from anybody: a skill is named. Files, and folders of the asker, come another
    /// way.
    pub fn read(document: &Value) -> Result<Self, Vec<FieldError>> {
        check_depth(document).map_err(|too_big| vec![FieldError::new("", too_big.to_string())])?;
        let reading = Document::of(document.clone()).read::<NewRun>();
        Self::named(reading.whole().map_err(field_errors)?)
    }

    /// The request of somebody who cannot name folders of this machine.
    pub fn named(run: NewRun) -> Result<Self, Vec<FieldError>> {
        if run.skill.as_ref().is_some_and(|name| name.contains('/')) {
            let message = "should be the name of an installed skill, not a path";
            return Err(vec![FieldError::new("/skill", message)]);
        }
        Ok(run.into())
    }
}

impl From<NewRun> for RunRequest {
    fn from(run: NewRun) -> Self {
        let NewRun { skill, prompt, engine, execution_mode, input, parameter, options, labels, continues } =
            run;
        Self {
            skill: skill.map(SkillRef::Named),
            prompt,
            engine,
            execution_mode,
            input: input.unwrap_or_default(),
            parameter: parameter.unwrap_or_default(),
            options,
            labels: labels.unwrap_or_default(),
            continues,
            files: Vec::new(),
            workspace: None,
            shell: None,
        }
    }
}

/// Problems as the fields of a request.
pub(crate) fn field_errors(problems: Vec<Problem>) -> Vec<FieldError> {
    problems.into_iter().map(Into::into).collect()
}
