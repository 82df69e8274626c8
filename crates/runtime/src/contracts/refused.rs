//! Calls that are not made: what the agent is told, and the fact in the journal that says so.

use adjourn_core::{Command, ContractStatus, ExecutionId, Holder, RefusedCall};
use adjourn_engine::{Call, Told};
use adjourn_kernel::load;

use super::turn::Inner;

/// A call that has no contract of its own, because it is not made.
pub(super) struct NotMade {
    reason: String,
    /// What the agent is told, where that is more than the reason.
    told: Option<Told>,
    /// The contract of the same call that was asked for before.
    same_as: Option<ExecutionId>,
}

impl NotMade {
    pub(super) fn because(reason: impl ToString) -> Self {
        Self { reason: reason.to_string(), told: None, same_as: None }
    }
}

impl Inner {
    /// Makes a call, and tells what became of it. What is told is in the journal first: as a contract, or as a refusal.
    pub(super) async fn answered(&self, call: Call) -> Told {
        match self.call(call.clone()).await {
            Ok(told) => told,
            Err(NotMade { reason, told, same_as }) => {
                self.note_refused(&call, &reason, same_as).await;
                told.unwrap_or(Told::Refused(reason))
            }
        }
    }

    /// Writes down that a call is not made. Refused only where the turn is over, and then nobody is told anything.
    pub(super) async fn note_refused(&self, call: &Call, reason: &str, same_as: Option<ExecutionId>) {
        let arguments = self.masker.json(&call.arguments).to_string();
        let (tool, reason) = (self.masked(&call.name), self.masked(reason));
        let call = RefusedCall { tool, arguments, reason, same_as };
        let _ = self.tell(Command::RefuseCall { turn: self.run.turn(), call }).await;
    }

    /// What became of the same call that was asked for before, by this run or by another.
    pub(super) fn held(&self, holder: &Holder) -> NotMade {
        let holding = holder.stream.run();
        let run = holding
            .zip(self.journal_writer.store())
            .and_then(|(run_id, store)| load::<adjourn_core::Run>(store.as_ref(), run_id).ok().flatten());
        let consequence = run.and_then(|run| Some(run.contract(holder.execution_id?)?.consequence()));
        let before = format!("the same call was made before, by {}", holder.stream);
        let Some(consequence) = consequence else {
            return NotMade::because(format!("{before}, and what became of it cannot be read"));
        };
        let (id, status) = (consequence.execution_id, consequence.status);
        let is_open_here = status == ContractStatus::Waiting && holding == Some(self.run.id());
        let told = if is_open_here { Told::WithUser(id) } else { Told::Before(consequence) };
        NotMade { reason: format!("{before}, and is {status}"), told: Some(told), same_as: Some(id) }
    }
}
