//! What a roundtable is about, who sits at it, and what limits it. Written once, with its opening.

mod check;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use check::{PARTICIPANTS_MAX, ROUNDS_MAX, TOPICS_MAX};

use super::answer::Confidence;
use super::export::Document;
use super::id::{CriterionId, Role, TopicId};
use crate::names::named;

/// What a roundtable is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundtableSpec {
    /// What is discussed.
    pub subject: String,
    /// The workflow that the agenda comes from, by its name.
    pub workflow: String,
    /// What comes out of it.
    #[serde(default = "requirements", skip_serializing_if = "is_requirements")]
    pub document: Document,
    /// How it is discussed: the name of a [`Strategy`](super::Strategy).
    pub strategy: String,
    /// How long it may take, and when a person is asked.
    #[serde(default)]
    pub limits: Limits,
    /// What has to be settled.
    pub agenda: Vec<TopicSpec>,
    /// Who leads.
    pub facilitator: Seat,
    /// Who takes part, in the order in which they are asked.
    pub participants: Vec<Seat>,
    /// Whether a person looks at every round.
    #[serde(default = "continuous", skip_serializing_if = "is_continuous")]
    pub pace: Pace,
    /// What everybody has to know beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What its creator wants to find it by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// An item of the agenda.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopicSpec {
    /// Its name.
    pub topic_id: TopicId,
    /// What people read.
    pub title: String,
    /// Low confidence here is worth a person's time.
    #[serde(default)]
    pub critical: bool,
    /// When it is settled.
    pub done_when: DoneWhen,
}

/// When a topic is settled: all of it has to hold.
///
/// The names in the journal are not those of the fields. `min_requirements` once counted artifacts of any kind, and a
/// roundtable that was opened then keeps that meaning: what its journal calls so is read as `min_artifacts`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DoneWhen {
    /// What has to be covered, each by an artifact that is in force.
    #[serde(default)]
    pub criteria: Vec<Criterion>,
    /// How many requirements of the topic have to be in force.
    #[serde(default, rename = "min_of_kind_requirement", skip_serializing_if = "is_zero")]
    pub min_requirements: u32,
    /// How many artifacts of the topic, of any kind, have to be in force.
    #[serde(default, rename = "min_requirements")]
    pub min_artifacts: u32,
}

/// One thing that has to be covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name, which artifacts refer to.
    pub id: CriterionId,
    /// What it says.
    pub text: String,
}

/// A place at the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Seat {
    /// Who sits there.
    pub role: Role,
    /// The engine that plays the role.
    pub engine: String,
    /// Whether the agent remembers the rounds before.
    pub memory: Memory,
    /// Which side it takes, where the strategy has sides; none is neutral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
}

impl Seat {
    /// The seat of the agent that leads: it remembers.
    pub fn facilitator(engine: impl Into<String>) -> Self {
        Self { role: Role::facilitator(), engine: engine.into(), memory: Memory::Resume, side: None }
    }

    /// The seat of a participant: a fresh agent each round.
    pub fn participant(role: impl Into<String>, engine: impl Into<String>) -> Self {
        Self { role: Role::new(role), engine: engine.into(), memory: Memory::Fresh, side: None }
    }
}

named! {
    /// Whether an agent remembers the rounds before.
    pub enum Memory {
        /// It takes up its own conversation, and is told what changed meanwhile.
        Resume = "resume",
        /// It begins anew each time.
        Fresh = "fresh",
    }
}

named! {
    /// A side of a debate.
    pub enum Side {
        /// Speaks for it.
        For = "for",
        /// Speaks against it.
        Against = "against",
    }
}

named! {
    /// Whether a person looks at every round.
    pub enum Pace {
        /// Round follows round until something needs a person.
        Continuous = "continuous",
        /// After each round a person says how to go on.
        Checkpoints = "checkpoints",
    }
}

/// How long a roundtable may take, and when a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limits {
    /// Rounds before it may end by itself.
    pub min_rounds: u32,
    /// Rounds after which it ends.
    pub max_rounds: u32,
    /// Rounds that a conflict may stay open, the one that it came up in included.
    pub max_rounds_per_conflict: u32,
    /// An answer with less confidence on a critical topic needs a person.
    pub confidence_below: Confidence,
    /// Rounds for which the same cause asks no person again.
    pub escalation_cooldown_rounds: u32,
}

impl Default for Limits {
    /// Three rounds are one to collect, one to contradict, one to agree; what is not settled in twenty needs people.
    fn default() -> Self {
        Self {
            min_rounds: 3,
            max_rounds: 20,
            max_rounds_per_conflict: 3,
            confidence_below: Confidence::HALF,
            escalation_cooldown_rounds: 1,
        }
    }
}

impl RoundtableSpec {
    /// The seat of a role, the facilitator's included.
    pub fn seat(&self, role: &Role) -> Option<&Seat> {
        std::iter::once(&self.facilitator).chain(&self.participants).find(|seat| seat.role == *role)
    }

    /// The topic of this name.
    pub fn topic(&self, id: &TopicId) -> Option<&TopicSpec> {
        self.agenda.iter().find(|topic| topic.topic_id == *id)
    }
}

fn requirements() -> Document {
    Document::Requirements
}

fn is_requirements(document: &Document) -> bool {
    *document == Document::Requirements
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

fn continuous() -> Pace {
    Pace::Continuous
}

fn is_continuous(pace: &Pace) -> bool {
    *pace == Pace::Continuous
}
