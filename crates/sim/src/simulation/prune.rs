//! Prunes: old runs are removed while nothing works on the journal, and nothing that is left may miss them.

use adjourn_core::{Refusal, Run, RunId, Timestamp};
use adjourn_kernel::chain;
use adjourn_store::{KeptBecause, Removal};

use super::{Simulation, Ticket};
use crate::bug::Bug;
use crate::report::{Step, Violation, ensure};

impl Simulation {
    /// Removes every run that has ended and that nothing needs, the newest first.
    pub(super) fn prune(&mut self) -> Result<(), Violation> {
        let often = self.plan.faults.prune;
        // What is durable and what is seen are two stores with that bug.
        let is_hasty = self.plan.bug == Some(Bug::AcknowledgesEarly);
        if often == 0 || is_hasty || !self.random.once_in(often) {
            return Ok(());
        }
        self.counts.add("prunes");
        let store = self.disk.durable();
        let there = self.mirror.runs.values().filter(|run| !self.mirror.removed.contains(&run.id()));
        // As the real prune does it: the runs of an active roundtable stay.
        let ended: Vec<RunId> = there
            .filter(|run| run.status().is_terminal() && !self.mirror.roundtables.needs(run))
            .map(Run::id)
            .collect();
        for run_id in ended.into_iter().rev() {
            let removal = store
                .remove(run_id.into())
                .map_err(|error| Violation::new("a run can be removed", error.to_string()))?;
            self.log(|| format!("  prune {run_id}: {removal:?}"));
            let is_forgetful = self.plan.bug == Some(Bug::PrunesContinued);
            match removal {
                Removal::Removed => {}
                Removal::Kept(KeptBecause::ContinuedBy(_)) if is_forgetful => {
                    self.disk.remove_whatever_needs_it(run_id);
                }
                Removal::Kept(KeptBecause::ContinuedBy(_)) => {
                    self.counts.add("runs that a prune kept for their successor");
                    continue;
                }
                Removal::Kept(KeptBecause::CallInDoubt) => continue,
                Removal::Kept(KeptBecause::NotEnded) | Removal::NotThere => {
                    return Err(Violation::new(
                        "a run that ended can be removed",
                        format!("{run_id}: {removal:?}"),
                    ));
                }
            }
            self.counts.add("runs that a prune removed");
            self.mirror.removed.insert(run_id);
        }
        if self.plan.bug == Some(Bug::ForgetsCreateKeys) {
            store
                .forget_keys(Timestamp::from_millis(i64::MAX))
                .map_err(|error| Violation::new("keys can be forgotten", error.to_string()))?;
        }
        Ok(())
    }

    /// The conversation that a turn goes on with is whole.
    pub(crate) fn check_conversation(&self, run: &Run) -> Step {
        let chain = chain(self.disk.durable().as_ref(), run.id());
        ensure(chain.is_ok(), "a conversation goes back to its first run", || format!("{chain:?}"))?;
        Ok(())
    }

    /// A call that is not made because it was made before is answered with what became of the same call.
    pub(crate) fn check_answered(&self, ticket: &Ticket, refusal: &Refusal) -> Step {
        let (adjourn_core::Command::RequestContract(request), Refusal::Held(holder)) =
            (&ticket.command, refusal)
        else {
            return Ok(());
        };
        let held = holder.stream.run().and_then(|run_id| self.mirror.runs.get(&run_id));
        let held = held.zip(holder.execution_id).and_then(|(run, id)| run.contract(id));
        let is_same = held.is_some_and(|held| held.spec.claim_key() == request.spec.claim_key());
        ensure(is_same, "no call is answered with the result of another", || {
            format!("{:?} by {held:?}", request.spec)
        })?;
        Ok(())
    }
}
