//! What the tools take. The comments on fields are what a model reads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use adjourn_api::read::Document;
use adjourn_api::{NewRoundtable, NewRun};
use adjourn_core::{Action, FieldError, RoundtableId, RunId, check_depth};
use adjourn_runtime::request::RunRequest;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::extract::body::{self, KEY_RULE, is_key};
use crate::extract::query::{roundtable_id, run_id};
use crate::problem::Problem;

/// A new run: everything that `POST /v1/runs` takes, and an idempotency key.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct StartRun(Map<String, Value>);

/// What a model should know of the members of a run besides what everybody is told.
const FOR_MODELS: [(&str, &str); 6] = [
    ("skill", "The name of a skill, as `list_skills` has it. Give either this or `prompt`."),
    ("prompt", "What the agent should do, in words, for work without a skill."),
    ("engine", "The agent that does it. Leave it out to take the best one that is installed."),
    ("input", "The input of the skill, matching its `input_schema`."),
    ("parameter", "The parameters of the skill, matching its `parameter_schema`."),
    (
        IDEMPOTENCY_KEY,
        "Any text of your own. If you call again with the same text and the same arguments, because you did not get the \
         answer, no second run is started.",
    ),
];

const IDEMPOTENCY_KEY: &str = "idempotency_key";

impl JsonSchema for StartRun {
    fn schema_name() -> Cow<'static, str> {
        "StartRun".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = described::<NewRun>();
        schema["properties"][IDEMPOTENCY_KEY] = json!({ "type": ["string", "null"] });
        for (member, description) in FOR_MODELS {
            schema["properties"][member]["description"] = json!(description);
        }
        Schema::try_from(schema).unwrap_or_default()
    }
}

impl StartRun {
    /// The request, and its idempotency key.
    pub(super) fn read(mut self) -> Result<(RunRequest, Option<String>), Problem> {
        let given = take_key(&mut self.0);
        let request = RunRequest::read(&Value::Object(self.0)).map_err(Problem::invalid)?;
        Ok((request, given?))
    }
}

/// A new roundtable: everything that `POST /v1/roundtables` takes, and an idempotency key.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct StartRoundtable(Map<String, Value>);

impl JsonSchema for StartRoundtable {
    fn schema_name() -> Cow<'static, str> {
        "StartRoundtable".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = described::<NewRoundtable>();
        schema["properties"][IDEMPOTENCY_KEY] = json!({
            "type": ["string", "null"],
            "description": "Any text of your own. If you call again with the same text and the same arguments, because you \
                did not get the answer, no second roundtable is opened.",
        });
        Schema::try_from(schema).unwrap_or_default()
    }
}

impl StartRoundtable {
    /// The request, and its idempotency key.
    pub(super) fn read(mut self) -> Result<(NewRoundtable, Option<String>), Problem> {
        let given = take_key(&mut self.0)?;
        let arguments = Value::Object(self.0);
        check_depth(&arguments)
            .map_err(|too_big| Problem::invalid(vec![FieldError::new("", too_big.to_string())]))?;
        Ok((body::read(&Document::of(arguments))?, given))
    }
}

/// One roundtable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OneRoundtable {
    /// The roundtable: `rt_…`.
    roundtable_id: String,
}

impl OneRoundtable {
    pub(super) fn id(&self) -> Result<RoundtableId, Problem> {
        roundtable_id(&self.roundtable_id)
    }
}

/// An answer to what a roundtable asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyRoundtable {
    /// The roundtable that asks.
    roundtable_id: String,
    /// Which of its questions: the `interaction_id`. Leave it out for the one that is open.
    #[serde(default)]
    pub(super) interaction_id: Option<u32>,
    /// One of the words that the question offers, a decision or a remark in words, or an object with `decision` and `text`.
    pub(super) response: Value,
    /// Any text of your own. If you call again with the same text and the same answer, it counts once.
    #[serde(default)]
    idempotency_key: Option<String>,
}

impl ReplyRoundtable {
    pub(super) fn id(&self) -> Result<RoundtableId, Problem> {
        roundtable_id(&self.roundtable_id)
    }

    pub(super) fn key(&self) -> Result<Option<String>, Problem> {
        key(self.idempotency_key.as_deref())
    }
}

/// The document of a roundtable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExportRoundtable {
    /// The roundtable: `rt_…`.
    roundtable_id: String,
    /// `md` for people, which is the default, or `json` with everything.
    #[serde(default)]
    pub(super) format: ExportFormat,
}

/// The form of a document.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ExportFormat {
    #[default]
    Md,
    Json,
}

impl ExportRoundtable {
    pub(super) fn id(&self) -> Result<RoundtableId, Problem> {
        roundtable_id(&self.roundtable_id)
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
    #[schemars(schema_with = "optional::<Action>")]
    pub(super) action: Option<Action>,
    /// Any text of your own. If you call again with the same text and the same answer, it counts once.
    #[serde(default)]
    idempotency_key: Option<String>,
}

impl ReplyToRun {
    pub(super) fn id(&self) -> Result<RunId, Problem> {
        run_id(&self.run_id)
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

/// The schema of a member that may be left out.
fn optional<T: ToSchema>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [described::<T>(), { "type": "null" }] })
}

/// The schema of a type that describes itself for OpenAPI: that is JSON Schema too.
fn described<T: ToSchema>() -> Value {
    let mut components = Vec::new();
    T::schemas(&mut components);
    let components: BTreeMap<_, _> = components.into_iter().map(|(name, it)| (name, json!(it))).collect();
    let mut schema = json!(T::schema());
    inline(&mut schema, &components);
    schema
}

/// Puts components into the places that refer to them.
fn inline(schema: &mut Value, components: &BTreeMap<String, Value>) {
    let named = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.rsplit('/').next());
    if let Some(component) = named.and_then(|name| components.get(name)) {
        *schema = component.clone();
    }
    match schema {
        Value::Object(members) => members.values_mut().for_each(|it| inline(it, components)),
        Value::Array(items) => items.iter_mut().for_each(|it| inline(it, components)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Takes the idempotency key out of the arguments of a call.
fn take_key(arguments: &mut Map<String, Value>) -> Result<Option<String>, Problem> {
    match arguments.shift_remove(IDEMPOTENCY_KEY) {
        None | Some(Value::Null) => Ok(None),
        // Text that is none is no key either.
        Some(given) => key(Some(given.as_str().unwrap_or_default())),
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
