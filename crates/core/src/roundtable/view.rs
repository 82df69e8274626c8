//! What is shown of a roundtable: its state in the words of the interface.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::Answer;
use super::artifact::{Agreement, Amendment, Artifact};
use super::escalation::Escalation;
use super::id::{ArtifactId, ArtifactKind, ConflictId, CriterionId, OpenQuestionId, Role, TopicId};
use super::interaction::{Interaction, Resolution, Word};
use super::next::{NextAction, Rule, Trigger};
use super::point::{Conflict, HeldPosition, OpenQuestion, Settlement};
use super::proposal::RefusedProposal;
use super::reconciliation::{HumanDecision, human_decision};
use super::round::{Focus, Round};
use super::spec::{Limits, Seat, TopicSpec};
use super::{Roundtable, Topic};
use crate::interaction::By;
use crate::machines::{
    ArtifactStatus, ConflictStatus, QuestionStatus, RoundStep, RoundtableStatus, RoundtableTrigger,
    TopicStatus,
};
use crate::time::wire;
use crate::{InteractionId, InteractionView, RoundtableId, Timestamp};

/// A roundtable, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RoundtableView {
    /// Its id.
    pub roundtable_id: RoundtableId,
    /// What is discussed.
    pub subject: String,
    /// The workflow that its agenda comes from.
    pub workflow: String,
    /// How it is discussed.
    pub strategy: String,
    /// Where it is in its life.
    pub status: RoundtableStatus,
    /// Why it ended.
    pub close_reason: Option<RoundtableTrigger>,
    /// What went wrong, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// How long it may take, and when a person is asked.
    pub limits: Limits,
    /// What has to be settled, and how far that is.
    pub agenda: Vec<TopicView>,
    /// Who leads.
    pub facilitator: Seat,
    /// Who takes part.
    pub participants: Vec<Seat>,
    /// The rounds so far, the one that is going on included.
    pub rounds: Vec<RoundView>,
    /// The results, the oldest first.
    pub artifacts: Vec<ArtifactView>,
    /// Positions that exclude each other.
    pub conflicts: Vec<ConflictView>,
    /// Questions that came up.
    pub questions: Vec<QuestionView>,
    /// What was put before a person, the oldest first.
    #[serde(default)]
    pub escalations: Vec<Escalation>,
    /// What people decided when they were asked, the oldest first.
    #[serde(default)]
    pub human_decisions: Vec<HumanDecisionView>,
    /// What it asks a person.
    pub pending: Option<InteractionView>,
    /// The number of the last frame of its stream.
    pub seq: u64,
    /// When it was opened.
    #[serde(with = "wire")]
    pub created_at: Timestamp,
    /// When its last event was decided.
    #[serde(with = "wire")]
    pub updated_at: Timestamp,
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
            escalations: table.escalations.clone(),
            human_decisions: HumanDecisionView::all(table),
            pending: table.pending().map(InteractionView::of_roundtable),
            seq: table.frame,
            created_at: table.created_at,
            updated_at: table.updated_at,
        }
    }
}

/// A topic of the agenda, and how far it got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TopicView {
    /// Its name.
    pub topic_id: TopicId,
    /// What people read.
    pub title: String,
    /// Low confidence here is worth a person's time.
    pub critical: bool,
    /// How far it got.
    pub status: TopicStatus,
    /// When it is settled.
    pub done_when: DoneWhenView,
}

/// When a topic is settled: all of it has to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DoneWhenView {
    /// What has to be covered.
    pub criteria: Vec<CriterionView>,
    /// How many requirements of the topic have to be in force.
    pub min_requirements: u32,
    /// How many artifacts of the topic, of any kind, have to be in force.
    #[serde(default)]
    pub min_artifacts: u32,
}

/// One thing that has to be covered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CriterionView {
    /// Its name.
    pub id: CriterionId,
    /// What it says.
    pub text: String,
    /// The artifacts in force that cover it.
    pub covered_by: Vec<ArtifactId>,
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
                min_artifacts: spec.done_when.min_artifacts,
            },
        }
    }
}

/// A round, as far as it got.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RoundView {
    /// Counted from 1.
    pub number: u32,
    /// The phase of the strategy.
    pub phase: String,
    /// How far it got.
    pub step: RoundStep,
    /// What it is about.
    pub focus: Option<Focus>,
    /// What was asked.
    pub question: Option<String>,
    /// Who said what, in the order in which it came in.
    pub answers: Vec<Answer>,
    /// Who said nothing.
    pub missing: Vec<Role>,
    /// What the facilitator made of it.
    pub synthesis: Option<String>,
    /// What the facilitator proposed to write down and was not allowed.
    #[serde(default)]
    pub proposals_refused: Vec<RefusedProposalView>,
    /// What the facilitator proposed to do next.
    pub proposed_next: Option<NextAction>,
    /// What was decided to do next.
    pub next: Option<NextAction>,
    /// The rule that decided it.
    pub rule: Option<Rule>,
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
            proposals_refused: round.refused.iter().map(|it| RefusedProposalView::of(round, it)).collect(),
            proposed_next: round.synthesis.as_ref().and_then(|synthesis| synthesis.next),
            next: round.decided.as_ref().map(|decided| decided.next),
            rule: round.decided.as_ref().map(|decided| decided.rule),
        }
    }
}

