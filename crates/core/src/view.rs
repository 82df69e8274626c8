//! What is shown of a run: its state in the words of the interface.

mod graph;
mod trace;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use graph::{GraphStatus, GraphView};
pub use trace::{SettlementView, StepMetadata, Trace, TraceStep};

use crate::names::named;
use crate::question::present;
use crate::time::wire;
use crate::{
    ActionType, Actor, By, Contract, ContractAction, ContractStatus, ContractTrigger, ErrorCode, ExecutionId,
    ExecutionMode, Interaction, InteractionId, InteractionStatus, Outcome, Profile, Question, Run, RunError,
    RunId, RunRow, RunStatus, Settlement, Source, Strict, Timestamp, ToolCall, Transition, Usage, Warning,
};

/// A run, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunView {
    /// Its id.
    pub run_id: RunId,
    /// Where it is in its life.
    pub status: RunStatus,
    /// The skill it runs; none for a bare prompt.
    pub skill: Option<String>,
    /// What it was asked to do, without a skill.
    pub prompt: Option<String>,
    /// The engine that executes it.
    pub engine: String,
    /// Whether its agent may ask.
    pub execution_mode: ExecutionMode,
    /// What becomes of its process while it waits.
    pub interactive_profile: ProfileView,
    /// Only a person answers; otherwise Adjourn decides when the deadline passes.
    pub interactive_require_user_reply: bool,
    /// How long a question waits.
    pub session_timeout_sec: u32,
    /// The earliest deadline of its open questions.
    #[serde(with = "wire::option")]
    pub wait_deadline_at: Option<Timestamp>,
    /// The current attempt; 0 before the first.
    pub attempt_number: u32,
    /// How many attempts it has; none for any number.
    pub max_attempt: Option<u32>,
    /// How often its current attempt was cut off by a restart.
    pub restarts: u32,
    /// Whether it holds a slot.
    pub holds_slot: bool,
    /// What keeps a queued run from starting, besides the slots: its engine is not there. Looked up when it is shown.
    #[serde(default)]
    pub blocked_by: Option<ErrorCode>,
    /// The walls around its agent as its last turn was started, or `off`; none for engines without a process.
    pub sandbox: Option<String>,
    /// The finished run whose conversation it took over.
    pub continues: Option<RunId>,
    /// Tokens and money.
    pub usage: Usage,
    /// Its oldest open question.
    pub pending: Option<InteractionView>,
    /// All of its open questions, the oldest first.
    pub open_interactions: Vec<InteractionId>,
    /// What came of it.
    pub result: Option<Value>,
    /// Why it failed.
    pub error: Option<RunError>,
    /// What was odd.
    pub warnings: Vec<Warning>,
    /// What its creator wanted to find it by.
    pub labels: std::collections::BTreeMap<String, String>,
    /// The number of the last frame of its stream.
    pub seq: u64,
    /// When it was created.
    #[serde(with = "wire")]
    pub created_at: Timestamp,
    /// When its last event was decided.
    #[serde(with = "wire")]
    pub updated_at: Timestamp,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ListedRun {
    /// What the journal has.
    #[serde(flatten)]
    pub row: RunRow,
    /// What keeps a queued run from starting, besides the slots: its engine is not there. Looked up when it is shown.
    #[serde(default)]
    pub blocked_by: Option<ErrorCode>,
}

/// What becomes of a process while its run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProfileView {
    /// The profile.
    pub kind: Profile,
}

impl RunView {
    /// The view of `run`.
    pub fn of(run: &Run) -> Self {
        let spec = run.spec();
        Self {
            run_id: run.id(),
            status: run.status(),
            skill: spec.skill.clone(),
            prompt: spec.prompt.clone(),
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
            blocked_by: None,
            sandbox: run.sandbox().map(str::to_owned),
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct InteractionView {
    /// Its number in its run.
    pub interaction_id: InteractionId,
    /// Where it is in its life.
    pub status: InteractionStatus,
    /// The attempt it was asked in.
    pub attempt_number: u32,
    /// Where it comes from.
    pub source: Source,
    /// The contract it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<ExecutionId>,
    /// What that contract would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_detail: Option<Value>,
    /// What is asked.
    #[serde(flatten)]
    pub question: Question,
    /// When it was asked.
    #[serde(with = "wire")]
    pub created_at: Timestamp,
    /// When something happens without an answer.
    #[serde(with = "wire::option")]
    pub deadline_at: Option<Timestamp>,
    /// The answer, of a question that was resolved; null where there was none.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
    /// When it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::option")]
    pub resolved_at: Option<Timestamp>,
    /// Who resolved it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<By>,
    /// The idempotency key that it was answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl InteractionView {
    /// Whether it still waits for an answer.
    pub fn is_open(&self) -> bool {
        self.status == InteractionStatus::Open
    }

    /// The call that this asks a person to allow; none where it asks anything else.
    pub fn approval(&self) -> Option<ToolCall> {
        match self.source {
            Source::Contract => ToolCall::deserialize(self.action_detail.as_ref()?).ok(),
            Source::Turn
            | Source::Permission
            | Source::Recovery
            | Source::Escalation
            | Source::Checkpoint => None,
        }
    }

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
            idempotency_key: resolution.and_then(|resolution| Some(resolution.key.as_ref()?.key.clone())),
        }
    }
}

named! {
    /// Whether it is known what became of a call.
    pub enum OutcomeKind {
        /// The status says it, or a person did.
        Known = "known",
        /// It may have happened, and a person has to say.
        Unknown = "unknown",
    }
}

/// A contract, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContractView {
    /// Its id.
    pub execution_id: ExecutionId,
    /// The run it belongs to.
    pub run_id: RunId,
    /// The attempt it was asked for in.
    pub attempt_number: u32,
    /// What it is for.
    pub action_type: ActionType,
    /// Service, method and arguments of a call; the form of a request.
    pub action_detail: Value,
    /// It must never be done twice.
    pub irreversible: bool,
    /// A digest of what is to be done.
    pub idempotency_key: String,
    /// How long it may take.
    pub timeout_seconds: Option<u32>,
    /// Where it is in its life.
    pub status: ContractStatus,
    /// When the call was made.
    #[serde(with = "wire::option")]
    pub dispatched_at: Option<Timestamp>,
    /// Whether it is known what became of it.
    pub outcome: OutcomeKind,
    /// What a person said became of it, after its result was lost.
    pub settled: Option<Settlement>,
    /// What came out.
    pub result: Option<Value>,
    /// Why nothing came out.
    pub error_message: Option<String>,
    /// Its way so far.
    pub transitions: Vec<TransitionView>,
    /// When it was recorded.
    #[serde(with = "wire")]
    pub created_at: Timestamp,
    /// When it last changed.
    #[serde(with = "wire")]
    pub updated_at: Timestamp,
}

/// One step on a contract's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransitionView {
    /// Where it was.
    pub from: ContractStatus,
    /// Where it went.
    pub to: ContractStatus,
    /// What made it go.
    pub trigger: ContractTrigger,
    /// Who did.
    pub actor: Actor,
    /// The time of it.
    #[serde(with = "wire")]
    pub timestamp: Timestamp,
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
                Outcome::Known | Outcome::Settled { .. } => OutcomeKind::Known,
                Outcome::Unknown => OutcomeKind::Unknown,
            },
            settled: match contract.outcome {
                Outcome::Settled { happened } => Some(Settlement::of(happened)),
                Outcome::Known | Outcome::Unknown => None,
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
