//! The process of an agent, kept by a task of its own: whoever talks to it may come and go.

use std::sync::OnceLock;

use adjourn_core::Process;
use tokio_util::sync::CancellationToken;

use crate::supervisor::{Exit, Supervised};

/// A process that somebody keeps.
#[derive(Debug)]
pub(super) struct Kept {
    process: Process,
    walls: String,
    end: CancellationToken,
    gone: CancellationToken,
    exit: OnceLock<Exit>,
}

impl Kept {
    /// Keeps a process until it ends, or is [ended](Self::end). Dropping the task that does this ends it as well.
    pub(super) fn keep(mut supervised: Supervised) -> std::sync::Arc<Self> {
        let kept = std::sync::Arc::new(Self {
            process: supervised.process(),
            walls: supervised.walls().to_owned(),
            end: CancellationToken::new(),
            gone: CancellationToken::new(),
            exit: OnceLock::new(),
        });
        let (end, told) = (kept.end.clone(), std::sync::Arc::downgrade(&kept));
        let gone = kept.gone.clone();
        tokio::spawn(async move {
            // Told in any case, also when this task is dropped with its runtime.
            let _gone = gone.drop_guard();
            let exit = tokio::select! {
                exit = supervised.wait() => exit,
                () = end.cancelled() => supervised.end().await,
            };
            if let (Ok(exit), Some(kept)) = (exit, told.upgrade()) {
                let _ = kept.exit.set(exit);
            }
        });
        kept
    }

    pub(super) fn process(&self) -> Process {
        self.process
    }

    /// The walls around it.
    pub(super) fn walls(&self) -> &str {
        &self.walls
    }

    pub(super) fn is_there(&self) -> bool {
        !self.gone.is_cancelled() && !self.end.is_cancelled()
    }

    /// Waits until all of it is gone.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Ends it, and waits until all of it is gone.
    pub(super) async fn end(&self) {
        self.end.cancel();
        self.gone().await;
    }

    /// Has it ended without waiting for that.
    pub(super) fn end_soon(&self) {
        self.end.cancel();
    }

    /// How it ended, once it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.exit.get().copied()
    }
}
