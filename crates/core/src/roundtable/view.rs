//! What is shown of a roundtable: its state in the words of the interface.

use serde::Serialize;
use serde_json::Value;

use super::answer::Answer;
use super::artifact::{Agreement, Amendment, Artifact};
use super::id::{ArtifactId, ArtifactKind, ConflictId, CriterionId, OpenQuestionId, Role, TopicId};
use super::interaction::Interaction;
use super::next::{NextAction, Rule};
use super::point::{Conflict, HeldPosition, OpenQuestion, Settlement};
use super::round::{Focus, Round};
use super::spec::{Limits, Seat, TopicSpec};
use super::{Roundtable, Topic};
use crate::interaction::{By, Source};
use crate::machines::{
    ArtifactStatus, ConflictStatus, QuestionStatus, RoundStep, RoundtableStatus, RoundtableTrigger,
    TopicStatus,
};
use crate::time::wire;
use crate::{InteractionId, InteractionStatus, Question, RoundtableId, Timestamp};

/// A roundtable, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundtableView {
    roundtable_id: RoundtableId,
    subject: String,
    workflow: String,
    strategy: String,
    status: RoundtableStatus,
    close_reason: Option<RoundtableTrigger>,
    /// What went wrong, where something did.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    limits: Limits,
    agenda: Vec<TopicView>,
    facilitator: Seat,
    participants: Vec<Seat>,
    rounds: Vec<RoundView>,
    artifacts: Vec<ArtifactView>,
    conflicts: Vec<ConflictView>,
    questions: Vec<QuestionView>,
    pending: Option<InteractionView>,
    /// The number of the last frame of its stream.
    seq: u64,
    #[serde(with = "wire")]
    created_at: Timestamp,
    #[serde(with = "wire")]
    updated_at: Timestamp,
}