/// A proposal of the facilitator that came to nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = RefusedProposal))]
pub struct RefusedProposalView {
    /// Its place in the synthesis, counted from 1.
    pub number: usize,
    /// Why it came to nothing.
    pub reason: String,
    /// The proposal, as the facilitator made it.
    pub proposal: Value,
}

impl RefusedProposalView {
    fn of(round: &Round, refused: &RefusedProposal) -> Self {
        let proposals = round.synthesis.as_ref().map(|synthesis| &synthesis.proposals);
        let place = refused.number.checked_sub(1);
        let proposal = proposals.zip(place).and_then(|(proposals, place)| proposals.get(place));
        Self {
            number: refused.number,
            reason: refused.reason.clone(),
            proposal: proposal.cloned().unwrap_or_default(),
        }
    }
}

/// What a person decided when the roundtable asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = HumanDecision))]
pub struct HumanDecisionView {
    /// The question.
    pub interaction_id: InteractionId,
    /// The round after which it was asked.
    pub round: u32,
    /// The causes that it was asked because of; none where it was only asked how to go on, or a person wished for it.
    pub about: Vec<Trigger>,
    /// What the person chose.
    pub decision: Word,
    /// What they said, or accepted.
    pub text: Option<String>,
    /// Who decided.
    pub resolved_by: By,
    /// When it was decided.
    #[serde(with = "wire")]
    pub resolved_at: Timestamp,
}

impl HumanDecisionView {
    fn all(table: &Roundtable) -> Vec<Self> {
        let one = |interaction: &Interaction| {
            let resolution = interaction.resolution.as_ref()?;
            let HumanDecision { round, about, decision, text } =
                human_decision(table, interaction, resolution);
            Some(Self {
                interaction_id: interaction.interaction_id,
                round,
                about,
                decision,
                text,
                resolved_by: resolution.by.clone(),
                resolved_at: resolution.at,
            })
        };
        table.interactions.iter().filter_map(one).collect()
    }
}

/// An artifact, as every surface shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ArtifactView {
    /// Its name.
    pub artifact_id: ArtifactId,
    /// What it is.
    pub kind: ArtifactKind,
    /// Where it is in its life.
    pub status: ArtifactStatus,
    /// What people read first.
    pub title: String,
    /// What it says.
    pub body: String,
    /// How far the table agrees.
    pub agreement: Agreement,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// The criteria of its topic that it covers.
    pub covers: Vec<CriterionId>,
    /// The round it came up in.
    pub round: u32,
    /// Who brought it up.
    pub proposed_by: Role,
    /// Who is for it.
    pub supported_by: Vec<Role>,
    /// What it said before, the oldest first.
    pub amendments: Vec<Amendment>,
    /// What took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<ArtifactId>,
    /// Why it is out of force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The person who put it out of force; none where the facilitator did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<By>,
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
            ended_by: artifact.end.as_ref().and_then(|end| end.person.clone()),
        }
    }
}

/// Positions that exclude each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConflictView {
    /// Its name.
    pub conflict_id: ConflictId,
    /// Whether somebody gave way.
    pub status: ConflictStatus,
    /// What it is about.
    pub title: String,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// The round it came up in.
    pub round: u32,
    /// Who holds what.
    pub positions: Vec<HeldPosition>,
    /// How it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Settlement>,
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

/// A question that came up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionView {
    /// Its name.
    pub question_id: OpenQuestionId,
    /// Whether it was answered.
    pub status: QuestionStatus,
    /// What is asked.
    pub text: String,
    /// The topic it belongs to.
    pub topic_id: TopicId,
    /// The round it came up in.
    pub round: u32,
    /// Who asked.
    pub asked_by: Role,
    /// How it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Settlement>,
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

impl InteractionView {
    /// The view of a question of a roundtable. The round takes the place of a run's attempt, and there is no deadline: a
    /// roundtable waits for as long as it takes.
    pub fn of_roundtable(interaction: &Interaction) -> Self {
        let resolution = interaction.resolution.as_ref();
        Self {
            interaction_id: interaction.interaction_id,
            status: interaction.status,
            attempt_number: interaction.round,
            source: interaction.matter.source(),
            execution_id: None,
            action_detail: None,
            question: interaction.question.clone(),
            created_at: interaction.created_at,
            deadline_at: None,
            response: resolution.map(Resolution::response),
            resolved_at: resolution.map(|resolution| resolution.at),
            resolved_by: resolution.map(|resolution| resolution.by.clone()),
            idempotency_key: resolution.and_then(|resolution| Some(resolution.key.as_ref()?.key.clone())),
        }
    }
}
