//! The facts of a roundtable, in the past tense. Its journal is made of these.

use serde::{Deserialize, Serialize};

use super::answer::Position;
use super::artifact::{ArtifactChange, NewArtifact};
use super::escalation::{Escalation, EscalationWish};
use super::id::{ArtifactId, ConflictId, OpenQuestionId, Role, TopicId};
use super::interaction::{Matter, Word};
use super::point::{NewConflict, NewQuestion, Settler};
use super::proposal::{RefusedProposal, Synthesis};
use super::round::{Asked, Missing, NextDecision, Purpose};
use super::spec::RoundtableSpec;
use crate::interaction::{By, ReplyKey};
use crate::machines::{RoundtableTrigger, TopicStatus, TopicTrigger};
use crate::stream::SetAside;
use crate::{InteractionId, Question, RoundtableRow, RunId};

/// Something that happened at a roundtable.
///
/// What is stored is exactly this, as JSON; fields at their default are left out. A variant or a field may be added,
/// none may ever change its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The roundtable was opened.
    Opened(Box<RoundtableSpec>),
    /// A round began.
    RoundOpened {
        /// Counted from 1.
        number: u32,
        /// The phase of the strategy.
        phase: String,
        /// Who is asked, in order.
        speakers: Vec<Role>,
    },
    /// A run is about to play a role.
    ActivationStarted {
        /// What for.
        purpose: Purpose,
        /// The run.
        run_id: RunId,
        /// The run whose conversation it takes up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        continues: Option<RunId>,
    },
    /// A conversation that should have been taken up is lost, and the agent began anew.
    ResumeFellBack {
        /// Whose.
        role: Role,
        /// The run that it was the conversation of.
        lost: RunId,
        /// Why it is lost.
        reason: String,
    },
    /// The facilitator's run came to nothing.
    FacilitatorLost {
        /// The run.
        run_id: RunId,
        /// The reason for it.
        reason: String,
    },
    /// The facilitator asked.
    FocusRecorded {
        /// The run that did.
        run_id: RunId,
        /// The question, and what it is about.
        asked: Asked,
    },
    /// A participant answered.
    AnswerRecorded {
        /// The role.
        role: Role,
        /// The run that did.
        run_id: RunId,
        /// The position that was taken.
        said: Position,
    },
    /// A participant said nothing.
    ParticipantMissing {
        /// The run that should have.
        run_id: RunId,
        /// Who, and why.
        #[serde(flatten)]
        missing: Missing,
    },
    /// Everybody answered or is missing.
    ResponsesCollected,
    /// The facilitator drew the answers together.
    SynthesisRecorded {
        /// The run that did.
        run_id: RunId,
        /// What it made of them.
        synthesis: Synthesis,
    },
    /// There is a new result.
    ArtifactCreated(Box<NewArtifact>),
    /// A result changed.
    ArtifactChanged {
        /// The artifact.
        id: ArtifactId,
        /// The change.
        change: ArtifactChange,
        /// The person who changed it; none where the facilitator did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<PersonMark>,
    },
    /// Positions exclude each other.
    ConflictOpened(NewConflict),
    /// A conflict was settled.
    ConflictResolved {
        /// The conflict.
        id: ConflictId,
        /// The resolution, in words.
        resolution: String,
        /// By whom.
        by: Settler,
    },
    /// A question came up.
    QuestionOpened(NewQuestion),
    /// A question was answered.
    QuestionResolved {
        /// The question.
        id: OpenQuestionId,
        /// The resolution, in words.
        resolution: String,
        /// By whom.
        by: Settler,
    },
    /// A topic's status changed, along an edge of its table.
    TopicChanged {
        /// The topic.
        topic_id: TopicId,
        /// What it was.
        from: TopicStatus,
        /// What it is.
        to: TopicStatus,
        /// What made it change.
        trigger: TopicTrigger,
    },
    /// What was proposed is applied, and the round is over.
    RoundRecorded {
        /// What came to nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<RefusedProposal>,
    },
    /// It was decided what comes next.
    NextDecided(NextDecision),
    /// A person asked to be asked.
    EscalationRequested(EscalationWish),
    /// The table needs a person.
    EscalationRaised(Box<Escalation>),
    /// A person was asked.
    InteractionOpened {
        /// The number of the question.
        id: InteractionId,
        /// What it is about.
        matter: Matter,
        /// What is asked.
        question: Question,
    },
    /// A question was answered.
    InteractionAnswered {
        /// The question.
        id: InteractionId,
        /// What the person chose.
        word: Word,
        /// What they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Who did it.
        by: By,
        /// The key that the reply was sent with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<ReplyKey>,
    },
    /// A question fell away.
    InteractionWithdrawn {
        /// The question.
        id: InteractionId,
    },
    /// The roundtable ended. A round that was not recorded is dropped with it.
    Closed(Closing),
    /// A part of the journal before this cannot be read. The state goes on from here.
    SetAside(Box<SetAside<RoundtableRow>>),
}

/// The person behind a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonMark {
    /// Who did it.
    pub by: By,
    /// The idempotency key that the change was sent with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<ReplyKey>,
}

/// How a roundtable ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// Why: what moved it out of `active`.
    pub reason: RoundtableTrigger,
    /// Who ended it.
    pub by: By,
    /// What went wrong, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was not settled.
    #[serde(default)]
    pub unsettled: Unsettled,
}

/// What was not settled when a roundtable ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Unsettled {
    /// Topics that are not closed.
    pub topics: Vec<TopicId>,
    /// Conflicts that are open.
    pub conflicts: Vec<ConflictId>,
    /// Questions that are open.
    pub questions: Vec<OpenQuestionId>,
}
