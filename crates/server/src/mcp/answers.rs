//! What the tools answer: a run as a model needs it, which is less than `/v1/runs/{id}` has, and says what to do next.

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{self, Roundtable};
use adjourn_core::{Interaction, InteractionView, RoundtableId, Run, RunError, RunStatus};
use adjourn_runtime::skill::{Installed, Skill};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunState {
    run_id: String,
    /// `queued`, `running` and `waiting_user` may change; `succeeded`, `failed` and `canceled` are final.
    status: String,
    /// What to do next.
    next: String,
    skill: Option<String>,
    engine: String,
    execution_mode: String,
    /// Which turn of the agent this is; 0 before the first.
    attempt_number: u32,
    /// The questions that wait for an answer, the oldest first.
    questions: Vec<Question>,
    /// What came out, of a run that succeeded.
    result: Option<Value>,
    /// Why it failed.
    error: Option<Failure>,
    /// What was odd.
    warnings: Vec<Failure>,
    /// Pass this to `wait_for_change` to hear of everything that happens after this answer.
    cursor: u64,
    created_at: String,
    updated_at: String,
}

/// A code and a message.
#[derive(Debug, Serialize, JsonSchema)]
struct Failure {
    code: String,
    message: String,
}

impl From<&RunError> for Failure {
    fn from(error: &RunError) -> Self {
        Self { code: error.code.to_string(), message: error.message.clone() }
    }
}

impl RunState {
    pub(super) fn of(run: &Run) -> Self {
        let spec = run.spec();
        let warnings = run.warnings().iter();
        Self {
            run_id: run.id().to_string(),
            status: run.status().to_string(),
            next: next(run.status()).to_owned(),
            skill: spec.skill.clone(),
            engine: spec.engine.clone(),
            execution_mode: spec.execution_mode.to_string(),
            attempt_number: run.attempt_number(),
            questions: run.open_interactions().map(|interaction| Question::of(run, interaction)).collect(),
            result: run.result().cloned(),
            error: run.error().map(Failure::from),
            warnings: warnings
                .map(|warning| Failure { code: warning.code.to_string(), message: warning.message.clone() })
                .collect(),
            cursor: run.last_frame(),
            created_at: run.created_at().to_string(),
            updated_at: run.updated_at().to_string(),
        }
    }
}

fn next(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Queued => "it waits for its turn: call wait_for_change with its run_id and cursor",
        RunStatus::Running => "the agent is at work: call wait_for_change with its run_id and cursor",
        RunStatus::WaitingUser => {
            "it waits for an answer: show the questions to your user and pass on what they say with reply_to_run"
        }
        RunStatus::Succeeded => "it is done: the outcome is in result",
        RunStatus::Failed => "it has failed: error says why",
        RunStatus::Canceled => "it was canceled",
    }
}

/// A question that waits for an answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Question {
    /// The run that asks; none where a roundtable does.
    run_id: Option<String>,
    /// The roundtable that asks; none where a run does.
    roundtable_id: Option<String>,
    /// Pass this to `reply_to_run` or `reply_roundtable`.
    interaction_id: u32,
    /// The form of the answer: `open_text`, `choose_one`, `choose_many`, `confirm` or `form`.
    kind: String,
    /// What is asked.
    prompt: String,
    /// Everything else that is known: options, fields, a schema, a default, where it comes from, the call that it is
    /// about.
    details: Value,
    created_at: String,
    /// When something happens without an answer; none if nothing ever does.
    deadline_at: Option<String>,
}

/// What [`Question`] has fields of its own for.
const NAMED: [&str; 6] = ["interaction_id", "kind", "prompt", "created_at", "deadline_at", "status"];

impl Question {
    pub(super) fn of(run: &Run, interaction: &Interaction) -> Self {
        Self { run_id: Some(run.id().to_string()), ..Self::shown(&InteractionView::of(run, interaction)) }
    }

    pub(super) fn of_roundtable(id: RoundtableId, interaction: &roundtable::Interaction) -> Self {
        let view = InteractionView::of_roundtable(interaction);
        Self { roundtable_id: Some(id.to_string()), ..Self::shown(&view) }
    }

    fn shown(view: &InteractionView) -> Self {
        let mut details = json!(view);
        if let Value::Object(members) = &mut details {
            members.retain(|key, _| !NAMED.contains(&key.as_str()));
        }
        Self {
            run_id: None,
            roundtable_id: None,
            interaction_id: view.interaction_id.0,
            kind: view.question.kind.to_string(),
            prompt: view.question.prompt.clone(),
            details,
            created_at: view.created_at.to_string(),
            deadline_at: view.deadline_at.map(|deadline| deadline.to_string()),
        }
    }
}

