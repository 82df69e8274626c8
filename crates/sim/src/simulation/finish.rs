//! The end of a simulation: faults stop, whoever waits is answered, and every run has to come to its end.

use adjourn_core::{By, Contract, Outcome, RunStatus};

use super::{Simulation, Todo};
use crate::client::{Deed, Reaction};
use crate::memory::Unsynced;
use crate::report::{Step, Stop, Violation, ensure};

/// Steps of one simulation: ten times as many as any of the first 10,000 seeds took, but for those that wait to be
/// taken for stuck.
pub(super) const STEPS_MAX: u64 = 20_000;

/// How often it is looked who waits, in milliseconds.
const TIDY_EVERY_MS: i64 = 5000;

/// How long a person waits before they say what became of a call: longer than any is on its way.
const SETTLE_AFTER_MS: i64 = 200_000;

/// How long runs may take once nothing goes wrong any more: the longest turn of any plan, some ten times over.
const CALM_MAX_MS: i64 = 3 * 3_600_000;

impl Simulation {
    pub(super) fn calm(&mut self) {
        self.is_calm = true;
        self.failing_reads.store(0, std::sync::atomic::Ordering::Relaxed);
        self.disk_changes(super::disk_state::DiskState::Roomy);
        self.later(0, Todo::Tidy);
    }

    /// Answers whatever waits, and cancels whatever hangs.
    pub(super) fn tidy(&mut self) -> Step {
        ensure(
            self.time_ms < self.plan.calm_at_ms + CALM_MAX_MS,
            "every run ends or waits for a person",
            || {
                let roundtables: Vec<_> = self.active_roundtables().collect();
                let stuck: Vec<_> =
                    self.mirror.runs.values().filter(|run| !run.status().is_terminal()).collect();
                let stuck: Vec<_> =
                    stuck.iter().map(|run| format!("{} is {}", run.id(), run.status())).collect();
                format!(
                    "stuck: {stuck:?} and {roundtables:?}; not answered: {:?}; creators are served: {}; engines are idle: {}",
                    self.outstanding,
                    self.clients.are_served(&self.plan),
                    self.engines.are_idle()
                )
            },
        )?;
        self.later(TIDY_EVERY_MS, Todo::Tidy);
        if self.kernel.is_none() {
            return Ok(());
        }
        // A turn that vanished is found by the next restart, and by nothing else.
        if self.engines.has_vanished() {
            return Err(Stop::Crash(Unsynced::Lost));
        }
        let (time_ms, in_doubt_since) = (self.time_ms, &mut self.in_doubt_since);
        let mut reactions = Vec::new();
        for run in self.mirror.runs.values() {
            for open in run.open_interactions() {
                reactions.push(Reaction { run_id: run.id(), deed: Deed::answer(open.interaction_id) });
            }
            let in_doubt = run.contracts().filter(|contract| contract.outcome == Outcome::Unknown);
            // Whoever looks while a call may still be on its way cannot say what becomes of it.
            let mut looked_at = |contract: &&Contract| {
                let since = in_doubt_since.entry(contract.spec.execution_id).or_insert(time_ms);
                *since + SETTLE_AFTER_MS <= time_ms
            };
            for contract in
                in_doubt.filter(|_| run.status().is_terminal()).filter(|contract| looked_at(contract))
            {
                let deed = Deed::Settle(contract.spec.execution_id);
                reactions.push(Reaction { run_id: run.id(), deed });
            }
            if run.status() == RunStatus::Running && self.engines.hangs(run.id()) {
                reactions.push(Reaction { run_id: run.id(), deed: Deed::Cancel(By::USER) });
            }
        }
        for reaction in reactions {
            self.later(0, Todo::React(reaction));
        }
        self.tidy_roundtables();
        Ok(())
    }

    /// Whether everything that was to happen has happened.
    pub(super) fn is_finished(&self) -> bool {
        let Some(kernel) = &self.kernel else { return false };
        self.clients.are_served(&self.plan)
            && !self.has_outstanding()
            && !kernel.is_committing()
            && kernel.open_len() == 0
            && self.engines.are_idle()
            && self.mirror.runs.values().all(|run| run.status().is_terminal())
            && self.roundtables_are_over()
    }

    /// What holds at the end.
    pub(super) fn finish(&mut self) -> Result<(), Violation> {
        if let Some(kernel) = &self.kernel {
            self.watch.at_the_end(kernel, &self.mirror, self.disk.durable().as_ref())?;
        }
        self.mirror.check_effects(self.engines.ledger.effects())?;
        self.count_roundtables();
        for run in self.mirror.runs.values() {
            self.counts.add("runs");
            self.counts.add(match run.status() {
                RunStatus::Succeeded => "runs that succeeded",
                RunStatus::Failed => "runs that failed",
                RunStatus::Canceled => "runs that were canceled",
                RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => "runs without an end",
            });
        }
        Ok(())
    }
}
