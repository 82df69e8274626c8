//! Chains of runs that continue each other.

use adjourn_core::{ErrorCode, Run, RunError, RunId};
use adjourn_store::{Error, Store};

use crate::load::load;

/// Why a conversation cannot be taken up.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A run that it goes back to is not there any more. Without it, what is left would be taken for the whole.
    #[error(
        "the conversation cannot be taken up: {missing}, which {run_id} continues, was removed. Start a run that \
         continues none"
    )]
    Gap {
        /// The run that continues it.
        run_id: RunId,
        /// The run that is not there.
        missing: RunId,
    },
    /// The journal cannot be read.
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<HistoryError> for RunError {
    fn from(error: HistoryError) -> Self {
        let message = error.to_string();
        let code = match error {
            HistoryError::Gap { .. } => ErrorCode::SessionResumeFailed,
            HistoryError::Store(_) => ErrorCode::Internal,
        };
        Self { code, message }
    }
}

/// A run and the runs that it continues, the first of them first.
pub fn chain(store: &dyn Store, run_id: RunId) -> Result<Vec<Run>, HistoryError> {
    let mut chain: Vec<Run> = Vec::new();
    let mut next = Some(run_id);
    while let Some(id) = next {
        let Some(run) = load::<Run>(store, id)? else {
            let run_id = chain.last().map_or(run_id, Run::id);
            return Err(HistoryError::Gap { run_id, missing: id });
        };
        next = run.spec().continues.as_ref().map(|continued| continued.run_id);
        chain.push(run);
    }
    chain.reverse();
    Ok(chain)
}
