//! What the table has to clear up: conflicts, and questions that came up.

use serde::{Deserialize, Serialize};

use super::id::{ConflictId, OpenQuestionId, Role, TopicId};
use crate::Actor;
use crate::machines::{ConflictStatus, QuestionStatus};
use crate::names::named;

/// Positions that exclude each other, as they are brought up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewConflict {
    /// Its name.
    pub conflict_id: ConflictId,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// What it is about.
    pub title: String,
    /// Who holds what.
    pub positions: Vec<HeldPosition>,
}

/// A position, and who holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HeldPosition {
    /// The roles that hold it.
    pub held_by: Vec<Role>,
    /// The position, in words.
    pub position: String,
    /// The reasons for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
}

/// Positions that exclude each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// What it is about.
    pub about: NewConflict,
    /// Where it is in its life.
    pub status: ConflictStatus,
    /// The round it came up in.
    pub round: u32,
    /// How it was settled.
    pub resolution: Option<Settlement>,
}

impl Conflict {
    /// Whether nobody gave way yet.
    pub fn is_open(&self) -> bool {
        self.status == ConflictStatus::Open
    }

    /// Rounds that it has been open for after the round `now`, the one that it came up in included.
    pub(crate) fn rounds_open(&self, now: u32) -> u32 {
        (now + 1).saturating_sub(self.round)
    }
}

/// A question, as it comes up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewQuestion {
    /// Its name.
    pub question_id: OpenQuestionId,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// What is asked.
    pub text: String,
    /// Who asked.
    pub asked_by: Role,
}

/// A question that came up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenQuestion {
    /// What it is about.
    pub about: NewQuestion,
    /// Where it is in its life.
    pub status: QuestionStatus,
    /// The round it came up in.
    pub round: u32,
    /// How it was answered.
    pub resolution: Option<Settlement>,
}

impl OpenQuestion {
    /// Whether nobody answered yet.
    pub fn is_open(&self) -> bool {
        self.status == QuestionStatus::Open
    }
}

/// How a point was cleared up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
// What becomes of a call in doubt is called that, too.
#[cfg_attr(feature = "openapi", schema(as = PointSettlement))]
pub struct Settlement {
    /// The round after or in which it was.
    pub round: u32,
    /// What was settled.
    pub text: String,
    /// Who did.
    pub by: Settler,
}

named! {
    /// Who clears a point up.
    pub enum Settler {
        /// The table came to it.
        Facilitator = "facilitator",
        /// A person decided.
        User = "user",
    }
}

impl Settler {
    pub(crate) const fn actor(self) -> Actor {
        match self {
            Self::Facilitator => Actor::Facilitator,
            Self::User => Actor::User,
        }
    }
}
