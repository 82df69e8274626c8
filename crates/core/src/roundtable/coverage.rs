//! How far a topic is covered: computed from the artifacts that are in force, never believed.

use super::Roundtable;
use super::artifact::Artifact;
use super::id::{ArtifactId, ArtifactKind, CriterionId, TopicId};
use super::spec::TopicSpec;
use crate::machines::TopicTrigger;

/// How far a topic is covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Each criterion, in the order of the agenda.
    pub criteria: Vec<Covered>,
    /// Artifacts of the topic that are in force.
    pub artifacts: usize,
    /// Those of them that are requirements.
    pub requirements: usize,
    /// How many artifacts there have to be.
    pub min_artifacts: u32,
    /// How many requirements there have to be.
    pub min_requirements: u32,
}

/// A criterion and what covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covered {
    /// The criterion.
    pub id: CriterionId,
    /// The artifacts in force that cover it.
    pub by: Vec<ArtifactId>,
}

impl Coverage {
    /// Whether everything that `done_when` asks for is there.
    pub fn is_complete(&self) -> bool {
        self.criteria.iter().all(|criterion| !criterion.by.is_empty())
            && self.requirements >= self.min_requirements as usize
            && self.artifacts >= self.min_artifacts as usize
    }

    /// Where it takes a topic, if the topic is not there yet.
    pub(crate) fn trigger(&self) -> Option<TopicTrigger> {
        if self.is_complete() {
            Some(TopicTrigger::Complete)
        } else if self.criteria.iter().any(|criterion| !criterion.by.is_empty()) {
            Some(TopicTrigger::Cover)
        } else {
            None
        }
    }
}

impl Roundtable {
    /// How far a topic is covered; none where it is not on the agenda.
    pub fn coverage(&self, topic: &TopicId) -> Option<Coverage> {
        self.spec.topic(topic).map(|topic| self.coverage_of(topic))
    }

    pub(super) fn coverage_of(&self, topic: &TopicSpec) -> Coverage {
        let of_topic = |artifact: &&Artifact| artifact.topic_id == topic.topic_id && artifact.is_living();
        let living: Vec<_> = self.artifacts.iter().filter(of_topic).collect();
        let covered = |id: &CriterionId| Covered {
            id: id.clone(),
            by: living
                .iter()
                .filter(|artifact| artifact.version.covers.contains(id))
                .map(|artifact| artifact.id)
                .collect(),
        };
        Coverage {
            criteria: topic.done_when.criteria.iter().map(|criterion| covered(&criterion.id)).collect(),
            artifacts: living.len(),
            requirements: living.iter().filter(|it| it.id.kind == ArtifactKind::Requirement).count(),
            min_artifacts: topic.done_when.min_artifacts,
            min_requirements: topic.done_when.min_requirements,
        }
    }
}
