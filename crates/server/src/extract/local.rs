//! What only a client on this machine may say: its own folders and files, and the variables of its shell.
//!
//! Whoever comes by the socket could read and write them anyway, and start an agent with such variables by itself. By any
//! other door these members are as unknown as any other that there is not.

use std::path::PathBuf;

use adjourn_api::read::Document;
use adjourn_api::{AbsolutePath, Environment, Local, NewRun};
use adjourn_engine::ShellVariables;
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::workspace::Upload;
use serde_json::json;

use crate::auth::guard::Door;
use crate::extract::body;
use crate::problem::Problem;

/// Whether a client means the same by a path, and may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    ThisMachine,
    Elsewhere,
}

impl Reach {
    /// Of those who come by `door`.
    pub(crate) fn of(door: &Door) -> Self {
        match door {
            Door::Socket => Self::ThisMachine,
            Door::Loopback { .. } | Door::Tokens(_) => Self::Elsewhere,
        }
    }
}

/// A request for a run, with what a client on this machine may add.
pub(crate) struct LocalRequest {
    pub(crate) request: RunRequest,
    /// The file that its turns are recorded into.
    pub(crate) record: Option<PathBuf>,
}

/// Reads a request of somebody with this `reach`.
pub(crate) fn read(mut document: Document, reach: Reach) -> Result<LocalRequest, Problem> {
    let local = match reach {
        Reach::ThisMachine => document.split_off(&Local::KEYS).read::<Local>(),
        Reach::Elsewhere => Document::of(json!({})).read(),
    };
    let run = document.read::<NewRun>();
    let mut problems = local.problems;
    problems.extend(run.problems);
    let (Some(local), Some(run), true) = (local.value, run.value, problems.is_empty()) else {
        return Err(Problem::unreadable(problems));
    };
    let folder = run.skill.as_deref().filter(|_| reach == Reach::ThisMachine).and_then(AbsolutePath::new);
    let request = match folder {
        Some(folder) => {
            RunRequest { skill: Some(SkillRef::At(folder.into())), ..NewRun { skill: None, ..run }.into() }
        }
        None => RunRequest::named(run).map_err(Problem::invalid)?,
    };
    let Local { workspace, record, files, environment } = local;
    let files = files.into_iter().map(|(name, from)| Upload { name, from: from.into() }).collect();
    let workspace = workspace.map(Into::into);
    let request = RunRequest { workspace, files, shell: environment.map(shell), ..request };
    Ok(LocalRequest { request, record: record.map(Into::into) })
}

/// Takes the variables of a shell out of a request of somebody with this `reach`.
pub(crate) fn take_shell(document: &mut Document, reach: Reach) -> Result<Option<ShellVariables>, Problem> {
    match reach {
        Reach::ThisMachine => {
            let local: Local = body::read(&document.split_off(&[Local::ENVIRONMENT]))?;
            Ok(local.environment.map(shell))
        }
        Reach::Elsewhere => Ok(None),
    }
}

fn shell(environment: Environment) -> ShellVariables {
    let variables = environment.into_variables().map(|(name, value)| (name.into(), value.into()));
    ShellVariables::new(variables, |_| true)
}
