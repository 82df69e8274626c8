//! A conversation as the journal has it.

use adjourn_core::{Event, Observation, Record, RunId};
use adjourn_engine::History;
use adjourn_kernel::{HistoryError, chain};
use adjourn_store::{After, Error, Store};
use serde_json::Value;

/// Entries of a journal that are read at once.
const PAGE_ENTRIES: usize = 256;

/// The steps of a run's engine and what became of its calls, those of the runs that it continues first.
pub(super) fn read(store: &dyn Store, run_id: RunId) -> Result<History, HistoryError> {
    let mut history = History::default();
    for run in chain(store, run_id)? {
        for step in steps(store, run.id())? {
            history.steps.push((run.id(), step));
        }
        for contract in run.contracts() {
            let Some(call_ref) = &contract.spec.call_ref else { continue };
            // An edited call has the name of the one that it took the place of.
            let asked_for = contract.spec.edited_from.unwrap_or(contract.spec.execution_id);
            let consequence = run.consequence(asked_for).filter(|told| told.status.is_terminal());
            history.settled.extend(consequence.map(|consequence| (call_ref.clone(), consequence)));
        }
    }
    Ok(history)
}
fn steps(store: &dyn Store, run_id: RunId) -> Result<Vec<Value>, Error> {
    let mut steps = Vec::new();
    let mut seq = 0;
    loop {
        let entries = store.read(run_id.into(), After::Seq(seq), PAGE_ENTRIES)?;
        for entry in &entries {
            let record = Record::of(entry).map_err(|error| Error::Damaged { problem: error.to_string() })?;
            steps.extend(record.events.into_iter().filter_map(|event| match event {
                Event::Observed(Observation::Step(step)) => Some(step),
                _ => None,
            }));
            seq = entry.seq;
        }
        if entries.len() < PAGE_ENTRIES {
            return Ok(steps);
        }
    }
}