impl RoundtableView {
    /// The view of `table`.
    pub fn of(table: &Roundtable) -> Self {
        let spec = table.spec();
        let agenda = table.topics.iter().zip(&spec.agenda);
        Self {
            roundtable_id: table.id,
            subject: spec.subject.clone(),
            workflow: spec.workflow.clone(),
            strategy: spec.strategy.clone(),
            status: table.status,
            close_reason: table.closing.as_ref().map(|closing| closing.reason),
            problem: table.closing.as_ref().and_then(|closing| closing.problem.clone()),
            limits: spec.limits,
            agenda: agenda.map(|(topic, spec)| TopicView::of(table, topic, spec)).collect(),
            facilitator: spec.facilitator.clone(),
            participants: spec.participants.clone(),
            rounds: table.rounds.iter().chain(&table.current).map(RoundView::of).collect(),
            artifacts: table.artifacts.iter().map(ArtifactView::of).collect(),
            conflicts: table.conflicts.iter().map(ConflictView::of).collect(),
            questions: table.questions.iter().map(QuestionView::of).collect(),
            pending: table.pending().map(InteractionView::of),
            seq: table.frame,
            created_at: table.created_at,
            updated_at: table.updated_at,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct TopicView {
    topic_id: TopicId,
    title: String,
    critical: bool,
    status: TopicStatus,
    done_when: DoneWhenView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DoneWhenView {
    criteria: Vec<CriterionView>,
    min_requirements: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct CriterionView {
    id: CriterionId,
    text: String,
    covered_by: Vec<ArtifactId>,
}

impl TopicView {
    fn of(table: &Roundtable, topic: &Topic, spec: &TopicSpec) -> Self {
        let criteria = spec.done_when.criteria.iter().zip(table.coverage_of(spec).criteria);
        Self {
            topic_id: topic.id.clone(),
            title: spec.title.clone(),
            critical: spec.critical,
            status: topic.status,
            done_when: DoneWhenView {
                criteria: criteria
                    .map(|(criterion, covered)| CriterionView {
                        id: criterion.id.clone(),
                        text: criterion.text.clone(),
                        covered_by: covered.by,
                    })
                    .collect(),
                min_requirements: spec.done_when.min_requirements,
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct RoundView {
    number: u32,
    phase: String,
    step: RoundStep,
    focus: Option<Focus>,
    question: Option<String>,
    answers: Vec<Answer>,
    missing: Vec<Role>,
    synthesis: Option<String>,
    proposed_next: Option<NextAction>,
    next: Option<NextAction>,
    rule: Option<Rule>,
}

impl RoundView {
    fn of(round: &Round) -> Self {
        Self {
            number: round.number,
            phase: round.phase.clone(),
            step: round.step,
            focus: round.asked.as_ref().map(|asked| asked.focus.clone()),
            question: round.asked.as_ref().map(|asked| asked.question.clone()),
            answers: round.answers.clone(),
            missing: round.missing.iter().map(|missing| missing.role.clone()).collect(),
            synthesis: round.summary().map(str::to_owned),
            proposed_next: round.synthesis.as_ref().and_then(|synthesis| synthesis.next),
            next: round.decided.as_ref().map(|decided| decided.next),
            rule: round.decided.as_ref().map(|decided| decided.rule),
        }
    }
}

/// An artifact, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArtifactView {
    artifact_id: ArtifactId,
    kind: ArtifactKind,
    status: ArtifactStatus,
    title: String,
    body: String,
    agreement: Agreement,
    topic_id: TopicId,
    covers: Vec<CriterionId>,
    round: u32,
    proposed_by: Role,
    supported_by: Vec<Role>,
    amendments: Vec<Amendment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<ArtifactId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ArtifactView {
    /// The view of an artifact.
    pub fn of(artifact: &Artifact) -> Self {
        let version = &artifact.version;
        Self {
            artifact_id: artifact.id,
            kind: artifact.id.kind,
            status: artifact.status,
            title: version.title.clone(),
            body: version.body.clone(),
            agreement: version.agreement,
            topic_id: artifact.topic_id.clone(),
            covers: version.covers.clone(),
            round: artifact.round,
            proposed_by: artifact.proposed_by.clone(),
            supported_by: version.supported_by.clone(),
            amendments: artifact.amendments.clone(),
            superseded_by: artifact.end.as_ref().and_then(|end| end.superseded_by),
            reason: artifact.end.as_ref().and_then(|end| end.reason.clone()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ConflictView {
    conflict_id: ConflictId,
    status: ConflictStatus,
    title: String,
    topic_id: TopicId,
    round: u32,
    positions: Vec<HeldPosition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<Settlement>,
}

impl ConflictView {
    fn of(conflict: &Conflict) -> Self {
        Self {
            conflict_id: conflict.about.conflict_id,
            status: conflict.status,
            title: conflict.about.title.clone(),
            topic_id: conflict.about.topic_id.clone(),
            round: conflict.round,
            positions: conflict.about.positions.clone(),
            resolution: conflict.resolution.clone(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct QuestionView {
    question_id: OpenQuestionId,
    status: QuestionStatus,
    text: String,
    topic_id: TopicId,
    round: u32,
    asked_by: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    resolution: Option<Settlement>,
}

impl QuestionView {
    fn of(question: &OpenQuestion) -> Self {
        Self {
            question_id: question.about.question_id,
            status: question.status,
            text: question.about.text.clone(),
            topic_id: question.about.topic_id.clone(),
            round: question.round,
            asked_by: question.about.asked_by.clone(),
            resolution: question.resolution.clone(),
        }
    }
}

/// A question to a person, in the shape of a run's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InteractionView {
    interaction_id: InteractionId,
    status: InteractionStatus,
    /// The round takes the place of a run's attempt.
    attempt_number: u32,
    source: Source,
    #[serde(flatten)]
    question: Question,
    #[serde(with = "wire")]
    created_at: Timestamp,
    /// A roundtable waits for as long as it takes.
    #[serde(with = "wire::option")]
    deadline_at: Option<Timestamp>,
    #[serde(flatten)]
    resolution: Option<ResolutionView>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ResolutionView {
    response: Value,
    #[serde(with = "wire")]
    resolved_at: Timestamp,
    resolved_by: By,
}

impl InteractionView {
    /// The view of a question.
    pub fn of(interaction: &Interaction) -> Self {
        Self {
            interaction_id: interaction.interaction_id,
            status: interaction.status,
            attempt_number: interaction.round,
            source: interaction.matter.source(),
            question: interaction.question.clone(),
            created_at: interaction.created_at,
            deadline_at: None,
            resolution: interaction.resolution.as_ref().map(|resolution| ResolutionView {
                response: resolution.response(),
                resolved_at: resolution.at,
                resolved_by: resolution.by.clone(),
            }),
        }
    }
}
