//! What a participant says in a round.

use serde::{Deserialize, Serialize};

use super::id::Role;
use crate::RunId;
use crate::names::named;

/// How sure somebody is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// As sure as not.
    pub const HALF: Self = Self(0.5);

    /// That much, if it is a confidence at all.
    pub fn new(value: f64) -> Result<Self, BadConfidence> {
        if (0.0..=1.0).contains(&value) { Ok(Self(value)) } else { Err(BadConfidence(value)) }
    }

    /// How much.
    pub const fn value(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = BadConfidence;

    fn try_from(value: f64) -> Result<Self, BadConfidence> {
        Self::new(value)
    }
}

/// A number that is no confidence.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a confidence is a number from 0 to 1, not {0}")]
pub struct BadConfidence(f64);

named! {
    /// How far a participant goes along with what was proposed.
    pub enum Stance {
        /// Is for it.
        Support = "support",
        /// Is not for it, and does not stand in its way.
        StandAside = "stand_aside",
        /// Cannot live with it.
        Block = "block",
    }
}

/// What a participant says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Position {
    /// What it holds.
    pub position: String,
    /// The reasons for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// How sure it is.
    pub confidence: Confidence,
    /// How far it goes along, where the phase asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stance: Option<Stance>,
}

/// What a participant said in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ParticipantAnswer))]
pub struct Answer {
    /// The role.
    pub role: Role,
    /// The run that played the role.
    pub run_id: RunId,
    /// The position that was taken.
    #[serde(flatten)]
    pub said: Position,
}
