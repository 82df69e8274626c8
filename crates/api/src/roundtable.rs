//! The request for a roundtable.

use std::collections::BTreeMap;

use adjourn_core::roundtable::{Confidence, Limits, Memory, Side};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::read::text_or_object;

/// What to discuss, and who does.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "subject": "a shop for bicycles", "workflow": "specs", "participants": ["product", "architect", "qa"] }))]
pub struct NewRoundtable {
    /// What is discussed.
    #[schema(pattern = r"\S", max_length = 4096)]
    pub subject: String,
    /// By default `specs`.
    pub workflow: Option<NewWorkflow>,
    /// By default the workflow's: `standard`, `debate`, `disney`, `consensus-driven` or `six-hats`.
    pub strategy: Option<String>,
    /// The engine of everybody who has none of their own; by default the first that is installed.
    pub engine: Option<String>,
    /// The engines of single roles, `facilitator` included: `{"qa": "codex"}`. They come before those of the workflow.
    pub engines: Option<BTreeMap<String, String>>,
    #[allow(missing_docs, reason = "its type says what it is")]
    pub facilitator: Option<NewFacilitator>,
    /// Who takes part; by default those of the workflow.
    #[schema(min_items = 1, max_items = 20)]
    pub participants: Option<Vec<NewParticipant>>,
    /// A person is asked after each round how to go on.
    pub interactive: Option<bool>,
    /// What everybody has to know beforehand.
    #[schema(max_length = 65_536)]
    pub context: Option<String>,
    #[allow(missing_docs, reason = "its type says what it is")]
    pub limits: Option<NewLimits>,
    /// What to find it by.
    pub labels: Option<BTreeMap<String, String>>,
}

impl NewRoundtable {
    /// A roundtable about `subject`, everything else at its default.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ..Self::default() }
    }
}

/// A workflow: one that is built in, by its name, or your own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum NewWorkflow {
    /// `specs`, `design` or `brainstorm`.
    Named(String),
    /// Your own.
    Given(GivenWorkflow),
}

impl<'de> Deserialize<'de> for NewWorkflow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "the name of a workflow, or an object with its text in `yaml`";
        text_or_object(deserializer, expecting, Self::Named, Self::Given)
    }
}

/// A workflow of your own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenWorkflow {
    /// Its text.
    pub yaml: String,
    /// The name of its file, for messages.
    pub file: Option<String>,
}

/// Who leads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewFacilitator {
    #[allow(missing_docs, reason = "the name says what it is")]
    pub engine: Option<String>,
    /// By default the workflow's, else `resume`: it takes up its own conversation from step to step.
    pub memory: Option<Memory>,
}

/// Who takes part: a role, or more about one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum NewParticipant {
    /// The role.
    Role(String),
    /// More about it.
    Seat(NewSeat),
}

impl NewParticipant {
    /// Everything that is said about it.
    pub fn seat(&self) -> NewSeat {
        match self {
            Self::Role(role) => NewSeat { role: role.clone(), engine: None, memory: None, side: None },
            Self::Seat(seat) => seat.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for NewParticipant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "the name of a role, or an object with `role`";
        text_or_object(deserializer, expecting, Self::Role, Self::Seat)
    }
}

/// A place at the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSeat {
    #[allow(missing_docs, reason = "the name says what it is")]
    pub role: String,
    /// The engine that plays it.
    pub engine: Option<String>,
    /// By default `fresh`: a new agent each round.
    pub memory: Option<Memory>,
    /// Which side it takes, in a debate.
    pub side: Option<Side>,
}

/// Limits that differ from those of the workflow.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLimits {
    /// Rounds before it may end by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub min_rounds: Option<u32>,
    /// Rounds after which it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub max_rounds: Option<u32>,
    /// Rounds that a conflict may stay open before a person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 4_294_967_295_u64)]
    pub max_rounds_per_conflict: Option<u32>,
    /// An answer with less confidence on a critical topic needs a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence_below: Option<Confidence>,
    /// Rounds for which the same cause asks no person again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, maximum = 4_294_967_295_u64)]
    pub escalation_cooldown_rounds: Option<u32>,
}

impl NewLimits {
    /// These limits, and where they say nothing, those of the workflow.
    pub fn or(self, workflow: Limits) -> Limits {
        Limits {
            min_rounds: self.min_rounds.unwrap_or(workflow.min_rounds),
            max_rounds: self.max_rounds.unwrap_or(workflow.max_rounds),
            max_rounds_per_conflict: self.max_rounds_per_conflict.unwrap_or(workflow.max_rounds_per_conflict),
            confidence_below: self.confidence_below.unwrap_or(workflow.confidence_below),
            escalation_cooldown_rounds: self
                .escalation_cooldown_rounds
                .unwrap_or(workflow.escalation_cooldown_rounds),
        }
    }
}
