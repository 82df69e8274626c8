//! Who sees what: earlier rounds by the strategy's rule, never the round that is going on.

use super::Roundtable;
use super::answer::Answer;
use super::id::Role;
use super::round::{ActivationOutcome, Round};
use super::strategy::Sees;
use crate::RunId;

/// What a participant sees of the rounds before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Seen<'a> {
    /// What the facilitator made of the last round.
    pub synthesis: Option<&'a str>,
    /// What was said, with the round in which it was.
    pub answers: Vec<(u32, &'a Answer)>,
}

/// The last conversation of an agent that may be taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversation {
    /// The run that it was.
    pub run_id: RunId,
    /// The last recorded round that it knows of.
    pub seen_round: u32,
}

impl Roundtable {
    /// What a participant may see of the rounds before the current one.
    pub fn seen_by(&self, role: &Role) -> Seen<'_> {
        let number = self.recorded_rounds() + 1;
        let last = self.rounds.last();
        match self.strategy.phase(number).sees {
            Sees::Nothing => Seen::default(),
            Sees::Synthesis => Seen { synthesis: last.and_then(Round::summary), answers: Vec::new() },
            Sees::LastRound => self.said(number - 1, |_| true),
            Sees::OtherSide => {
                let side = |role: &Role| self.spec.seat(role).and_then(|seat| seat.side);
                let own = side(role);
                self.said(number - 1, |answer| side(&answer.role).is_some_and(|side| Some(side) != own))
            }
            Sees::Cycle => self.said(self.strategy.cycle_start(number), |_| true),
        }
    }

    /// What was said since a round began.
    fn said(&self, since: u32, which: impl Fn(&Answer) -> bool) -> Seen<'_> {
        let rounds = self.rounds.iter().filter(|round| round.number >= since);
        let answers = rounds.flat_map(|round| round.answers.iter().map(|answer| (round.number, answer)));
        Seen { synthesis: None, answers: answers.filter(|(_, answer)| which(answer)).collect() }
    }

    /// The conversation that an agent can take up: that of its last run that was heard.
    pub fn conversation(&self, role: &Role) -> Option<Conversation> {
        self.rounds.iter().chain(&self.current).rev().find_map(|round| {
            let heard = round.activations.iter().rev().find(|activation| {
                activation.outcome == Some(ActivationOutcome::Recorded) && activation.purpose.role() == *role
            })?;
            Some(Conversation { run_id: heard.run_id, seen_round: round.number - 1 })
        })
    }
}

impl Round {
    /// What the facilitator made of it.
    pub fn summary(&self) -> Option<&str> {
        self.synthesis.as_ref().map(|synthesis| synthesis.summary.as_str())
    }
}
