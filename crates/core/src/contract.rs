//! The contract: the record of one effect on the world, or of one question that an agent put as a tool call.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::named;
use crate::{
    Actor, Claim, ClaimKey, ContractRow, ContractStatus, ContractTrigger, ExecutionId, Holder,
    IdempotencyKey, Question, RunId, Timestamp, ToolDigest,
};

/// What a contract is for, as it was asked for. Written once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContractSpec {
    /// Its name.
    pub execution_id: ExecutionId,
    /// What is to be done.
    pub action: ContractAction,
    /// It must never be done twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub irreversible: bool,
    /// A digest of what is to be done.
    pub idempotency_key: IdempotencyKey,
    /// Where that digest is unique among irreversible contracts.
    pub scope: String,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// The contract that a person edited into this one; it needs no further approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_from: Option<ExecutionId>,
    /// What the engine that asked for it knows it by, so that it finds it again after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_ref: Option<String>,
    /// The digest of the tool's definition; none for a question, and in journals that were written before it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<ToolDigest>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractAction {
    /// A tool is called.
    ToolCall(ToolCall),
    /// A person is asked.
    EcsRequest(Question),
}

named! {
    /// What a contract is for, on the wire.
    pub enum ActionType {
        /// A tool is called.
        ToolCall = "tool_call",
        /// A person is asked.
        EcsRequest = "ecs_request",
    }
}

impl ContractAction {
    /// Its kind, on the wire.
    pub const fn kind(&self) -> ActionType {
        match self {
            Self::ToolCall(_) => ActionType::ToolCall,
            Self::EcsRequest(_) => ActionType::EcsRequest,
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The server that has the tool.
    pub service: String,
    /// The tool.
    pub method: String,
    /// What it is called with.
    pub arguments: Value,
}

/// A contract and all that became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// What it is for.
    pub spec: ContractSpec,
    /// The attempt it was asked for in.
    pub attempt_number: u32,
    /// Where it is in its life.
    pub status: ContractStatus,
    /// When the call was about to be made: from here on it may have happened.
    pub dispatched_at: Option<Timestamp>,
    /// A person allowed exactly this call of exactly this tool.
    pub approved: bool,
    /// The digest of the tool's definition that the call was asked for, and allowed, with.
    pub definition: Option<ToolDigest>,
    /// The tool wants to know something before it does anything.
    pub paused: Option<Paused>,
    /// Whether it is known what became of it.
    pub outcome: Outcome,
    /// What came out.
    pub result: Option<Value>,
    /// Why nothing came out.
    pub error_message: Option<String>,
    /// Its way so far.
    pub transitions: Vec<Transition>,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A call that its tool answered with a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Paused {
    /// All that is needed to make the call again, in the words of whoever makes it.
    pub state: Value,
    /// The answer, as soon as there is one.
    pub answer: Option<Value>,
}

/// Whether it is known what became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Its status says it.
    Known,
    /// It was dispatched and its result was lost.
    Unknown,
    /// Its result was lost, and a person said later what became of it.
    Settled {
        /// It happened.
        happened: bool,
    },
}

/// One step on a contract's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Where it was.
    pub from: ContractStatus,
    /// Where it went.
    pub to: ContractStatus,
    /// What made it go.
    pub trigger: ContractTrigger,
    /// Who did.
    pub actor: Actor,
    /// The time of it.
    pub at: Timestamp,
}

impl Contract {
    /// A contract that was just recorded.
    pub fn new(spec: ContractSpec, attempt_number: u32, at: Timestamp) -> Self {
        let approved = spec.edited_from.is_some();
        Self {
            definition: spec.definition.clone(),
            spec,
            attempt_number,
            status: ContractStatus::Pending,
            dispatched_at: None,
            approved,
            paused: None,
            outcome: Outcome::Known,
            result: None,
            error_message: None,
            transitions: Vec::new(),
            created_at: at,
            updated_at: at,
        }
    }

    /// It may have happened, or may still happen: no other contract may do the same.
    pub fn holds_its_key(&self) -> bool {
        let may_have_happened = match self.outcome {
            Outcome::Unknown => true,
            Outcome::Settled { happened } => happened,
            Outcome::Known => match self.status {
                ContractStatus::Pending
                | ContractStatus::Running
                | ContractStatus::Waiting
                | ContractStatus::Completed => true,
                ContractStatus::Failed | ContractStatus::Rejected | ContractStatus::Cancelled => false,
            },
        };
        self.spec.irreversible && may_have_happened
    }

    /// A person said all there was to say, and the call only has to be made.
    pub fn is_cleared(&self) -> bool {
        let is_allowed = match &self.paused {
            Some(paused) => paused.answer.is_some(),
            None => self.approved,
        };
        let is_held = match self.status {
            ContractStatus::Pending | ContractStatus::Waiting => true,
            ContractStatus::Running
            | ContractStatus::Completed
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled => false,
        };
        is_allowed && is_held && self.dispatched_at.is_none()
    }

    /// It has ended, and it is known how: nothing of it will be done any more.
    pub fn is_over(&self) -> bool {
        self.status.is_terminal() && self.outcome != Outcome::Unknown
    }

    /// The call was dispatched, nobody knows its result, and it must not be made again.
    pub fn is_in_doubt(&self) -> bool {
        self.spec.irreversible && self.dispatched_at.is_some() && !self.status.is_terminal()
    }

    /// The key it holds while it [may have happened](Self::holds_its_key).
    pub fn claim(&self, run_id: RunId) -> Claim {
        Claim {
            key: self.spec.claim_key(),
            holder: Holder {
                stream: run_id.into(),
                execution_id: Some(self.spec.execution_id),
                digest: None,
            },
        }
    }

    /// Where it is found.
    pub fn row(&self, run_id: RunId) -> ContractRow {
        ContractRow {
            execution_id: self.spec.execution_id,
            run_id,
            status: self.status,
            unknown: self.outcome == Outcome::Unknown,
        }
    }

    /// What the agent is told about it.
    pub fn consequence(&self) -> Consequence {
        Consequence {
            execution_id: self.spec.execution_id,
            status: self.status,
            result: self.result.clone(),
            error_message: self.error_message.clone(),
            outcome_unknown: self.outcome == Outcome::Unknown,
            assumed: false,
            arguments: None,
        }
    }
}

impl ContractSpec {
    /// The key that only one irreversible contract may hold.
    pub fn claim_key(&self) -> ClaimKey {
        ClaimKey { scope: self.scope.clone(), key: self.idempotency_key.to_string() }
    }
}

/// What an agent is told about a contract: fields to read, never a text to parse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Consequence {
    /// The contract.
    pub execution_id: ExecutionId,
    /// How it stands.
    pub status: ContractStatus,
    /// What came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why nothing came out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Nobody knows whether it happened: it must not be tried again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outcome_unknown: bool,
    /// Nobody was there to answer the question, and the result is an assumption.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub assumed: bool,
    /// What the call was made with, where a person changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
}
