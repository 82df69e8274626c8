//! The escalation: why a person is asked, and everything they need to decide.

use serde::{Deserialize, Serialize};

use super::Roundtable;
use super::answer::{Answer, Confidence};
use super::id::Role;
use super::next::Trigger;
use super::point::HeldPosition;
use super::round::Round;
use crate::interaction::By;

/// A person's wish to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EscalationWish {
    /// Whose.
    pub by: By,
    /// What they want to have a say in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why a person is asked, and what they need to decide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Escalation {
    /// Its number at the table, counted from 1.
    pub number: u32,
    /// The round after which it was raised.
    pub round: u32,
    /// The causes.
    #[serde(default)]
    pub triggers: Vec<Trigger>,
    /// Who wished for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<EscalationWish>,
    /// Who holds what.
    pub positions: Vec<Stand>,
    /// What the facilitator recommends.
    #[serde(default)]
    pub recommendation: Option<String>,
    /// The causes, for people.
    pub reasons: Vec<String>,
}

/// A position that a person has to decide about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Stand {
    /// Who holds it.
    pub held_by: Vec<Role>,
    /// The position, in words.
    pub position: String,
    /// The reasons for it.
    #[serde(default)]
    pub rationale: Option<String>,
    /// How sure they are.
    #[serde(default)]
    pub confidence: Option<Confidence>,
}

impl Escalation {
    /// The escalation that `triggers` and `wish` give rise to.
    pub(crate) fn of(table: &Roundtable, triggers: Vec<Trigger>, wish: Option<EscalationWish>) -> Self {
        let mut positions: Vec<Stand> = Vec::new();
        let found = triggers.iter().flat_map(|trigger| stands(table, trigger));
        for stand in found {
            if !positions.contains(&stand) {
                positions.push(stand);
            }
        }
        if positions.is_empty() {
            positions = table.rounds.last().map(answers).unwrap_or_default();
        }
        let synthesis = table.rounds.last().and_then(|round| round.synthesis.as_ref());
        Self {
            number: u32::try_from(table.escalations.len()).unwrap_or(u32::MAX).saturating_add(1),
            round: table.recorded_rounds(),
            reasons: wish.iter().map(wished).chain(triggers.iter().map(|t| reason(table, t))).collect(),
            triggers,
            wish,
            positions,
            recommendation: synthesis.and_then(|synthesis| synthesis.recommendation.clone()),
        }
    }

    /// All of it as text, for people.
    pub(crate) fn prompt(&self) -> String {
        let mut lines = vec![format!("After round {} the table needs a person.", self.round)];
        lines.extend(self.reasons.iter().cloned());
        if !self.positions.is_empty() {
            lines.push(String::new());
            lines.push("Positions:".to_owned());
            lines.extend(self.positions.iter().map(Stand::line));
        }
        lines.push(String::new());
        lines.push(match &self.recommendation {
            Some(recommendation) => format!("The facilitator recommends: {recommendation}"),
            None => "The facilitator recommends nothing.".to_owned(),
        });
        lines.join("\n")
    }
}

impl Stand {
    fn line(&self) -> String {
        let names: Vec<_> = self.held_by.iter().map(Role::as_str).collect();
        let mut line = format!("- {}: {}", names.join(", "), self.position);
        if let Some(rationale) = &self.rationale {
            line.push_str(&format!(" Because: {rationale}"));
        }
        if let Some(confidence) = self.confidence {
            line.push_str(&format!(" (confidence {})", confidence.value()));
        }
        line
    }
}

fn stands(table: &Roundtable, trigger: &Trigger) -> Vec<Stand> {
    match trigger {
        Trigger::ConflictRounds(id) => table
            .conflict(*id)
            .map(|conflict| conflict.about.positions.iter().map(held).collect())
            .unwrap_or_default(),
        Trigger::LowConfidence(topic) => {
            let on = |round: &&Round| round.asked.as_ref().is_some_and(|asked| asked.topic_id == *topic);
            table.rounds.iter().rev().find(on).map(answers).unwrap_or_default()
        }
    }
}

fn held(position: &HeldPosition) -> Stand {
    let HeldPosition { held_by, position, rationale } = position.clone();
    Stand { held_by, position, rationale, confidence: None }
}

fn answers(round: &Round) -> Vec<Stand> {
    let stand = |answer: &Answer| Stand {
        held_by: vec![answer.role.clone()],
        position: answer.said.position.clone(),
        rationale: answer.said.rationale.clone(),
        confidence: Some(answer.said.confidence),
    };
    round.answers.iter().map(stand).collect()
}

fn wished(wish: &EscalationWish) -> String {
    match &wish.note {
        Some(note) => format!("A person asked to have a say: {note}"),
        None => "A person asked to have a say.".to_owned(),
    }
}

fn reason(table: &Roundtable, trigger: &Trigger) -> String {
    match trigger {
        Trigger::ConflictRounds(id) => {
            let conflict = table.conflict(*id);
            let title = conflict.map_or("", |conflict| &conflict.about.title);
            let rounds = conflict.map_or(0, |conflict| conflict.rounds_open(table.recorded_rounds()));
            format!("The conflict {id} ({title}) has been open for {rounds} rounds.")
        }
        Trigger::LowConfidence(id) => {
            let title = table.spec.topic(id).map_or("", |topic| &topic.title);
            let least = table.spec.limits.confidence_below.value();
            format!("On the critical topic `{id}` ({title}) somebody's confidence is below {least}.")
        }
    }
}
