//! What a client asks for, in that project's words, and what it is in ours.

use std::collections::BTreeMap;

use adjourn_api::read::{Document, pointer};
use adjourn_api::{Code, RunOptions, SkillRunnerOptions};
use adjourn_core::{ExecutionMode, FieldError};
use adjourn_runtime::request::{RunRequest, SkillRef};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::problem::Problem;

/// The label that keeps the mode that was asked for, where the run has another.
pub(super) const MODE_LABEL: &str = "skill-runner.execution_mode";

/// The label that keeps whether the client can take questions.
pub(super) const CONVERSATION_LABEL: &str = "skill-runner.conversation_mode";

/// A client that can show a question and send the answer: what one is taken for that does not say.
pub(super) const SESSION: &str = "session";

/// A client that sends a job and reads its result, and can do nothing in between.
const NON_SESSION: &str = "non_session";

/// The member of the metadata that says which of them a client is.
const CONVERSATION_MODE: &str = "conversation_mode";

/// Options under that project's name and under ours.
const RENAMED: [(&str, &str); 3] = [
    ("interactive_auto_reply", "interactive_require_user_reply"),
    ("interactive_reply_timeout_sec", "session_timeout_sec"),
    ("hard_timeout_seconds", "hard_timeout_sec"),
];

/// A job as it is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewJob {
    skill_id: String,
    engine: Option<String>,
    input: Option<Value>,
    parameter: Option<Value>,
    model: Option<IgnoredAny>,
    #[serde(default)]
    runtime_options: SkillRunnerOptions,
    /// More than this server knows of: clients keep notes of their own in it.
    #[serde(default)]
    client_metadata: BTreeMap<String, Value>,
}

/// The skill that a job names, and the run that it is.
pub(crate) fn read(document: &Document) -> Result<(String, RunRequest), Problem> {
    let reading = document.read::<NewJob>();
    let mut errors: Vec<FieldError> = reading.problems.into_iter().map(Into::into).collect();
    // Without a skill, nothing else can be said about it.
    let Some(job) = reading.value else { return Err(Problem::invalid(errors)) };
    let mut wrong = |path: &str, message: String| errors.push(FieldError::new(path, message));
    // Another model is another result and another bill: better no run than one on a model that nobody asked for.
    if job.model.is_some() {
        let message = "cannot be chosen here: the engine's own configuration says which it uses";
        wrong("/model", message.to_owned());
    }
    // What the agent needs is set where its engine is: in a job it would be written into the journal.
    let options = &job.runtime_options;
    if options.env.as_ref().is_some_and(|env| env.as_object().is_none_or(|env| !env.is_empty())) {
        let message = "is not taken: variables for an agent are set in the configuration of its engine";
        wrong("/runtime_options/env", message.to_owned());
    }
    let conversation = match job.client_metadata.get(CONVERSATION_MODE) {
        None | Some(Value::Null) => None,
        Some(Value::String(mode)) if [SESSION, NON_SESSION].contains(&mode.as_str()) => Some(mode.clone()),
        Some(other) => {
            let given = other.as_str().map_or_else(String::new, |mode| format!("`{mode}` "));
            let message = format!("{given}is not one of {SESSION}, {NON_SESSION}");
            wrong(&pointer(&["client_metadata", CONVERSATION_MODE]), message);
            None
        }
    };
    if !errors.is_empty() {
        return Err(invalid(errors));
    }
    let mut labels = BTreeMap::new();
    let mut mode = options.execution_mode;
    if let Some(conversation) = conversation {
        if conversation == NON_SESSION && mode != Some(ExecutionMode::Auto) {
            labels.extend(mode.map(|asked| (MODE_LABEL.to_owned(), asked.to_string())));
            mode = Some(ExecutionMode::Auto);
        }
        labels.insert(CONVERSATION_LABEL.to_owned(), conversation);
    }
    let options = Some(options.options()).filter(|options| *options != RunOptions::default());
    let request = RunRequest {
        skill: Some(SkillRef::Named(job.skill_id.clone())),
        engine: job.engine,
        execution_mode: mode,
        input: job.input.unwrap_or_default(),
        parameter: job.parameter.unwrap_or_default(),
        options,
        labels,
        ..RunRequest::default()
    };
    Ok((job.skill_id, request))
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
