//! What a client asks for, in that project's words, and what it is in ours.

use std::collections::BTreeMap;

use adjourn_core::{ExecutionMode, FieldError};
use adjourn_runtime::request::{RunRequest, SkillRef};
use serde_json::{Map, Value};

use crate::problem::Problem;
use crate::problem::code::Code;

/// The label that keeps the mode that was asked for, where the run has another.
pub(super) const MODE_LABEL: &str = "skill-runner.execution_mode";

/// The label that keeps whether the client can take questions.
pub(super) const CONVERSATION_LABEL: &str = "skill-runner.conversation_mode";

/// A client that can show a question and send the answer: what one is taken for that does not say.
pub(super) const SESSION: &str = "session";

/// A client that sends a job and reads its result, and can do nothing in between.
const NON_SESSION: &str = "non_session";

const MEMBERS: [&str; 7] =
    ["skill_id", "engine", "input", "parameter", "model", "runtime_options", "client_metadata"];

/// Options under that project's name and under ours.
const RENAMED: [(&str, &str); 3] = [
    ("interactive_auto_reply", "interactive_require_user_reply"),
    ("interactive_reply_timeout_sec", "session_timeout_sec"),
    ("hard_timeout_seconds", "hard_timeout_sec"),
];

/// Options that are not options of a run here.
const OTHERS: [&str; 3] = ["execution_mode", "no_cache", "env"];

/// The skill that a job names, and the run that it is.
pub(crate) fn read(document: &Value) -> Result<(String, RunRequest), Problem> {
    let mut reading = Reading { errors: Vec::new() };
    let Some(members) = document.as_object() else {
        return Err(Problem::invalid(vec![FieldError::new("", "should be an object")]));
    };
    let Some(skill) = members.get("skill_id").and_then(Value::as_str) else {
        let message = "should be a string: the skill that is run";
        return Err(Problem::invalid(vec![FieldError::new("/skill_id", message)]));
    };
    for key in reading.unknown(members, &MEMBERS) {
        reading.wrong(&format!("/{key}"), format!("unknown member: there are {}", MEMBERS.join(", ")));
    }
    // Another model is another result and another bill: better no run than one on a model that nobody asked for.
    if given(members, "model").is_some() {
        reading.wrong("/model", "cannot be chosen here: the engine's own configuration says which it uses");
    }
    let engine = reading.text(members, "engine", "/engine");
    let (options, asked_mode) = reading.options(members);
    let conversation = reading.conversation(members);
    let mut labels = BTreeMap::new();
    let mut mode = asked_mode.clone();
    if let Some(conversation) = conversation {
        if conversation == NON_SESSION && asked_mode.as_deref() != Some(ExecutionMode::Auto.name()) {
            mode = Some(ExecutionMode::Auto.to_string());
            labels.extend(asked_mode.map(|asked| (MODE_LABEL.to_owned(), asked)));
        }
        labels.insert(CONVERSATION_LABEL.to_owned(), conversation);
    }
    if !reading.errors.is_empty() {
        return Err(invalid(reading.errors));
    }
    let request = RunRequest {
        skill: Some(SkillRef::Named(skill.to_owned())),
        engine,
        execution_mode: mode,
        input: members.get("input").cloned().unwrap_or_default(),
        parameter: members.get("parameter").cloned().unwrap_or_default(),
        options: Value::Object(options),
        labels,
        ..RunRequest::default()
    };
    Ok((skill.to_owned(), request))
}

/// What is wrong with a job, as its client knows it: 400, and under the names that it used.
pub(super) fn refused(problem: Problem) -> Problem {
    if !matches!(problem.code(), Code::Invalid | Code::EngineNotFound | Code::SkillUnusable) {
        return problem;
    }
    let errors = problem.errors().iter().map(|error| {
        let path = RENAMED.iter().find(|(_, ours)| error.path == format!("/options/{ours}"));
        let path = match (path, error.path.as_str()) {
            (Some((theirs, _)), _) => format!("/runtime_options/{theirs}"),
            (None, "/execution_mode") => "/runtime_options/execution_mode".to_owned(),
            (None, "/skill") => "/skill_id".to_owned(),
            (None, same) => same.to_owned(),
        };
        FieldError::new(path, error.message.clone())
    });
    invalid(errors.collect())
}

fn invalid(errors: Vec<FieldError>) -> Problem {
    let named: Vec<_> = errors.iter().map(ToString::to_string).collect();
    Problem::bad_request(named.join("; ")).with_errors(errors)
}

/// What is there and not null: clients write down what they have no value for.
fn given<'a>(members: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    members.get(key).filter(|value| !value.is_null())
}

struct Reading {
    errors: Vec<FieldError>,
}

impl Reading {
    fn wrong(&mut self, path: &str, message: impl Into<String>) {
        self.errors.push(FieldError::new(path, message));
    }

    fn unknown(&self, members: &Map<String, Value>, known: &[&str]) -> Vec<String> {
        let keys = members.keys().filter(|key| given(members, key).is_some());
        // A request can have hundreds of thousands.
        keys.filter(|key| !known.contains(&key.as_str())).take(51).cloned().collect()
    }

    fn text(&mut self, members: &Map<String, Value>, key: &str, path: &str) -> Option<String> {
        let value = given(members, key)?;
        if value.as_str().is_none() {
            self.wrong(path, "should be a string");
        }
        value.as_str().map(str::to_owned)
    }

    fn object<'a>(&mut self, members: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
        let value = given(members, key)?;
        if !value.is_object() {
            self.wrong(&format!("/{key}"), "should be an object");
        }
        value.as_object()
    }

    /// The options of the run, and the mode.
    fn options(&mut self, members: &Map<String, Value>) -> (Map<String, Value>, Option<String>) {
        let mut ours = Map::new();
        let Some(theirs) = self.object(members, "runtime_options") else { return (ours, None) };
        let names: Vec<_> = OTHERS.into_iter().chain(RENAMED.map(|(theirs, _)| theirs)).collect();
        for key in self.unknown(theirs, &names) {
            let path = format!("/runtime_options/{key}");
            self.wrong(&path, format!("unknown option: there are {}", names.join(", ")));
        }
        for (name, our_name) in RENAMED {
            let Some(value) = given(theirs, name) else { continue };
            let value = match (name, value) {
                ("interactive_auto_reply", Value::Bool(auto)) => Value::Bool(!auto),
                (_, other) => other.clone(),
            };
            ours.insert(our_name.to_owned(), value);
        }
        // What the agent needs is set where its engine is: in a job it would be written into the journal.
        if given(theirs, "env").is_some_and(|env| env.as_object().is_none_or(|env| !env.is_empty())) {
            let message = "is not taken: variables for an agent are set in the configuration of its engine";
            self.wrong("/runtime_options/env", message);
        }
        // There is no cache, so everybody has this option.
        if given(theirs, "no_cache").is_some_and(|no_cache| !no_cache.is_boolean()) {
            self.wrong("/runtime_options/no_cache", "should be true or false");
        }
        (ours, self.text(theirs, "execution_mode", "/runtime_options/execution_mode"))
    }

    fn conversation(&mut self, members: &Map<String, Value>) -> Option<String> {
        let metadata = self.object(members, "client_metadata")?;
        let mode = self.text(metadata, "conversation_mode", "/client_metadata/conversation_mode")?;
        if ![SESSION, NON_SESSION].contains(&mode.as_str()) {
            let message = format!("`{mode}` is not one of {SESSION}, {NON_SESSION}");
            self.wrong("/client_metadata/conversation_mode", message);
        }
        Some(mode)
    }
}
