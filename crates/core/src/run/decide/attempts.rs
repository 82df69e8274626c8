//! Attempts: what opens one, and what happens when none is left.
//!
//! An attempt begins with the run, and with every turn that is given an answer to a question of the agent's own, however it
//! was asked. Approvals, permissions, questions of tools and questions after a crash go on in the attempt that they
//! interrupted, and are not counted.

use super::super::Run;
use crate::{ContractAction, ContractStatus, ErrorCode, ExecutionMode, Interaction, RunError};

/// Whether no attempt is left that could be given an answer. An auto run has no limit.
pub(super) fn are_used_up(run: &Run) -> bool {
    let is_last = run.spec.max_attempt.is_some_and(|max| run.attempts_counted >= max);
    is_last && run.spec.execution_mode == ExecutionMode::Interactive
}

/// The answers to questions of the agent's own that no turn was given yet.
pub(super) fn own_answers(run: &Run) -> impl Iterator<Item = &Interaction> {
    run.unused_answers().filter(|interaction| interaction.subject.is_agents_own())
}

/// Why a turn that ends now ends the run: it needs an answer, and no attempt is left that could be given one.
pub(super) fn exceeded(run: &Run) -> Option<RunError> {
    let is_open = || run.open_interactions().any(|interaction| interaction.subject.is_agents_own());
    let needs_one = is_open() || own_answers(run).next().is_some() || run.contracts().any(was_not_asked);
    (are_used_up(run) && needs_one).then(|| {
        let (attempt, max) = (run.attempts_counted, run.spec.max_attempt.unwrap_or_default());
        let message = format!("attempt {attempt} of {max} ended with a question of the agent");
        RunError { code: ErrorCode::InteractiveMaxAttemptExceeded, message }
    })
}

/// Whether the contract is a question that was never put to anybody.
fn was_not_asked(contract: &crate::Contract) -> bool {
    let is_question = match contract.spec.action {
        ContractAction::EcsRequest(_) => true,
        ContractAction::ToolCall(_) => false,
    };
    is_question && contract.status == ContractStatus::Pending
}
