//! The round: one pass from the question to the record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::id::{ConflictId, OpenQuestionId, Role, TopicId};
use super::next::{NextAction, Rule, Trigger};
use super::proposal::{RefusedProposal, Synthesis};
use crate::RunId;
use crate::machines::RoundStep;

/// One pass from the question to the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Counted from 1.
    pub number: u32,
    /// The phase of the strategy.
    pub phase: String,
    /// Who is asked, in order.
    pub speakers: Vec<Role>,
    /// How far it got.
    pub step: RoundStep,
    /// The runs that were started for it.
    pub activations: Vec<Activation>,
    /// What it is about and what is asked.
    pub asked: Option<Asked>,
    /// Who said what, in the order in which it came in.
    pub answers: Vec<Answer>,
    /// Who said nothing.
    pub missing: Vec<Missing>,
    /// What the facilitator made of it.
    pub synthesis: Option<Synthesis>,
    /// What of that came to nothing.
    pub refused: Vec<RefusedProposal>,
    /// What comes next.
    pub decided: Option<NextDecision>,
}

/// A run that plays a role at the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activation {
    /// What it was started for.
    pub purpose: Purpose,
    /// The run.
    pub run_id: RunId,
    /// The run whose conversation it takes up.
    pub continues: Option<RunId>,
    /// How it ended, as far as the table is concerned.
    pub outcome: Option<ActivationOutcome>,
}

/// How an activation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivationOutcome {
    /// What it said is written down.
    Recorded,
    /// It came to nothing.
    Lost(String),
}

/// What an agent is activated for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The facilitator chooses a focus and asks.
    Ask,
    /// A participant answers.
    Answer(Role),
    /// The facilitator draws the answers together.
    Synthesis,
}

impl Purpose {
    /// The role that does it.
    pub fn role(&self) -> Role {
        match self {
            Self::Ask | Self::Synthesis => Role::facilitator(),
            Self::Answer(role) => role.clone(),
        }
    }

    /// The step of a round that it belongs to.
    pub const fn step(&self) -> RoundStep {
        match self {
            Self::Ask => RoundStep::Question,
            Self::Answer(_) => RoundStep::Responses,
            Self::Synthesis => RoundStep::Synthesis,
        }
    }
}

/// What a round is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "id", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Focus {
    /// A topic of the agenda.
    Topic(TopicId),
    /// A conflict.
    Conflict(ConflictId),
    /// A question that came up.
    Question(OpenQuestionId),
}

/// What a round is about and what is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// What it is about.
    pub focus: Focus,
    /// The topic that belongs to.
    pub topic_id: TopicId,
    /// The question to everybody.
    pub question: String,
    /// What everybody should know to answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// What somebody in particular should look at.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub directives: BTreeMap<Role, String>,
    /// What the facilitator asked for and did not get.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Somebody who said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The role.
    pub role: Role,
    /// The reason for it.
    pub reason: String,
}

/// What comes next, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextDecision {
    /// What the facilitator proposed.
    pub proposed: Option<NextAction>,
    /// What it is.
    pub next: NextAction,
    /// The rule that said so.
    pub rule: Rule,
    /// The causes for asking a person that held, also where none is asked because of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub triggers: Vec<Trigger>,
}

impl Round {
    pub(crate) fn opened(number: u32, phase: &str, speakers: &[Role]) -> Self {
        Self {
            number,
            phase: phase.to_owned(),
            speakers: speakers.to_vec(),
            step: RoundStep::Question,
            activations: Vec::new(),
            asked: None,
            answers: Vec::new(),
            missing: Vec::new(),
            synthesis: None,
            refused: Vec::new(),
            decided: None,
        }
    }

    /// What the participant said.
    pub fn answer(&self, role: &Role) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.role == *role)
    }

    /// Who neither answered nor is missing, in the order in which they are asked.
    pub fn awaited(&self) -> impl Iterator<Item = &Role> {
        self.speakers.iter().filter(|role| {
            self.answer(role).is_none() && self.missing.iter().all(|missing| missing.role != **role)
        })
    }

    /// The run that is at work on something, if one is.
    pub fn at_work(&self, purpose: &Purpose) -> Option<&Activation> {
        self.activations
            .iter()
            .find(|activation| activation.outcome.is_none() && activation.purpose == *purpose)
    }

    /// What a run was started for.
    pub fn activation(&self, run_id: RunId) -> Option<&Activation> {
        self.activations.iter().find(|activation| activation.run_id == run_id)
    }

    /// How often an agent failed at something.
    pub fn losses(&self, purpose: &Purpose) -> usize {
        let lost = |activation: &&Activation| matches!(activation.outcome, Some(ActivationOutcome::Lost(_)));
        self.activations.iter().filter(|activation| activation.purpose == *purpose).filter(lost).count()
    }
}
