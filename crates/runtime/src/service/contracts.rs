//! Contracts as every surface asks for them: looked up, followed over all attempts, settled by a person.

use std::sync::Arc;

use adjourn_core::{
    By, Command, Contract, ContractStatus, ExecutionId, Interaction, InteractionId, Outcome, Refusal, Run,
    RunId, Settlement, Subject, Trace, TraceStep,
};
use adjourn_store::After;

use super::{ReplyRequest, Service, ServiceError};
use adjourn_kernel::Denied;

/// Entries of a stream that are read at once.
///
/// A run that called a hundred tools has a few hundred, so most are read in one go and none fills the memory.
const PAGE_ENTRIES: usize = 512;

/// What a person says of a call whose result was lost.
#[derive(Debug, Clone)]
pub struct Settle {
    /// What became of it.
    pub outcome: Settlement,
    /// What there is to say about it. Of a call that happened, its result.
    pub note: Option<String>,
    /// Who says it.
    pub by: By,
}

impl Service {
    /// The run that a contract belongs to; it has that contract.
    pub fn run_of(&self, id: ExecutionId) -> Result<Run, ServiceError> {
        let row = self.store().contract(id)?.ok_or(ServiceError::UnknownContract(id))?;
        self.run(row.run_id)
    }

    /// A run, and every step of every contract of it, in order.
    pub fn traced(&self, run_id: RunId) -> Result<(Run, Vec<TraceStep>), ServiceError> {
        let mut trace = Trace::default();
        let mut seq = 0;
        loop {
            let entries = self.store().read(run_id.into(), After::Seq(seq), PAGE_ENTRIES)?;
            for entry in &entries {
                // The steps of an entry that cannot be read are left out.
                let _ = trace.add(entry);
                seq = entry.seq;
            }
            if entries.len() < PAGE_ENTRIES {
                return Ok((self.run(run_id)?, trace.into_steps()));
            }
        }
    }

    /// Settles a call whose result was lost, also after the end of its run. The same said again changes nothing, and the
    /// note of the first time stays. Returns the run, which has that contract.
    pub async fn settle(&self, id: ExecutionId, said: Settle) -> Result<Arc<Run>, ServiceError> {
        let row = self.store().contract(id)?.ok_or(ServiceError::UnknownContract(id))?;
        let happened = said.outcome.happened();
        let settle = Command::SettleContract { id, happened, note: said.note, by: said.by };
        match self.runtime().ask(row.run_id, settle).await {
            Ok(accepted) => Ok(accepted.state),
            Err(Denied::Refused(Refusal::NothingToSettle(_))) => {
                let run = self.run(row.run_id)?;
                let contract = run.contract(id).ok_or(ServiceError::UnknownContract(id))?;
                match contract.outcome {
                    Outcome::Settled { happened: before } if before == happened => Ok(Arc::new(run)),
                    Outcome::Settled { .. } | Outcome::Known | Outcome::Unknown => {
                        Err(ServiceError::NothingToSettle { id, problem: why_not(&run, contract) })
                    }
                }
            }
            Err(denied) => Err(denied.into()),
        }
    }
}

impl Service {
    /// Cancels one contract that waits or has not begun. The same again changes nothing. Returns the run, which has that
    /// contract.
    pub async fn cancel_contract(&self, id: ExecutionId, by: By) -> Result<Arc<Run>, ServiceError> {
        let row = self.store().contract(id)?.ok_or(ServiceError::UnknownContract(id))?;
        Ok(self.runtime().ask(row.run_id, Command::CancelContract { id, by }).await?.state)
    }

    /// Answers the question about one contract, as [`reply`](Self::reply) does. A question of another contract is none of
    /// it. Returns the run, which has that contract.
    pub async fn reply_to_contract(
        &self,
        id: ExecutionId,
        answer: ReplyRequest,
    ) -> Result<Arc<Run>, ServiceError> {
        let run = self.run_of(id)?;
        let about = || run.interactions().iter().filter(|it| it.subject.execution_id() == Some(id));
        let is_about_it = |wanted: &InteractionId| about().any(|it| it.interaction_id == *wanted);
        // What is not open is refused by the rules, which know best what to say about it.
        let interaction_id = match answer.interaction_id {
            Some(wanted) => Some(wanted).filter(is_about_it),
            None => {
                let before = |it: &&Interaction| {
                    let key = it.resolution.as_ref().and_then(|resolution| resolution.key.as_ref());
                    key.is_some_and(|key| Some(&key.key) == answer.key.as_ref())
                };
                let meant = about().find(before).or_else(|| about().find(|it| it.is_open()));
                meant.or_else(|| about().next_back()).map(|it| it.interaction_id)
            }
        };
        if interaction_id.is_none() {
            return Err(ServiceError::Denied(Denied::Refused(Refusal::NothingAsked(id))));
        }
        self.reply(run.id(), ReplyRequest { interaction_id, ..answer }).await
    }
}

/// Why there is nothing to settle, and what to do instead.
fn why_not(run: &Run, contract: &Contract) -> String {
    let asked = run
        .open_interactions()
        .find(|interaction| interaction.subject == Subject::Recovery(contract.spec.execution_id));
    if let Some(asked) = asked {
        let (id, question) = (run.id(), asked.interaction_id);
        return format!("whether it happened is question {question} of {id}, which waits for a reply");
    }
    match (&contract.outcome, contract.status) {
        (Outcome::Settled { happened }, _) => {
            format!("it was settled before, as {}, and that stays", Settlement::of(*happened))
        }
        (
            Outcome::Known | Outcome::Unknown,
            status @ (ContractStatus::Pending | ContractStatus::Running | ContractStatus::Waiting),
        ) => format!("it is {status}, and only a call that is over and whose result was lost is settled"),
        (
            Outcome::Known | Outcome::Unknown,
            status @ (ContractStatus::Completed
            | ContractStatus::Failed
            | ContractStatus::Rejected
            | ContractStatus::Cancelled),
        ) => format!("it is {status}, and what became of it is known"),
    }
}
