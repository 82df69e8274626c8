//! A roundtable: several agents, one agenda, and decisions that can be traced.
//!
//! In the same form as a run: [`Roundtable::decide`] says which events follow from a command and changes nothing,
//! [`Roundtable::apply`] adds one event up. Agents only ever propose. What is open, covered, agreed or over is computed
//! here, and a proposal that the machines do not allow is noted and changes nothing.
//!
//! ```
//! use std::collections::BTreeSet;
//!
//! use adjourn_core::roundtable::{
//!     Command, Document, DoneWhen, Limits, Open, Pace, Role, Roundtable, RoundtableSpec, Seat, Todo, TopicId,
//!     TopicSpec,
//! };
//! use adjourn_core::{RoundtableId, Timestamp};
//!
//! let spec = RoundtableSpec {
//!     subject: "a shop for bicycles".to_owned(),
//!     workflow: "specs".to_owned(),
//!     document: Document::Requirements,
//!     strategy: "standard".to_owned(),
//!     limits: Limits::default(),
//!     agenda: vec![TopicSpec {
//!         topic_id: TopicId::new("scope"),
//!         title: "What is in scope".to_owned(),
//!         critical: true,
//!         done_when: DoneWhen { min_requirements: 2, ..DoneWhen::default() },
//!     }],
//!     facilitator: Seat::facilitator("claude"),
//!     participants: vec![Seat::participant("architect", "codex")],
//!     pace: Pace::Continuous,
//!     context: None,
//!     labels: Default::default(),
//! };
//! let known_roles = BTreeSet::from([Role::new("architect")]);
//! let open = Command::Open(Box::new(Open { spec, known_roles, key: None }));
//! let now = Timestamp::from_millis(5);
//!
//! let opened = Roundtable::open(RoundtableId::from_bits(1), &open, now).unwrap();
//! assert_eq!(opened.state.todo(), Todo::OpenRound);
//! ```

mod answer;
mod apply;
mod artifact;
mod command;
mod coverage;
mod decide;
mod escalation;
mod event;
mod export;
mod frame;
mod hear;
mod id;
mod interaction;
mod next;
mod output;
mod point;
mod proposal;
mod reconciliation;
mod refusal;
mod round;
mod rows;
mod set_aside;
mod sight;
mod spec;
mod strategy;
mod todo;
mod view;

use std::sync::Arc;

pub use answer::{Answer, BadConfidence, Confidence, Position, Stance};
pub use artifact::{
    Agreement, Amendment, AmendmentKind, Artifact, ArtifactChange, ArtifactEnd, NewArtifact, Version,
};
pub use command::{ChangeArtifact, Command, Open, PersonChange, Reply, Start, open_key};
pub use coverage::{Coverage, Covered};
pub use decide::FACILITATOR_LOSSES_MAX;
pub use escalation::{Escalation, EscalationWish, Stand};
pub use event::{Closing, Event, PersonMark, Unsettled};
pub use export::{Document, Inconsistent, export_json, export_markdown};
pub use frame::{Frame, FrameType, render};
pub use id::{ArtifactId, ArtifactKind, BadName, ConflictId, CriterionId, OpenQuestionId, Role, TopicId};
pub use interaction::{Interaction, Matter, Resolution, Word};
pub use next::{NextAction, Rule, Standing, Trigger};
pub use output::{answer_schema, ask_schema, synthesis_schema};
pub use point::{Conflict, HeldPosition, NewConflict, NewQuestion, OpenQuestion, Settlement, Settler};
pub use proposal::{
    Aim, Ask, Changes, CreateArtifact, FocusKind, PROPOSALS_MAX, Proposal, RefusedProposal, Synthesis,
};
pub use reconciliation::{
    ContextReconciliation, HumanDecision, MissingIn, PointChange, RefusedIn, TopicMoved, reconciliation,
};
pub use refusal::Refusal;
pub use round::{Activation, ActivationOutcome, Asked, Focus, Missing, NextDecision, Purpose, Round};
pub use sight::{Conversation, Seen};
pub use spec::{
    Criterion, DoneWhen, Limits, Memory, PARTICIPANTS_MAX, Pace, ROUNDS_MAX, RoundtableSpec, Seat, Side,
    TOPICS_MAX, TopicSpec,
};
pub use strategy::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};
pub use todo::Todo;
pub use view::{
    ArtifactView, ConflictView, CriterionView, DoneWhenView, HumanDecisionView, QuestionView,
    RefusedProposalView, RoundView, RoundtableView, TopicView,
};

use crate::interaction::ReplyKey;
use crate::machines::{RoundtableStatus, TopicStatus};
use crate::{InteractionId, Place, RoundtableId, RunId, Timestamp};

