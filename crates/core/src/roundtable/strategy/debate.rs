//! Two sides and an audience.

use super::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};
use crate::roundtable::spec::Side;

/// Whoever opens has the last word, so that neither side only ever answers. The neutral ones listen to both before they
/// say which side convinced them.
pub(super) const DEBATE: Strategy = Strategy {
    name: "debate",
    summary: "one side speaks for it and one against, to find out what a choice costs",
    sides: Sides::Two,
    phases: &[
        Phase {
            name: "opening",
            speakers: Speakers::SidesFrom(Side::For),
            sees: Sees::Nothing,
            stance: StanceRule::Free,
        },
        Phase {
            name: "rebuttal",
            speakers: Speakers::SidesFrom(Side::Against),
            sees: Sees::OtherSide,
            stance: StanceRule::Free,
        },
        Phase {
            name: "closing",
            speakers: Speakers::EverybodyFrom(Side::Against),
            sees: Sees::Cycle,
            stance: StanceRule::Free,
        },
    ],
};
