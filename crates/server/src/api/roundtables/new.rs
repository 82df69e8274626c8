//! The body of `POST /v1/roundtables`, as it is described.
//!
//! It is read by the runtime, which says everything that is wrong with it at once.

use std::collections::BTreeMap;

use adjourn_core::roundtable::{Confidence, Memory, Side};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What to discuss, and who does.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "subject": "a shop for bicycles", "workflow": "specs", "participants": ["product", "architect", "qa"] }))]
pub(crate) struct NewRoundtable {
    /// What is discussed.
    #[schema(pattern = r"\S", max_length = 4096)]
    subject: String,
    /// By default `specs`.
    workflow: Option<NewWorkflow>,
    /// By default the workflow's: `standard`, `debate`, `disney`, `consensus-driven` or `six-hats`.
    strategy: Option<String>,
    /// The engine of everybody who has none of their own; by default the first that is installed.
    engine: Option<String>,
    /// The engines of single roles, `facilitator` included: `{"qa": "codex"}`. They come before those of the workflow.
    engines: Option<BTreeMap<String, String>>,
    facilitator: Option<NewFacilitator>,
    /// Who takes part; by default those of the workflow.
    #[schema(min_items = 1, max_items = 20)]
    participants: Option<Vec<NewParticipant>>,
    /// A person is asked after each round how to go on.
    interactive: Option<bool>,
    /// What everybody has to know beforehand.
    #[schema(max_length = 65_536)]
    context: Option<String>,
    limits: Option<NewLimits>,
    /// What to find it by.
    labels: Option<BTreeMap<String, String>>,
}

/// A workflow: one that is built in, by its name, or your own.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
enum NewWorkflow {
    /// `specs`, `design` or `brainstorm`.
    Named(String),
    /// Your own.
    Given(GivenWorkflow),
}

/// A workflow of your own.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GivenWorkflow {
    /// Its text.
    yaml: String,
    /// The name of its file, for messages.
    file: Option<String>,
}

/// Who leads.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewFacilitator {
    engine: Option<String>,
    /// By default the workflow's, else `resume`: it takes up its own conversation from step to step.
    memory: Option<Memory>,
}

/// Who takes part: a role, or more about one.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
enum NewParticipant {
    /// The role.
    Role(String),
    /// More about it.
    Seat(NewSeat),
}

/// A place at the table.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewSeat {
    role: String,
    /// The engine that plays it.
    engine: Option<String>,
    /// By default `fresh`: a new agent each round.
    memory: Option<Memory>,
    /// Which side it takes, in a debate.
    side: Option<Side>,
}

/// Limits that differ from those of the workflow.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewLimits {
    /// Rounds before it may end by itself.
    #[schema(minimum = 1, maximum = 100)]
    min_rounds: Option<u32>,
    /// Rounds after which it ends.
    #[schema(minimum = 1, maximum = 100)]
    max_rounds: Option<u32>,
    /// Rounds that a conflict may stay open before a person is asked.
    #[schema(minimum = 1)]
    max_rounds_per_conflict: Option<u32>,
    /// An answer with less confidence on a critical topic needs a person.
    confidence_below: Option<Confidence>,
    /// Rounds for which the same cause asks no person again.
    escalation_cooldown_rounds: Option<u32>,
}
