//! Answers to requests, and why a request changed nothing.

use std::sync::Arc;

use adjourn_core::{Run, Stream};
use adjourn_store::Error;

use crate::room::MB;

/// What a request came to, told after it is durable.
pub type Answer<S = Run> = Result<Accepted<S>, Denied<S>>;

/// A command that was accepted and is durable.
#[derive(Debug, Clone)]
pub struct Accepted<S: Stream = Run> {
    /// The stream with it.
    pub state: Arc<S>,
    /// Events that were committed; empty if the command changed nothing.
    pub events: Vec<S::Event>,
    /// The position of the last of the events; 0 if there are none.
    pub position: u64,
}

/// A request that changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Denied<S: Stream = Run> {
    /// The rules do not allow it.
    #[error("{0}")]
    Refused(S::Refusal),
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

impl<S: Stream> Denied<S> {
    /// There is nobody left to ask.
    pub fn stopped() -> Self {
        let problem = "nobody works on it here: it was stopped, or opened for reading only".to_owned();
        Error::Failed { doing: "take a command", problem }.into()
    }
}

impl<S: Stream> From<Error> for Denied<S> {
    fn from(error: Error) -> Self {
        Self::Failed(Arc::new(error))
    }
}
