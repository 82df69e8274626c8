//! What is shown of a run: its state in the words of the interface.

use serde::Serialize;
use serde_json::{Value, json};

use crate::time::wire;
use crate::{
    By, Contract, ContractAction, ExecutionId, ExecutionMode, Interaction, InteractionId, InteractionStatus,
    Outcome, Profile, Question, Run, RunError, RunId, RunStatus, Source, Strict, Timestamp, Transition,
    Usage, Warning,
};

/// A run, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunView {
    run_id: RunId,
    status: RunStatus,
    skill: Option<String>,
    engine: String,
    execution_mode: ExecutionMode,
    interactive_profile: ProfileView,
    interactive_require_user_reply: bool,
    session_timeout_sec: u32,
    #[serde(with = "wire::option")]
    wait_deadline_at: Option<Timestamp>,
    attempt_number: u32,
    max_attempt: Option<u32>,
    restarts: u32,
    holds_slot: bool,
    continues: Option<RunId>,
    usage: Usage,
    pending: Option<InteractionView>,
    open_interactions: Vec<InteractionId>,
    result: Option<Value>,
    error: Option<RunError>,
    warnings: Vec<Warning>,
    labels: std::collections::BTreeMap<String, String>,
    seq: u64,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire")]
    updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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
pub struct InteractionView {
    interaction_id: InteractionId,
    status: InteractionStatus,
    attempt_number: u32,
    source: Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<ExecutionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action_detail: Option<Value>,
    #[serde(flatten)]
    question: Question,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire::option")]
    deadline_at: Option<Timestamp>,
    #[serde(flatten)]
    resolution: Option<ResolutionView>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ResolutionView {
    response: Value,
    #[serde(with = "wire")]
    resolved_at: Timestamp,
    resolved_by: By,
}

impl InteractionView {
    /// The view of a question of `run`.
    pub fn of(run: &Run, interaction: &Interaction) -> Self {
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
            resolution: interaction.resolution.as_ref().map(|resolution| ResolutionView {
                response: resolution.response.clone(),
                resolved_at: resolution.at,
                resolved_by: resolution.by.clone(),
            }),
        }
    }
}

/// A contract, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContractView {
    execution_id: ExecutionId,
    run_id: RunId,
    attempt_number: u32,
    action_type: &'static str,
    action_detail: Value,
    irreversible: bool,
    idempotency_key: String,
    timeout_seconds: Option<u32>,
    status: crate::ContractStatus,
    #[serde(with = "wire::option")]
    dispatched_at: Option<Timestamp>,
    outcome: &'static str,
    result: Option<Value>,
    error_message: Option<String>,
    transitions: Vec<Value>,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire")]
    updated_at: Timestamp,
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
            transitions: contract.transitions.iter().map(transition).collect(),
            created_at: contract.created_at,
            updated_at: contract.updated_at,
        }
    }
}

fn transition(step: &Transition) -> Value {
    let Transition { from, to, trigger, actor, at } = step;
    json!({ "from": from, "to": to, "trigger": trigger, "actor": actor, "timestamp": at.to_string() })
}

fn action_detail(contract: &Contract) -> Value {
    match &contract.spec.action {
        ContractAction::ToolCall(call) => json!(call),
        ContractAction::EcsRequest(question) => json!(question),
    }
}
