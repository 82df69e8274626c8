//! What a request comes to when it changes nothing.

use std::sync::Arc;

use adjourn_core::Refusal;
use adjourn_store::{Accepted, Error};

use crate::disk::MB;

/// What a request came to.
pub type Answer = Result<Accepted, Denied>;

/// A request that changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Denied {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Too many runs wait for a slot already.
    #[error("{waiting} runs wait for a slot, and no more than {queue_max} may: try again later")]
    QueueFull {
        /// How many wait.
        waiting: usize,
        /// How many may.
        queue_max: usize,
    },
    /// The disk has less room than is kept free for what goes on already.
    #[error(
        "the disk with the data directory has {} MB free, and no run is created while that is less than {} MB: make room, or lower `server.disk_reserve_mb`",
        free_bytes / MB, reserve_bytes.div_ceil(MB)
    )]
    DiskReserve {
        /// What is free.
        free_bytes: u64,
        /// What has to be.
        reserve_bytes: u64,
    },
    /// The journal could not take it. It may later.
    #[error(transparent)]
    Failed(Arc<Error>),
}

impl Denied {
    /// There is nobody left to ask.
    pub(crate) fn stopped() -> Self {
        Self::Failed(Arc::new(Self::nobody()))
    }

    /// The same, as the journal says it.
    pub(crate) fn nobody() -> Error {
        Error::Failed {
            doing: "take a command",
            problem: "nobody works on it here: it was stopped, or opened for reading only".to_owned(),
        }
    }
}

impl From<adjourn_store::Denied> for Denied {
    fn from(denied: adjourn_store::Denied) -> Self {
        match denied {
            adjourn_store::Denied::Refused(refusal) => Self::Refused(refusal),
            adjourn_store::Denied::Failed(error) => Self::Failed(error),
        }
    }
}