/// The state of a roundtable: what its events add up to.
///
/// Only [`apply`](Roundtable::apply) changes it. The fields are read through methods, so that this stays true.
#[derive(Debug, Clone, PartialEq)]
pub struct Roundtable {
    id: RoundtableId,
    spec: Arc<RoundtableSpec>,
    strategy: &'static Strategy,
    status: RoundtableStatus,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Events so far: the place of the last one.
    seq: u64,
    /// Frames so far: the number of the last one.
    frame: u64,
    /// Frames so far since the last round began.
    local_frame: u64,
    /// In the order of the agenda.
    topics: Vec<Topic>,
    /// The recorded ones, without a gap.
    rounds: Vec<Round>,
    /// The one that is going on.
    current: Option<Round>,
    /// In the order in which they were created: a later one is newer.
    artifacts: Vec<Artifact>,
    conflicts: Vec<Conflict>,
    questions: Vec<OpenQuestion>,
    /// A person asked to be asked, and was not yet.
    escalation_wish: Option<EscalationWish>,
    escalations: Vec<Escalation>,
    interactions: Vec<Interaction>,
    /// Idempotency keys of the changes that people made to artifacts.
    person_keys: Vec<ReplyKey>,
    /// Runs that were at work when the round that they belong to was dropped.
    abandoned: Vec<RunId>,
    closing: Option<Closing>,
}

/// A topic of the agenda, and how far it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub id: TopicId,
    /// How far it got.
    pub status: TopicStatus,
    /// When it got where, by round.
    pub moves: Vec<(u32, TopicStatus)>,
}

impl Roundtable {
    /// Its id.
    pub fn id(&self) -> RoundtableId {
        self.id
    }

    /// What it is about.
    pub fn spec(&self) -> &RoundtableSpec {
        &self.spec
    }

    /// How it is held.
    pub fn strategy(&self) -> &'static Strategy {
        self.strategy
    }

    /// Its status.
    pub fn status(&self) -> RoundtableStatus {
        self.status
    }

    /// How it ended.
    pub fn closing(&self) -> Option<&Closing> {
        self.closing.as_ref()
    }

    /// When it was opened.
    pub fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When its last event was decided.
    pub fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The place of its last event in its stream.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The number of the last frame that its events render to.
    pub fn last_frame(&self) -> u64 {
        self.frame
    }

    /// Where its next frame stands; the round takes the place of a run's attempt.
    pub fn place(&self) -> Place {
        Place { frame: self.frame, attempt: self.round_now(), local: self.local_frame }
    }

    /// The topics, in the order of the agenda.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The recorded rounds.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The round that is going on.
    pub fn current(&self) -> Option<&Round> {
        self.current.as_ref()
    }

    /// How many rounds are recorded.
    pub fn recorded_rounds(&self) -> u32 {
        u32::try_from(self.rounds.len()).expect("a roundtable has at most a hundred rounds")
    }

    /// The round that is going on, else the last one; 0 before the first.
    fn round_now(&self) -> u32 {
        self.current.as_ref().map_or(self.recorded_rounds(), |round| round.number)
    }

    /// The results, the oldest first.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// The result of this name.
    pub fn artifact(&self, id: ArtifactId) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.id == id)
    }

    /// The conflicts, the oldest first.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// The conflict of this name.
    pub fn conflict(&self, id: ConflictId) -> Option<&Conflict> {
        self.conflicts.iter().find(|conflict| conflict.about.conflict_id == id)
    }

    /// The conflicts in which nobody gave way yet.
    pub fn open_conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.conflicts.iter().filter(|conflict| conflict.is_open())
    }

    /// The questions that came up, the oldest first.
    pub fn questions(&self) -> &[OpenQuestion] {
        &self.questions
    }

    /// The question of this name.
    pub fn question(&self, id: OpenQuestionId) -> Option<&OpenQuestion> {
        self.questions.iter().find(|question| question.about.question_id == id)
    }

    /// The questions that nobody answered yet.
    pub fn open_questions(&self) -> impl Iterator<Item = &OpenQuestion> {
        self.questions.iter().filter(|question| question.is_open())
    }

    /// The escalation with this number.
    pub fn escalation(&self, number: u32) -> Option<&Escalation> {
        self.escalations.iter().find(|escalation| escalation.number == number)
    }

    /// The escalations, the oldest first.
    pub fn escalations(&self) -> &[Escalation] {
        &self.escalations
    }

    /// All questions to people, the oldest first.
    pub fn interactions(&self) -> &[Interaction] {
        &self.interactions
    }

    /// The question to a person with this number.
    pub fn interaction(&self, id: InteractionId) -> Option<&Interaction> {
        let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
        self.interactions.get(index)
    }

    /// The question that it waits for. There is one at most.
    pub fn pending(&self) -> Option<&Interaction> {
        self.interactions.iter().find(|interaction| interaction.is_open())
    }
}
