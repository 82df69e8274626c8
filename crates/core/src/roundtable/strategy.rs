//! Strategies: who speaks in which round, in which order, and what they see of the rounds before.
//!
//! A strategy is a table, one file each. To add one, add its file and its line in [`Strategy::ALL`]; the words that its
//! phases put to the agents are a prompt of the same name, outside of this crate.

mod consensus_driven;
mod debate;
mod disney;
mod six_hats;
mod standard;

use super::spec::{Seat, Side};
use crate::UnknownName;

/// How a roundtable is held.
#[derive(Debug, PartialEq, Eq)]
pub struct Strategy {
    /// Its name, on the command line and on the wire.
    pub name: &'static str,
    /// What it is good for, in one sentence.
    pub summary: &'static str,
    /// Whether participants take sides.
    pub sides: Sides,
    /// Its phases. Each is one round; after the last one the first comes again.
    pub phases: &'static [Phase],
}

/// What one round of a strategy is like.
#[derive(Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name, on the wire and in the name of its prompt.
    pub name: &'static str,
    /// Who is asked.
    pub speakers: Speakers,
    /// What they see of the rounds before. Of the round that is going on nobody sees anything.
    pub sees: Sees,
    /// Whether they have to say how far they go along.
    pub stance: StanceRule,
}

/// Whether participants take sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// Everybody speaks for themselves.
    None,
    /// For and against. Where no seat names its side, they alternate; where one does, the others are neutral.
    Two,
}

/// Who is asked, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speakers {
    /// Everybody, as they are seated.
    Everybody,
    /// Those on a side, and this side first.
    SidesFrom(Side),
    /// Those on a side, this side first, then the neutral ones.
    EverybodyFrom(Side),
}

/// What a speaker sees of the rounds before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sees {
    /// Nothing that anybody said.
    Nothing,
    /// The last synthesis, and nobody's own words.
    Synthesis,
    /// The answers of the last round.
    LastRound,
    /// What the other side said in the last round.
    OtherSide,
    /// All answers since the first phase came last.
    Cycle,
}

/// Whether an answer has to say how far it goes along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StanceRule {
    /// It need not.
    Free,
    /// Support, stand aside or block; while somebody blocks, nothing is agreed.
    Required,
}

impl Strategy {
    /// Every strategy, the usual one first.
    pub const ALL: &'static [&'static Self] = &[
        &standard::STANDARD,
        &debate::DEBATE,
        &disney::DISNEY,
        &consensus_driven::CONSENSUS_DRIVEN,
        &six_hats::SIX_HATS,
    ];

    const NAMES: &'static [&'static str] = &{
        let mut names = [""; Self::ALL.len()];
        let mut place = 0;
        while place < names.len() {
            names[place] = Self::ALL[place].name;
            place += 1;
        }
        names
    };

    /// The strategy of this name.
    pub fn named(name: &str) -> Result<&'static Self, UnknownName> {
        let found = Self::ALL.iter().find(|strategy| strategy.name == name);
        found.copied().ok_or_else(|| UnknownName { given: name.to_owned(), known: Self::NAMES })
    }

    /// The phase of a round, which are counted from 1.
    pub fn phase(&self, round: u32) -> &'static Phase {
        &self.phases[self.place(round)]
    }

    /// The round in which the first phase came last, seen from `round`.
    pub fn cycle_start(&self, round: u32) -> u32 {
        round - u32::try_from(self.place(round)).expect("a strategy has far fewer than four billion phases")
    }

    fn place(&self, round: u32) -> usize {
        assert!(round > 0, "rounds are counted from 1");
        (round - 1) as usize % self.phases.len()
    }

    /// The participants as they sit under this strategy: on a side each where there are sides and nobody chose one.
    pub fn seated(&self, participants: &[Seat]) -> Vec<Seat> {
        let mut seated = participants.to_vec();
        if self.sides == Sides::Two && seated.iter().all(|seat| seat.side.is_none()) {
            for (seat, side) in seated.iter_mut().zip(Side::ALL.iter().cycle()) {
                seat.side = Some(*side);
            }
        }
        seated
    }
}

impl Phase {
    /// Who of the participants is asked, in order.
    pub fn speakers<'a>(&self, participants: &'a [Seat]) -> Vec<&'a Seat> {
        let on = |side| participants.iter().filter(move |seat| seat.side == side);
        match self.speakers {
            Speakers::Everybody => participants.iter().collect(),
            Speakers::SidesFrom(first) => on(Some(first)).chain(on(Some(first.other()))).collect(),
            Speakers::EverybodyFrom(first) => {
                on(Some(first)).chain(on(Some(first.other()))).chain(on(None)).collect()
            }
        }
    }
}

impl Side {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::For => Self::Against,
            Self::Against => Self::For,
        }
    }
}
