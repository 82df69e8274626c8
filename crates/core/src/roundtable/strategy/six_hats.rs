//! Six ways of thinking, all together in one at a time.

use super::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};

/// The yellow hat comes before the black one, because what is good about a thing is harder to say once it was torn apart.
/// A feeling is asked for without anybody else's words in front of it.
pub(super) const SIX_HATS: Strategy = Strategy {
    name: "six-hats",
    summary: "facts, feelings, benefits, dangers, ideas and the plan, one kind of thinking in each round",
    sides: Sides::None,
    phases: &[
        hat("white", Sees::Synthesis),
        hat("red", Sees::Nothing),
        hat("yellow", Sees::LastRound),
        hat("black", Sees::LastRound),
        hat("green", Sees::LastRound),
        hat("blue", Sees::Cycle),
    ],
};

const fn hat(name: &'static str, sees: Sees) -> Phase {
    Phase { name, speakers: Speakers::Everybody, sees, stance: StanceRule::Free }
}
