//! An open discussion.

use super::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};

pub(super) const STANDARD: Strategy = Strategy {
    name: "standard",
    summary: "everybody answers the same question, and the facilitator draws the answers together",
    sides: Sides::None,
    phases: &[Phase {
        name: "discussion",
        speakers: Speakers::Everybody,
        sees: Sees::Synthesis,
        stance: StanceRule::Free,
    }],
};
