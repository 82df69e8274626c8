//! What can be asked of a roundtable, in the imperative.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::answer::Position;
use super::escalation::EscalationWish;
use super::id::{ArtifactId, Role};
use super::proposal::{Ask, Changes, Synthesis};
use super::round::Purpose;
use super::spec::RoundtableSpec;
use crate::interaction::{By, ReplyKey};
use crate::{ClaimKey, InteractionId, RunId};

/// Something asked of a roundtable.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Open it.
    Open(Box<Open>),
    /// Begin the next round.
    OpenRound,
    /// Write down which run plays a role, before that run is created.
    StartActivation {
        /// What for.
        purpose: Purpose,
        /// The run that is created after the commit.
        run_id: RunId,
        /// What the agent remembers.
        start: Start,
    },
    /// The facilitator asks.
    RecordFocus {
        /// The run that asks.
        run_id: RunId,
        /// The question, and what it is about.
        ask: Ask,
    },
    /// A participant answers.
    RecordAnswer {
        /// The run that answers.
        run_id: RunId,
        /// The position that was taken.
        said: Position,
    },
    /// The facilitator draws the answers together.
    RecordSynthesis {
        /// The run that does.
        run_id: RunId,
        /// What it makes of them.
        synthesis: Synthesis,
    },
    /// A run came to nothing: it failed, was canceled, or said nothing that could be read.
    ReportLost {
        /// The run.
        run_id: RunId,
        /// The reason for it.
        reason: String,
    },
    /// Apply what was proposed, and say what comes next.
    RecordRound,
    /// Answer a question.
    Reply(Reply),
    /// Ask to be asked.
    Escalate(EscalationWish),
    /// Change a result, as a person.
    ChangeArtifact(Box<ChangeArtifact>),
    /// Break it off.
    Close(By),
    /// It cannot go on.
    Fail {
        /// What went wrong.
        problem: String,
    },
}

/// The opening of a roundtable.
#[derive(Debug, Clone, PartialEq)]
pub struct Open {
    /// What it is about.
    pub spec: RoundtableSpec,
    /// The roles that can be played here.
    pub known_roles: BTreeSet<Role>,
    /// The idempotency key that it was asked for with.
    pub key: Option<ReplyKey>,
}

/// The key that an opening holds.
pub fn open_key(key: &str) -> ClaimKey {
    ClaimKey { scope: "create_roundtable".to_owned(), key: key.to_owned() }
}

/// What an agent remembers when it is activated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Nothing.
    Fresh,
    /// What it said and heard in this run.
    Resume(RunId),
    /// Nothing, although it should: its conversation is lost.
    Fallback {
        /// The run whose conversation it was.
        lost: RunId,
        /// Why it is lost.
        reason: String,
    },
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Which question.
    pub interaction_id: InteractionId,
    /// The answer.
    pub response: Value,
    /// Who answers.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<ReplyKey>,
}

/// A change that a person makes to a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeArtifact {
    /// The result.
    pub artifact_id: ArtifactId,
    /// What changes.
    pub change: PersonChange,
    /// The reason for it.
    pub reason: String,
    /// Who changes it.
    pub by: By,
    /// The idempotency key that it was sent with.
    pub key: Option<ReplyKey>,
}

/// What a person can do to a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonChange {
    /// Have it say something else; what is left out stays.
    Amend(Changes),
    /// Restore the version before the last amendment.
    Revert,
    /// Put a newer result in its place.
    Supersede {
        /// The newer one.
        by: ArtifactId,
    },
    /// Take it out.
    Withdraw,
}
