//! What a conversation has used so far, for agents that count the whole of it every time.
//!
//! It is kept in a file next to the logs of the run, because the next turn may be another process's.

use std::io;
use std::path::{Path, PathBuf};

use adjourn_core::Usage;
use serde::{Deserialize, Serialize};

/// Tokens of a conversation since its beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Used {
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    handle: String,
    used: Used,
}

impl Used {
    /// What came on top of `before`.
    pub(crate) fn since(self, before: Self) -> Usage {
        Usage {
            input_tokens: self.input_tokens.saturating_sub(before.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(before.output_tokens),
            cost_usd: None,
        }
    }

    /// What was kept for this conversation; nothing for another one, or if nothing was kept.
    pub(crate) async fn load(logs: &Path, handle: &str) -> Self {
        let bytes = tokio::fs::read(file(logs)).await.unwrap_or_default();
        let kept = serde_json::from_slice::<Kept>(&bytes).ok().filter(|kept| kept.handle == handle);
        kept.map(|kept| kept.used).unwrap_or_default()
    }

    /// Keeps it for the next turn.
    pub(crate) async fn keep(self, logs: &Path, handle: &str) -> io::Result<()> {
        let kept = serde_json::to_vec(&Kept { handle: handle.to_owned(), used: self })?;
        tokio::fs::write(file(logs), kept).await
    }
}

fn file(logs: &Path) -> PathBuf {
    logs.join("used.json")
}
