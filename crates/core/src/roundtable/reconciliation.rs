//! What changed since an agent last looked, for one that takes up its own conversation.

use serde::Serialize;

use super::Roundtable;
use super::artifact::Artifact;
use super::id::{ConflictId, OpenQuestionId, Role, TopicId};
use super::interaction::{Interaction, Matter, Resolution, Word};
use super::next::Trigger;
use super::proposal::RefusedProposal;
use super::view::ArtifactView;
use crate::machines::TopicStatus;

/// What changed since an agent last looked. Lists that are empty are there: nothing changed is something to know.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextReconciliation {
    /// The last recorded round that the agent knows of; 0 if none.
    pub since_round: u32,
    /// The last recorded round.
    pub round: u32,
    /// Artifacts that are new and in force, with the ids that they were given.
    pub artifacts_created: Vec<ArtifactView>,
    /// Artifacts that say something else than they did.
    pub artifacts_updated: Vec<ArtifactView>,
    /// Artifacts that are no longer in force.
    pub artifacts_resolved: Vec<ArtifactView>,
    /// Conflicts that came up or were settled.
    pub conflicts_changed: Vec<PointChange<ConflictId>>,
    /// Questions that came up or were answered.
    pub questions_changed: Vec<PointChange<OpenQuestionId>>,
    /// Topics that got on.
    pub agenda_changes: Vec<TopicMoved>,
    /// What people said.
    pub human_decisions: Vec<HumanDecision>,
    /// Who was missing.
    pub missing: Vec<MissingIn>,
    /// What was proposed and came to nothing.
    pub proposals_refused: Vec<RefusedIn>,
}

/// A conflict or question that came up or was settled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PointChange<Id> {
    /// The point of the discussion.
    pub id: Id,
    /// What it is about.
    pub about: String,
    /// How it stands now.
    pub status: &'static str,
    /// How it was settled.
    pub resolution: Option<String>,
}

/// A topic that got on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TopicMoved {
    /// The topic.
    pub topic_id: TopicId,
    /// In which round.
    pub round: u32,
    /// Where to.
    pub status: TopicStatus,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HumanDecision {
    /// After which round.
    pub round: u32,
    /// What they were asked because of; nothing where they were only asked how to go on.
    pub about: Vec<Trigger>,
    /// What they chose.
    pub decision: Word,
    /// What they said, or accepted.
    pub text: Option<String>,
}

/// Somebody who was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingIn {
    /// In which round.
    pub round: u32,
    /// The role.
    pub role: Role,
    /// The reason for it.
    pub reason: String,
}

/// A proposal that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedIn {
    /// In which round.
    pub round: u32,
    /// Which, and why.
    #[serde(flatten)]
    pub refused: RefusedProposal,
}

/// What changed after the round `since_round` was recorded.
pub fn reconciliation(table: &Roundtable, since_round: u32) -> ContextReconciliation {
    let views = |which: &dyn Fn(&Artifact) -> bool| {
        table.artifacts.iter().filter(|artifact| which(artifact)).map(ArtifactView::of).collect()
    };
    let later = |round: u32| round > since_round;
    let rounds = || table.rounds.iter().filter(|round| later(round.number));
    ContextReconciliation {
        since_round,
        round: table.recorded_rounds(),
        artifacts_created: views(&|artifact| artifact.is_living() && later(artifact.round)),
        artifacts_updated: views(&|artifact| {
            let amended = artifact.amendments.last().is_some_and(|last| later(last.round));
            artifact.is_living() && !later(artifact.round) && amended
        }),
        artifacts_resolved: views(&|artifact| artifact.end.as_ref().is_some_and(|end| later(end.round))),
        conflicts_changed: conflicts(table, &later),
        questions_changed: questions(table, &later),
        agenda_changes: agenda(table, &later),
        human_decisions: human_decisions(table, &later),
        missing: rounds()
            .flat_map(|round| {
                round.missing.iter().map(|missing| MissingIn {
                    round: round.number,
                    role: missing.role.clone(),
                    reason: missing.reason.clone(),
                })
            })
            .collect(),
        proposals_refused: rounds()
            .flat_map(|round| {
                let refused = round.refused.iter().cloned();
                refused.map(|refused| RefusedIn { round: round.number, refused })
            })
            .collect(),
    }
}

fn conflicts(table: &Roundtable, later: &impl Fn(u32) -> bool) -> Vec<PointChange<ConflictId>> {
    let changed = table.conflicts.iter().filter(|conflict| {
        later(conflict.round) || conflict.resolution.as_ref().is_some_and(|settled| later(settled.round))
    });
    changed
        .map(|conflict| PointChange {
            id: conflict.about.conflict_id,
            about: conflict.about.title.clone(),
            status: conflict.status.name(),
            resolution: conflict.resolution.as_ref().map(|settled| settled.text.clone()),
        })
        .collect()
}

fn questions(table: &Roundtable, later: &impl Fn(u32) -> bool) -> Vec<PointChange<OpenQuestionId>> {
    let changed = table.questions.iter().filter(|question| {
        later(question.round) || question.resolution.as_ref().is_some_and(|settled| later(settled.round))
    });
    changed
        .map(|question| PointChange {
            id: question.about.question_id,
            about: question.about.text.clone(),
            status: question.status.name(),
            resolution: question.resolution.as_ref().map(|settled| settled.text.clone()),
        })
        .collect()
}

fn agenda(table: &Roundtable, later: &impl Fn(u32) -> bool) -> Vec<TopicMoved> {
    let moves = table.topics.iter().flat_map(|topic| topic.moves.iter().map(move |moved| (topic, moved)));
    moves
        .filter(|(_, (round, _))| later(*round))
        .map(|(topic, (round, status))| TopicMoved {
            topic_id: topic.id.clone(),
            round: *round,
            status: *status,
        })
        .collect()
}

/// What people said when they were asked after one of these rounds.
pub(super) fn human_decisions(table: &Roundtable, later: &impl Fn(u32) -> bool) -> Vec<HumanDecision> {
    let asked = table.interactions.iter().filter(|interaction| later(interaction.round));
    asked
        .filter_map(|interaction| {
            let resolution = interaction.resolution.as_ref()?;
            Some(human_decision(table, interaction, resolution))
        })
        .collect()
}

/// The answer of a person to one question.
pub(super) fn human_decision(
    table: &Roundtable,
    interaction: &Interaction,
    resolution: &Resolution,
) -> HumanDecision {
    let escalation = match interaction.matter {
        Matter::Checkpoint => None,
        Matter::Escalation(number) => table.escalation(number),
    };
    let accepted = escalation.and_then(|escalation| escalation.recommendation.clone());
    HumanDecision {
        round: interaction.round,
        about: escalation.map(|escalation| escalation.triggers.clone()).unwrap_or_default(),
        decision: resolution.word,
        text: match resolution.word {
            Word::Accept => accepted,
            Word::Continue | Word::Conclude | Word::Close | Word::OwnDecision | Word::Discuss => {
                resolution.text.clone()
            }
        },
    }
}
