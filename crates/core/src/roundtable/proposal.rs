//! What a facilitator proposes at the end of a round. It proposes; whether it comes to that is decided here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::Agreement;
use super::id::{ArtifactKind, CriterionId, Role, TopicId};
use super::next::NextAction;
use super::point::HeldPosition;
use crate::names::named;

/// Proposals that one synthesis may hold: far more than a round of answers gives rise to, and few enough to be read.
pub const PROPOSALS_MAX: usize = 200;

/// The question that a facilitator opens a round with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// What the round is about.
    #[serde(default)]
    pub focus: Option<Aim>,
    /// The question to everybody.
    pub question: String,
    /// What everybody should know to answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What somebody in particular should look at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub directives: BTreeMap<Role, String>,
}

/// What a round should be about, in the facilitator's words: there need not be such a thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aim {
    /// What kind of thing.
    pub kind: FocusKind,
    /// Its name.
    pub id: String,
}

named! {
    /// What a round can be about.
    pub enum FocusKind {
        /// A topic of the agenda.
        Topic = "topic",
        /// A conflict.
        Conflict = "conflict",
        /// A question that came up.
        Question = "question",
    }
}

/// What a facilitator makes of the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Synthesis {
    /// Where the table stands.
    pub summary: String,
    /// What should be written down: each a [`Proposal`], kept as it was said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Value>,
    /// What should come next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextAction>,
    /// What a person should decide, if one is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<String>,
}

/// Something that should be written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Proposal {
    /// A new result.
    CreateArtifact(CreateArtifact),
    /// Another version of a result.
    AmendArtifact {
        /// Which: an id, or the label of one that the same synthesis creates.
        artifact: String,
        /// What is new; what is left out stays.
        #[serde(flatten)]
        changes: Changes,
        /// The reason for it.
        reason: String,
        /// Who wants it.
        proposed_by: Role,
    },
    /// The version before the last amendment.
    RevertArtifact {
        /// The artifact, by its id.
        artifact: String,
        /// The reason for it.
        reason: String,
        /// Who wants it.
        proposed_by: Role,
    },
    /// A newer result in place of an older one.
    SupersedeArtifact {
        /// Which one goes.
        artifact: String,
        /// Which one takes its place.
        by: String,
        /// The reason for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A result that no longer holds.
    WithdrawArtifact {
        /// The artifact, by its id.
        artifact: String,
        /// The reason for it.
        reason: String,
    },
    /// Positions that exclude each other.
    OpenConflict {
        /// The topic; that of the round if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic_id: Option<TopicId>,
        /// What it is about.
        title: String,
        /// Who holds what.
        positions: Vec<HeldPosition>,
    },
    /// A conflict that was settled.
    ResolveConflict {
        /// The conflict, by its id.
        conflict: String,
        /// The resolution, in words.
        resolution: String,
    },
    /// A question that came up.
    OpenQuestion {
        /// The topic; that of the round if none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        topic_id: Option<TopicId>,
        /// What is asked.
        text: String,
        /// Who asks.
        asked_by: Role,
    },
    /// A question that was answered.
    ResolveQuestion {
        /// The question, by its id.
        question: String,
        /// The answer.
        resolution: String,
    },
}

/// A new result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CreateArtifact {
    /// What the rest of the synthesis calls it, before it has a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is.
    pub kind: ArtifactKind,
    /// The topic; that of the round if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_id: Option<TopicId>,
    /// What people read first.
    pub title: String,
    /// What it says.
    pub body: String,
    /// How far the table agrees.
    #[serde(default = "draft")]
    pub agreement: Agreement,
    /// The criteria of its topic that it covers.
    #[serde(default)]
    pub covers: Vec<CriterionId>,
    /// Who brought it up.
    pub proposed_by: Role,
    /// Who is for it.
    #[serde(default)]
    pub supported_by: Vec<Role>,
}

/// What is new about a result; what is left out stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Changes {
    /// The title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How far the table agrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
    /// The criteria that it covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covers: Option<Vec<CriterionId>>,
    /// Who is for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_by: Option<Vec<Role>>,
}

/// A proposal that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedProposal {
    /// Its place in the synthesis, counted from 1.
    pub number: usize,
    /// Why, for the facilitator to read.
    pub reason: String,
}

fn draft() -> Agreement {
    Agreement::Draft
}
