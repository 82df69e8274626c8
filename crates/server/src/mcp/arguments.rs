//! What the tools take. The comments on fields are what a model reads.

use std::collections::BTreeMap;

use adjourn_core::{Action, FieldError, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::extract::body::{KEY_RULE, is_key};
use crate::extract::query::run_id;
use crate::problem::Problem;

/// A new run: of a skill, or of a prompt.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartRun {
    /// The name of a skill, as `list_skills` has it. Give either this or `prompt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skill: Option<String>,
    /// What the agent should do, in words, for work without a skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prompt: Option<String>,
    /// The agent that does it. Leave it out to take the best one that is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    engine: Option<String>,
    /// `interactive`: the agent may stop and ask a person. `auto`: it may not, and decides itself. Leave it out for what
    /// the skill prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    execution_mode: Option<Mode>,
    /// The input of the skill, matching its `input_schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    input: Option<Value>,
    /// The parameters of the skill, matching its `parameter_schema`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameter: Option<Value>,
    /// How the run is to be treated. Seldom needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<RunOptions>,
    /// Names and values to find the run by later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<BTreeMap<String, String>>,
    /// The id of a run that has ended, whose conversation the new one takes up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    continues: Option<String>,
    /// Any text of your own. If you call again with the same text and the same arguments, because you did not get the
    /// answer, no second run is started.
    #[serde(default, skip_serializing)]
    idempotency_key: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Interactive,
    Auto,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunOptions {
    /// `false`: a question that nobody answers in time is decided without a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interactive_require_user_reply: Option<bool>,
    /// How long a question waits, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_timeout_sec: Option<u32>,
    /// How many turns the agent has to come to a result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_attempt: Option<u32>,
    /// How long one turn of the agent may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hard_timeout_sec: Option<u32>,
    /// Who goes first when agents have to queue: higher does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
}

impl StartRun {
    /// The same as `POST /v1/runs` takes it.
    pub(super) fn document(&self) -> Value {
        serde_json::to_value(self).expect("plain data with string keys is JSON")
    }

    pub(super) fn key(&self) -> Result<Option<String>, Problem> {
        key(self.idempotency_key.as_deref())
    }
}

/// One run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneRun {
    /// The run: `run_…`.
    run_id: String,
}

impl OneRun {
    pub(super) fn id(&self) -> Result<RunId, Problem> {
        run_id(&self.run_id)
    }
}

/// A part of the inbox.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Inbox {
    /// The `next_cursor` of the answer before, for what comes after it.
    #[serde(default)]
    pub(super) cursor: Option<String>,
    /// How many questions at most, from 1 to 500. By default 50.
    #[serde(default)]
    pub(super) limit: Option<usize>,
}

/// An answer to a question.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyToRun {
    /// The run that asks.
    run_id: String,
    /// Which of its questions: the `interaction_id`. Leave it out for the oldest that is open.
    #[serde(default)]
    pub(super) interaction_id: Option<u32>,
    /// The answer, in the form that the `kind` of the question asks for: `open_text` a string; `choose_one` the value of
    /// an option; `choose_many` a list of such values; `confirm` true or false; `form` an object with its fields.
    #[serde(default)]
    pub(super) response: Value,
    /// Only for a question with `action_detail`, which asks whether a call may be made: `approve` it, `reject` it, or
    /// `edit` it, with the arguments it should have in `response`.
    #[serde(default)]
    action: Option<Decision>,
    /// Any text of your own. If you call again with the same text and the same answer, it counts once.
    #[serde(default)]
    idempotency_key: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Approve,
    Edit,
    Reject,
}

impl ReplyToRun {
    pub(super) fn id(&self) -> Result<RunId, Problem> {
        run_id(&self.run_id)
    }

    pub(super) fn action(&self) -> Option<Action> {
        self.action.map(|decision| match decision {
            Decision::Approve => Action::Approve,
            Decision::Edit => Action::Edit,
            Decision::Reject => Action::Reject,
        })
    }

    pub(super) fn key(&self) -> Result<Option<String>, Problem> {
        key(self.idempotency_key.as_deref())
    }
}

/// What is waited for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitForChange {
    /// The run. Leave it out to hear of status changes of all runs.
    #[serde(default)]
    run_id: Option<String>,
    /// The `cursor` of your last answer about the same run, or about all: what happened since then is returned at once.
    /// Leave it out to hear of what happens from now on.
    #[serde(default)]
    pub(super) cursor: Option<u64>,
    /// How long to wait, in seconds, from 0 to 50. By default 20.
    #[serde(default)]
    pub(super) timeout_sec: Option<u64>,
}

impl WaitForChange {
    pub(super) fn id(&self) -> Result<Option<RunId>, Problem> {
        self.run_id.as_deref().map(run_id).transpose()
    }
}

fn key(given: Option<&str>) -> Result<Option<String>, Problem> {
    match given {
        Some(key) if !is_key(key) => {
            Err(Problem::invalid(vec![FieldError::new("/idempotency_key", KEY_RULE)]))
        }
        given => Ok(given.map(str::to_owned)),
    }
}
