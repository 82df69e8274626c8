//! Dream, plan, criticise: everybody together, one after the other.

use super::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};

/// Who dreams is not shown what others said, because a dream that answers objections is a plan. The critic sees both, and
/// the next dreamer what the critics left standing.
pub(super) const DISNEY: Strategy = Strategy {
    name: "disney",
    summary: "everybody dreams, then plans, then criticises, so that no idea is judged before it is there",
    sides: Sides::None,
    phases: &[
        Phase {
            name: "dreamer",
            speakers: Speakers::Everybody,
            sees: Sees::Synthesis,
            stance: StanceRule::Free,
        },
        Phase {
            name: "realist",
            speakers: Speakers::Everybody,
            sees: Sees::LastRound,
            stance: StanceRule::Free,
        },
        Phase { name: "critic", speakers: Speakers::Everybody, sees: Sees::Cycle, stance: StanceRule::Free },
    ],
};
