//! What only a client on this machine may say: its own folders and files, and the variables of its shell.
//!
//! Whoever comes by the socket could read and write them anyway, and start an agent with such variables by itself. By any
//! other door these members are as unknown as any other that there is not.

use std::path::PathBuf;

use adjourn_core::FieldError;
use adjourn_engine::ShellVariables;
use adjourn_runtime::request::{RunRequest, SkillRef};
use adjourn_runtime::workspace::Upload;
use serde_json::{Map, Value};

use crate::auth::guard::Door;

/// The member with the variables of the client's shell.
const ENVIRONMENT: &str = "environment";
const ENVIRONMENT_PATH: &str = "/environment";

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
pub(crate) fn read(mut document: Value, reach: Reach) -> Result<LocalRequest, Vec<FieldError>> {
    let mut errors = Vec::new();
    let (mut workspace, mut record, mut skill, mut files) = (None, None, None, Vec::new());
    let mut shell = None;
    if let (Reach::ThisMachine, Some(members)) = (reach, document.as_object_mut()) {
        if members.get("skill").and_then(Value::as_str).is_some_and(|skill| skill.starts_with('/')) {
            skill = path(members.remove("skill"), "/skill", &mut errors).map(SkillRef::At);
        }
        workspace = path(members.remove("workspace"), "/workspace", &mut errors);
        record = path(members.remove("record"), "/record", &mut errors);
        files = uploads(members.remove("files"), &mut errors);
        shell = variables(members.remove(ENVIRONMENT), &mut errors);
    }
    match RunRequest::read(&document) {
        Ok(request) if errors.is_empty() => {
            let skill = skill.or(request.skill);
            Ok(LocalRequest { request: RunRequest { skill, workspace, files, shell, ..request }, record })
        }
        Ok(_) => Err(errors),
        Err(more) => Err(errors.into_iter().chain(more).collect()),
    }
}

/// Takes the variables of a shell out of a request of somebody with this `reach`.
pub(crate) fn take_shell(
    document: &mut Value,
    reach: Reach,
) -> Result<Option<ShellVariables>, Vec<FieldError>> {
    let (Reach::ThisMachine, Some(members)) = (reach, document.as_object_mut()) else { return Ok(None) };
    let mut errors = Vec::new();
    let shell = variables(members.remove(ENVIRONMENT), &mut errors);
    if errors.is_empty() { Ok(shell) } else { Err(errors) }
}

/// `{name: value}`.
fn variables(given: Option<Value>, errors: &mut Vec<FieldError>) -> Option<ShellVariables> {
    let variables = match given? {
        Value::Null => return None,
        Value::Object(members) => members,
        _ => {
            errors.push(FieldError::new(ENVIRONMENT_PATH, "should be an object of names and values"));
            return None;
        }
    };
    let mut taken = Vec::new();
    for (name, value) in variables {
        match value {
            // No program can be started with others.
            Value::String(value) if !name.contains(['=', '\0']) && !value.contains('\0') => {
                taken.push((name.into(), value.into()));
            }
            // Its value may be a secret, and its name is not what was asked for either.
            _ => errors.push(FieldError::new(ENVIRONMENT_PATH, "should have names and values that are text")),
        }
    }
    Some(ShellVariables::new(taken, |_| true))
}

/// `{name: path}`.
fn uploads(given: Option<Value>, errors: &mut Vec<FieldError>) -> Vec<Upload> {
    let files: Map<_, _> = match given {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(files)) => files,
        Some(_) => {
            errors.push(FieldError::new("/files", "should be an object of names and paths"));
            return Vec::new();
        }
    };
    let upload =
        |(name, from)| path(Some(from), &format!("/files/{name}"), errors).map(|from| Upload { name, from });
    files.into_iter().filter_map(upload).collect()
}

/// The server works in another folder than its client: only an absolute path means the same to both.
fn path(given: Option<Value>, pointer: &str, errors: &mut Vec<FieldError>) -> Option<PathBuf> {
    match given? {
        Value::Null => None,
        Value::String(path) if path.starts_with('/') => Some(PathBuf::from(path)),
        _ => {
            errors.push(FieldError::new(pointer, "should be an absolute path"));
            None
        }
    }
}
