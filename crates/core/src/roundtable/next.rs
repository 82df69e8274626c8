//! What comes after a round. The facilitator proposes; the rules below decide, and the first that matches wins.

use serde::{Deserialize, Serialize};

use super::Roundtable;
use super::id::{ConflictId, TopicId};
use super::interaction::Word;
use super::spec::Limits;
use crate::machines::TopicStatus;
use crate::names::named;

named! {
    /// What comes after a round.
    pub enum NextAction {
        /// Another round.
        Continue = "continue",
        /// The end.
        Conclude = "conclude",
        /// A question to a person.
        Escalate = "escalate",
    }
}

named! {
    /// The rule that decided what comes next, in the order in which they are tried.
    pub enum Rule {
        /// A person asked to be asked.
        UserAsked = "user_asked",
        /// There were fewer rounds than the least.
        MinRounds = "min_rounds",
        /// Every topic is closed.
        TopicsClosed = "topics_closed",
        /// There were as many rounds as there may be.
        MaxRounds = "max_rounds",
        /// A conflict has been open for too long.
        ConflictRounds = "conflict_rounds",
        /// Somebody is unsure about a critical topic.
        LowConfidence = "low_confidence",
        /// A conflict is open.
        OpenConflicts = "open_conflicts",
        /// A topic is open.
        OpenTopics = "open_topics",
    }
}

/// A cause for asking a person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = EscalationTrigger))]
pub enum Trigger {
    /// The conflict has been open for more rounds than allowed.
    ConflictRounds(ConflictId),
    /// Who answered last on this critical topic was not all sure enough.
    LowConfidence(TopicId),
}

impl Trigger {
    const fn rule(&self) -> Rule {
        match self {
            Self::ConflictRounds(_) => Rule::ConflictRounds,
            Self::LowConfidence(_) => Rule::LowConfidence,
        }
    }
}

/// All that the rules look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Rounds that are recorded.
    pub rounds: u32,
    /// The limits.
    pub limits: Limits,
    /// A person asked to be asked.
    pub user_asked: bool,
    /// Every topic is closed.
    pub topics_closed: bool,
    /// A conflict is open.
    pub conflicts_open: bool,
    /// The causes for asking a person that are not cooling down.
    pub triggers: Vec<Trigger>,
}

impl Standing {
    /// What comes next, and the rule that says so.
    pub fn next(&self) -> (NextAction, Rule) {
        if self.user_asked {
            return (NextAction::Escalate, Rule::UserAsked);
        }
        if self.rounds < self.limits.min_rounds {
            return (NextAction::Continue, Rule::MinRounds);
        }
        if self.topics_closed {
            return (NextAction::Conclude, Rule::TopicsClosed);
        }
        if self.rounds >= self.limits.max_rounds {
            return (NextAction::Conclude, Rule::MaxRounds);
        }
        if let Some(trigger) = self.triggers.first() {
            return (NextAction::Escalate, trigger.rule());
        }
        let rule = if self.conflicts_open { Rule::OpenConflicts } else { Rule::OpenTopics };
        (NextAction::Continue, rule)
    }
}

impl Roundtable {
    /// All that the rules look at, as it is now.
    pub fn standing(&self) -> Standing {
        Standing {
            rounds: self.recorded_rounds(),
            limits: self.spec.limits,
            user_asked: self.escalation_wish.is_some(),
            topics_closed: self.topics.iter().all(|topic| topic.status == TopicStatus::Closed),
            conflicts_open: self.open_conflicts().next().is_some(),
            triggers: self.triggers().into_iter().filter(|trigger| !self.cools_down(trigger)).collect(),
        }
    }

    /// The causes for asking a person that hold, also those that are cooling down.
    pub fn triggers(&self) -> Vec<Trigger> {
        let (rounds, limits) = (self.recorded_rounds(), &self.spec.limits);
        let conflicts = self
            .open_conflicts()
            .filter(|conflict| conflict.rounds_open(rounds) > limits.max_rounds_per_conflict)
            .map(|conflict| Trigger::ConflictRounds(conflict.about.conflict_id));
        let topics = self.spec.agenda.iter().filter(|topic| topic.critical).filter_map(|topic| {
            let trigger = Trigger::LowConfidence(topic.topic_id.clone());
            let settled = self.settled_in(&trigger);
            let (round, lowest) = self.last_confidence(&topic.topic_id)?;
            (round > settled && lowest < limits.confidence_below).then_some(trigger)
        });
        conflicts.chain(topics).collect()
    }

    /// The last round on a topic that somebody answered in, and the lowest confidence there.
    fn last_confidence(&self, topic: &TopicId) -> Option<(u32, super::Confidence)> {
        self.rounds.iter().rev().find_map(|round| {
            round.asked.as_ref().filter(|asked| asked.topic_id == *topic)?;
            let confidences = round.answers.iter().map(|answer| answer.said.confidence);
            let lowest = confidences.reduce(|a, b| if b < a { b } else { a })?;
            Some((round.number, lowest))
        })
    }

    /// The round after which a person last decided on a cause; 0 if none did.
    fn settled_in(&self, trigger: &Trigger) -> u32 {
        let decided = self.interactions.iter().filter(|interaction| {
            let escalation = interaction.matter.escalation().and_then(|number| self.escalation(number));
            let about = escalation.is_some_and(|escalation| escalation.triggers.contains(trigger));
            about && interaction.resolution.as_ref().is_some_and(|resolution| resolution.word.decides())
        });
        decided.map(|interaction| interaction.round).max().unwrap_or(0)
    }

    /// The same cause does not come before a person again at once.
    fn cools_down(&self, trigger: &Trigger) -> bool {
        let last = self.escalations.iter().rev().find(|escalation| escalation.triggers.contains(trigger));
        let cooldown = self.spec.limits.escalation_cooldown_rounds;
        last.is_some_and(|last| self.recorded_rounds() <= last.round.saturating_add(cooldown))
    }
}

impl Word {
    /// Whether a person has decided the matter by it.
    pub(crate) const fn decides(self) -> bool {
        match self {
            Self::Accept | Self::OwnDecision => true,
            Self::Continue | Self::Conclude | Self::Close | Self::Discuss => false,
        }
    }
}
