//! What is shown of a run: its state in the words of the interface.

use serde::Serialize;
use serde_json::{Value, json};

use crate::time::wire;
use crate::{
    Actor, By, Contract, ContractAction, ContractStatus, ContractTrigger, ExecutionId, ExecutionMode,
    Interaction, InteractionId, InteractionStatus, Outcome, Profile, Question, Run, RunError, RunId,
    RunStatus, Source, Strict, Timestamp, Transition, Usage, Warning,
};

/// A run, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    run_id: RunId,
    status: RunStatus,
    /// None for a bare prompt.
    skill: Option<String>,
    engine: String,
    execution_mode: ExecutionMode,
    interactive_profile: ProfileView,
    /// Only a person answers; otherwise Adjourn decides when the deadline passes.
    interactive_require_user_reply: bool,
    /// How long a question waits.
    session_timeout_sec: u32,
    /// The earliest deadline of the open questions.
    #[serde(with = "wire::option")]
    wait_deadline_at: Option<Timestamp>,
    /// 0 before the first attempt.
    attempt_number: u32,
    max_attempt: Option<u32>,
    /// How often the current attempt was cut off by a restart.
    restarts: u32,
    holds_slot: bool,
    /// The finished run whose conversation this one took over.
    continues: Option<RunId>,
    usage: Usage,
    /// The oldest open question.
    pending: Option<InteractionView>,
    /// All open questions, the oldest first.
    open_interactions: Vec<InteractionId>,
    result: Option<Value>,
    error: Option<RunError>,
    warnings: Vec<Warning>,
    labels: std::collections::BTreeMap<String, String>,
    /// The number of the last frame of its stream.
    seq: u64,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire")]
    updated_at: Timestamp,
}

/// What becomes of the process while the run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct ProfileView {
    kind: Profile,
}

impl RunView {
    /// The view of `run`.
    pub fn of(run: &Run) -> Self {
        let spec = run.spec();
        Self {
            run_id: run.id(),
            status: run.status(),
            skill: spec.skill.clone(),
            engine: spec.engine.clone(),
            execution_mode: spec.execution_mode,
            interactive_profile: ProfileView { kind: run.profile() },
            interactive_require_user_reply: spec.strict == Strict::On,
            session_timeout_sec: spec.session_timeout_sec,
            wait_deadline_at: run.wait_deadline_at(),
            attempt_number: run.attempt_number(),
            max_attempt: spec.max_attempt,
            restarts: run.restarts(),
            holds_slot: run.holds_slot(),
            continues: spec.continues.as_ref().map(|continued| continued.run_id),
            usage: run.usage(),
            pending: run.open_interactions().next().map(|interaction| InteractionView::of(run, interaction)),
            open_interactions: run
                .open_interactions()
                .map(|interaction| interaction.interaction_id)
                .collect(),
            result: run.result().cloned(),
            error: run.error().cloned(),
            warnings: run.warnings().to_vec(),
            labels: spec.labels.clone(),
            seq: run.last_frame(),
            created_at: run.created_at(),
            updated_at: run.updated_at(),
        }
    }
}

/// A question and its resolution, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InteractionView {
    interaction_id: InteractionId,
    status: InteractionStatus,
    attempt_number: u32,
    source: Source,
    /// The contract it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<ExecutionId>,
    /// What that contract would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    action_detail: Option<Value>,
    #[serde(flatten)]
    question: Question,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire::option")]
    deadline_at: Option<Timestamp>,
    /// The answer, of a question that was resolved.
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", with = "wire::option")]
    resolved_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolved_by: Option<By>,
}

impl InteractionView {
    /// The view of a question of `run`.
    pub fn of(run: &Run, interaction: &Interaction) -> Self {
        let resolution = interaction.resolution.as_ref();
        let contract = interaction.subject.execution_id().and_then(|id| run.contract(id));
        Self {
            interaction_id: interaction.interaction_id,
            status: interaction.status,
            attempt_number: interaction.attempt_number,
            source: interaction.subject.source(),
            execution_id: interaction.subject.execution_id(),
            action_detail: contract.map(action_detail),
            question: interaction.question.clone(),
            created_at: interaction.created_at,
            deadline_at: interaction.deadline_at,
            response: resolution.map(|resolution| resolution.response.clone()),
            resolved_at: resolution.map(|resolution| resolution.at),
            resolved_by: resolution.map(|resolution| resolution.by.clone()),
        }
    }
}

/// A contract, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContractView {
    execution_id: ExecutionId,
    run_id: RunId,
    attempt_number: u32,
    /// `tool_call` or `ecs_request`.
    action_type: &'static str,
    /// Service, method and arguments of a call; the form of a request.
    action_detail: Value,
    irreversible: bool,
    idempotency_key: String,
    timeout_seconds: Option<u32>,
    status: ContractStatus,
    /// When the call was made.
    #[serde(with = "wire::option")]
    dispatched_at: Option<Timestamp>,
    /// `known`, or `unknown`: it may have happened, and a person has to say.
    outcome: &'static str,
    result: Option<Value>,
    error_message: Option<String>,
    transitions: Vec<TransitionView>,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire")]
    updated_at: Timestamp,
}

/// One step on a contract's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct TransitionView {
    from: ContractStatus,
    to: ContractStatus,
    trigger: ContractTrigger,
    actor: Actor,
    #[serde(with = "wire")]
    timestamp: Timestamp,
}

impl ContractView {
    /// The view of a contract of `run`.
    pub fn of(run: &Run, contract: &Contract) -> Self {
        let spec = &contract.spec;
        Self {
            execution_id: spec.execution_id,
            run_id: run.id(),
            attempt_number: contract.attempt_number,
            action_type: spec.action.kind(),
            action_detail: action_detail(contract),
            irreversible: spec.irreversible,
            idempotency_key: spec.idempotency_key.to_string(),
            timeout_seconds: spec.timeout_seconds,
            status: contract.status,
            dispatched_at: contract.dispatched_at,
            outcome: match contract.outcome {
                Outcome::Known | Outcome::Settled { .. } => "known",
                Outcome::Unknown => "unknown",
            },
            result: contract.result.clone(),
            error_message: contract.error_message.clone(),
            transitions: contract.transitions.iter().map(TransitionView::of).collect(),
            created_at: contract.created_at,
            updated_at: contract.updated_at,
        }
    }
}

impl TransitionView {
    fn of(step: &Transition) -> Self {
        let Transition { from, to, trigger, actor, at } = *step;
        Self { from, to, trigger, actor, timestamp: at }
    }
}

fn action_detail(contract: &Contract) -> Value {
    match &contract.spec.action {
        ContractAction::ToolCall(call) => json!(call),
        ContractAction::EcsRequest(question) => json!(question),
    }
}
