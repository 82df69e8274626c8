//! The round: one pass of a roundtable.

use crate::machine::machine;

machine! {
    /// One pass of a roundtable, step by step.
    RoundMachine = "round";

    states RoundStep {
        /// The facilitator chooses a focus and asks.
        Question = "question" is initial,
        /// The participants answer, blind to each other.
        Responses = "responses",
        /// The facilitator draws the answers together.
        Synthesis = "synthesis",
        /// What was proposed is applied through the machines.
        Artifacts = "artifacts",
        /// The round is in the journal.
        Recorded = "recorded" is terminal,
    }
    triggers RoundTrigger {
        /// The question is there.
        Ask = "question.asked",
        /// Everybody answered or is missing.
        Collect = "responses.collected",
        /// The synthesis is there.
        Synthesize = "synthesis.made",
        /// The proposals were applied or refused.
        Record = "round.recorded",
    }
    edges {
        Question: Ask => Responses by Facilitator;
        Responses: Collect => Synthesis by System, "a missing participant is recorded";
        Synthesis: Synthesize => Artifacts by Facilitator;
        Artifacts: Record => Recorded by System;
    }
}
