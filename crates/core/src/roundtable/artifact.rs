//! The artifact: a numbered result, where it came from, and every version it ever had.

use serde::{Deserialize, Serialize};

use super::id::{ArtifactId, CriterionId, Role, TopicId};
use crate::interaction::By;
use crate::machine::Machine;
use crate::machines::{ArtifactMachine, ArtifactStatus, ArtifactTrigger};
use crate::names::named;
use crate::{Actor, Refused};

named! {
    /// How far the table agrees.
    pub enum Agreement {
        /// Everybody can live with it.
        Consensus = "consensus",
        /// Proposed, not yet agreed.
        Draft = "draft",
        /// Somebody is against it.
        Conflict = "conflict",
    }
}

/// What of an artifact can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = ArtifactVersion))]
pub struct Version {
    /// What people read first.
    pub title: String,
    /// What it says.
    pub body: String,
    /// How far the table agrees.
    pub agreement: Agreement,
    /// The criteria of its topic that it covers.
    #[serde(default)]
    pub covers: Vec<CriterionId>,
    /// Who is for it.
    #[serde(default)]
    pub supported_by: Vec<Role>,
}

/// A new artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewArtifact {
    /// Its name.
    pub artifact_id: ArtifactId,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// Who brought it up.
    pub proposed_by: Role,
    /// Its first version.
    #[serde(flatten)]
    pub version: Version,
}

/// A numbered result of a roundtable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its name.
    pub id: ArtifactId,
    /// Where it is in its life.
    pub status: ArtifactStatus,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// The round it came up in.
    pub round: u32,
    /// Who brought it up.
    pub proposed_by: Role,
    /// What it says now.
    pub version: Version,
    /// What it said before, the oldest first. Nothing of it is ever removed.
    pub amendments: Vec<Amendment>,
    /// How it went out of force.
    pub end: Option<ArtifactEnd>,
}

/// One change of an artifact that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Amendment {
    /// The round it was made in.
    pub round: u32,
    /// What was done.
    pub change: AmendmentKind,
    /// The reason for it.
    pub reason: String,
    /// Who wanted it: a role, or `user` for a person.
    pub by: Role,
    /// The person who wanted it; none where it was a role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<By>,
    /// The whole version before it.
    pub before: Version,
}

named! {
    /// What an amendment did.
    pub enum AmendmentKind {
        /// It said something new.
        Amend = "amend",
        /// It took the last amendment back.
        Revert = "revert",
    }
}

/// How an artifact went out of force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEnd {
    /// The round in which it did.
    pub round: u32,
    /// What replaced it; none where it was withdrawn.
    pub superseded_by: Option<ArtifactId>,
    /// The reason for it.
    pub reason: Option<String>,
    /// The person who ended it; none where the facilitator did.
    pub person: Option<By>,
}

/// What happens to an artifact after it was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactChange {
    /// Changed in the round it came up in: nobody relied on it yet, so nothing is kept of how it was.
    Edited {
        /// What it says now.
        version: Version,
    },
    /// Changed in a later round.
    Amended {
        /// What it says now.
        version: Version,
        /// The reason for it.
        reason: String,
        /// Who wanted it.
        by: Role,
    },
    /// The last amendment was taken back.
    Reverted {
        /// The reason for it.
        reason: String,
        /// Who wanted it.
        by: Role,
    },
    /// Replaced.
    Superseded {
        /// By which one.
        by: ArtifactId,
        /// The reason for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Taken out.
    Withdrawn {
        /// The reason for it.
        reason: String,
    },
}

impl ArtifactChange {
    /// What it does to the artifact's status; nothing for an edit.
    pub(crate) const fn trigger(&self) -> Option<ArtifactTrigger> {
        match self {
            Self::Edited { .. } => None,
            Self::Amended { .. } => Some(ArtifactTrigger::Amend),
            Self::Reverted { .. } => Some(ArtifactTrigger::Revert),
            Self::Superseded { .. } => Some(ArtifactTrigger::Supersede),
            Self::Withdrawn { .. } => Some(ArtifactTrigger::Withdraw),
        }
    }
}

impl Artifact {
    /// A new artifact of `round`.
    pub(crate) fn new(new: &NewArtifact, round: u32) -> Self {
        Self {
            id: new.artifact_id,
            status: ArtifactStatus::Active,
            topic_id: new.topic_id.clone(),
            round,
            proposed_by: new.proposed_by.clone(),
            version: new.version.clone(),
            amendments: Vec::new(),
            end: None,
        }
    }

    /// Whether it is in force.
    pub fn is_living(&self) -> bool {
        !self.status.is_terminal()
    }

    /// The status that a change leads to, or why there is no such change.
    pub(crate) fn after(&self, change: &ArtifactChange, actor: Actor) -> Result<ArtifactStatus, Refused> {
        match change.trigger() {
            Some(trigger) => ArtifactMachine::step(self.status, trigger, actor),
            // There is no edge for an edit, but what is final does not change in any way.
            None if self.status.is_terminal() => {
                ArtifactMachine::step(self.status, ArtifactTrigger::Amend, actor)
            }
            None => Ok(self.status),
        }
    }

    /// Adds a change of `round` up, by a person or by the facilitator.
    pub(crate) fn change(
        &mut self,
        change: &ArtifactChange,
        round: u32,
        person: Option<&By>,
    ) -> Result<(), Refused> {
        self.status = self.after(change, person.map_or(Actor::Facilitator, By::actor))?;
        let person = person.cloned();
        match change {
            ArtifactChange::Edited { version } => self.version.clone_from(version),
            ArtifactChange::Amended { version, reason, by } => {
                let (change, reason, by) = (AmendmentKind::Amend, reason.clone(), by.clone());
                let before = std::mem::replace(&mut self.version, version.clone());
                self.amendments.push(Amendment { round, change, reason, by, person, before });
            }
            ArtifactChange::Reverted { reason, by } => {
                // The table takes a revert only while the last amendment is one that was not taken back.
                if let Some(last) = self.amendments.last() {
                    let (change, reason, by) = (AmendmentKind::Revert, reason.clone(), by.clone());
                    let before = std::mem::replace(&mut self.version, last.before.clone());
                    self.amendments.push(Amendment { round, change, reason, by, person, before });
                }
            }
            ArtifactChange::Superseded { by, reason } => {
                let reason = reason.clone();
                self.end = Some(ArtifactEnd { round, superseded_by: Some(*by), reason, person });
            }
            ArtifactChange::Withdrawn { reason } => {
                let reason = Some(reason.clone());
                self.end = Some(ArtifactEnd { round, superseded_by: None, reason, person });
            }
        }
        Ok(())
    }
}
