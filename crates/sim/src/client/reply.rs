//! What people say.

use adjourn_core::{Action, InteractionId, QuestionKind, RecoveryAnswer, Run, Subject};
use serde_json::{Value, json};

use crate::engine::Ledger;

/// How a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// So that the run goes on.
    Right,
    /// Rightly too, and differently.
    Other,
    /// With other arguments, where a call needs approval.
    Edit,
    /// So that it does not fit the question.
    Wrong,
}

/// The answer, and what to do with a call that needs approval.
pub(super) fn words(run: &Run, id: InteractionId, how: How, ledger: &Ledger) -> (Value, Option<Action>) {
    let Some(interaction) = run.interaction(id) else { return (json!("to nothing"), None) };
    let is_choice = interaction.question.kind == QuestionKind::ChooseOne;
    match (interaction.subject, how) {
        (_, How::Wrong) => (json!(12345), None),
        (Subject::Approval(_), How::Right) => (json!(true), Some(Action::Approve)),
        (Subject::Approval(_), How::Other) => (json!("rather not"), Some(Action::Reject)),
        (Subject::Approval(_), How::Edit) => (json!({ "n": 7 }), Some(Action::Edit)),
        // Whoever is asked goes and looks, and says what is so.
        (Subject::Recovery(call), How::Right | How::Edit) => {
            let happened = ledger.has_happened(call);
            let answer = if happened { RecoveryAnswer::Happened } else { RecoveryAnswer::DidNotHappen };
            (json!(answer.name()), None)
        }
        (Subject::Recovery(_), How::Other) => (json!(RecoveryAnswer::CancelRun.name()), None),
        (Subject::Form(_) | Subject::Elicitation(_), How::Other) => (json!("no"), Some(Action::Reject)),
        (
            Subject::Turn | Subject::Form(_) | Subject::Elicitation(_) | Subject::Permission(_),
            How::Right | How::Edit,
        ) => (json!(if is_choice { "a" } else { "yes" }), None),
        (Subject::Turn | Subject::Permission(_), How::Other) => {
            (json!(if is_choice { "b" } else { "no" }), None)
        }
    }
}
