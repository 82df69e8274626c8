//! Proposals, and who can live with them.

use super::{Phase, Sees, Sides, Speakers, StanceRule, Strategy};

pub(super) const CONSENSUS_DRIVEN: Strategy = Strategy {
    name: "consensus-driven",
    summary: "everybody proposes, then supports, stands aside or blocks; one block keeps a proposal from being agreed",
    sides: Sides::None,
    phases: &[
        Phase {
            name: "proposal",
            speakers: Speakers::Everybody,
            sees: Sees::Synthesis,
            stance: StanceRule::Free,
        },
        Phase {
            name: "stance",
            speakers: Speakers::Everybody,
            sees: Sees::LastRound,
            stance: StanceRule::Required,
        },
    ],
};
