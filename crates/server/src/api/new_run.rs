//! The body of `POST /v1/runs`, as it is described.
//!
//! It is read by the runtime, which says everything that is wrong with it at once.

use std::collections::BTreeMap;

use adjourn_core::{ExecutionMode, Profile, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What to run: a skill or a prompt.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "skill": "triage", "input": { "issue": "it does not start" }, "labels": { "team": "billing" } }))]
pub(crate) struct NewRun {
    /// The name of an installed skill.
    skill: Option<String>,
    /// What to do, without a skill.
    #[schema(max_length = 262_144)]
    prompt: Option<String>,
    /// The engine; by default the first of the skill's that is installed.
    engine: Option<String>,
    /// By default the skill's.
    execution_mode: Option<ExecutionMode>,
    /// The skill's input.
    input: Option<Value>,
    /// The skill's parameters.
    parameter: Option<Value>,
    options: Option<NewRunOptions>,
    /// What to find it by: at most 32.
    labels: Option<BTreeMap<String, String>>,
    /// The finished run whose conversation it takes over.
    continues: Option<RunId>,
}

/// A request with files.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct NewRunForm {
    request: NewRun,
    /// Any other part is a file, by the name that the agent knows it by: at most 100, of 256 MiB each.
    #[serde(flatten)]
    files: BTreeMap<String, FileContent>,
}

/// The bytes of a file.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(value_type = String, format = Binary)]
struct FileContent(Vec<u8>);

/// Options of a run; what is left out is as the skill or the engine has it.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRunOptions {
    /// Only a person answers; otherwise Adjourn decides when the deadline passes.
    interactive_require_user_reply: Option<bool>,
    /// How long a question waits.
    #[schema(minimum = 1, maximum = 31_622_400)]
    session_timeout_sec: Option<u32>,
    interactive_profile: Option<NewRunProfile>,
    /// How many attempts an interactive run has. The skill's can only be lowered.
    #[schema(minimum = 1, maximum = 1000)]
    max_attempt: Option<u32>,
    /// How long one turn may take.
    #[schema(minimum = 1, maximum = 604_800)]
    hard_timeout_sec: Option<u32>,
    /// How often an output that breaks its schema is sent back within one attempt.
    #[schema(minimum = 0, maximum = 1000)]
    repair_limit: Option<u32>,
    /// Who goes first in the queue: higher does.
    priority: Option<i32>,
}

/// What becomes of the process while the run waits.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRunProfile {
    kind: Profile,
}