/// A roundtable.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RoundtableState {
    roundtable_id: String,
    /// `active` or `closed`.
    status: String,
    /// What to do next.
    next: String,
    subject: String,
    workflow: String,
    /// How many rounds are recorded.
    rounds: u32,
    /// What it asks a person; none while it does not wait.
    question: Option<Question>,
    /// What is written down so far. Their texts are in the document: `export_roundtable`.
    artifacts: Vec<ArtifactInShort>,
    /// Conflicts that are open.
    conflicts: Vec<String>,
    /// Why it was closed.
    close_reason: Option<String>,
    /// What went wrong, where something did.
    problem: Option<String>,
    created_at: String,
    updated_at: String,
}

/// A result of a roundtable.
#[derive(Debug, Serialize, JsonSchema)]
struct ArtifactInShort {
    artifact_id: String,
    status: String,
    title: String,
}

impl RoundtableState {
    pub(super) fn of(roundtable: &Roundtable) -> Self {
        let spec = roundtable.spec();
        let pending = roundtable.pending();
        let next = match (roundtable.status(), pending) {
            (RoundtableStatus::Closed, _) => "it is closed: export_roundtable has the document",
            (RoundtableStatus::Active, Some(_)) => {
                "it waits for a person: show the question to your user and pass on what they say with reply_roundtable"
            }
            (RoundtableStatus::Active, None) => {
                "its agents are at work: call wait_for_change without a run_id, then get_roundtable again"
            }
        };
        let artifacts = roundtable.artifacts().iter().map(|artifact| ArtifactInShort {
            artifact_id: artifact.id.to_string(),
            status: artifact.status.to_string(),
            title: artifact.version.title.clone(),
        });
        Self {
            roundtable_id: roundtable.id().to_string(),
            status: roundtable.status().to_string(),
            next: next.to_owned(),
            subject: spec.subject.clone(),
            workflow: spec.workflow.clone(),
            rounds: roundtable.recorded_rounds(),
            question: pending.map(|pending| Question::of_roundtable(roundtable.id(), pending)),
            artifacts: artifacts.collect(),
            conflicts: roundtable.open_conflicts().map(|conflict| conflict.about.title.clone()).collect(),
            close_reason: roundtable.closing().map(|closing| closing.reason.to_string()),
            problem: roundtable.closing().and_then(|closing| closing.problem.clone()),
            created_at: roundtable.created_at().to_string(),
            updated_at: roundtable.updated_at().to_string(),
        }
    }
}

/// What came out of a roundtable so far.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Exported {
    pub(super) roundtable_id: String,
    /// The document: Markdown, or JSON as text.
    pub(super) document: String,
}

/// Questions that wait for an answer, the oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Questions {
    pub(super) questions: Vec<Question>,
    /// Pass this as `cursor` for the questions after these; none after the last.
    pub(super) next_cursor: Option<String>,
}

/// What happened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Changes {
    /// False if nothing happened in the time that was waited.
    pub(super) changed: bool,
    /// What happened, the oldest first. There may be more: call again with `cursor`.
    pub(super) changes: Vec<Change>,
    /// Pass this next time.
    pub(super) cursor: u64,
    /// The run as it is now, if it was asked for one.
    pub(super) run: Option<RunState>,
}

/// One thing that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Change {
    pub(super) run_id: String,
    pub(super) at: String,
    /// What kind of thing: `conversation.state.changed`, `assistant.message.final`, `user.input.required`, ….
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The same for reading; long texts are cut.
    pub(super) text: String,
}

/// What can be run.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Skills {
    pub(super) skills: Vec<SkillState>,
}

/// A skill.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SkillState {
    name: String,
    /// What it does, and when to use it.
    description: Option<String>,
    execution_modes: Vec<String>,
    /// A JSON schema for `input`; none if it takes anything or nothing.
    input_schema: Option<Value>,
    /// A JSON schema for `parameter`.
    parameter_schema: Option<Value>,
    /// Why it cannot be used.
    problem: Option<String>,
}

impl SkillState {
    pub(super) fn of(found: &Installed) -> Self {
        let name = found.name.clone();
        match Skill::load(&found.dir) {
            Ok(skill) => Self {
                name,
                description: Some(skill.description),
                execution_modes: skill.modes.iter().map(ToString::to_string).collect(),
                input_schema: skill.input.map(|schema| schema.document),
                parameter_schema: skill.parameter.map(|schema| schema.document),
                problem: None,
            },
            Err(problems) => Self {
                name,
                description: None,
                execution_modes: Vec::new(),
                input_schema: None,
                parameter_schema: None,
                problem: Some(problems.to_string()),
            },
        }
    }
}
