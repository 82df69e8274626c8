//! What a server was asked.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;

/// A request, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// `anthropic`, `responses`, `gemini` or `chat`; none if the model was not asked to say anything.
    pub format: Option<&'static str>,
    /// `POST`, say.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if there was none or it was no JSON.
    pub body: Value,
    /// What it was answered with.
    pub outcome: Outcome,
}

/// What a request was answered with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With this reply of the script, counted from 0, or with the fault in its place.
    Reply(usize),
    /// With something harmless: it was not part of the conversation but for this.
    Side(String),
    /// With an error, because the script has nothing to say to it.
    Refused(String),
    /// As a server has to: a list of models, a count of tokens, or that there is no such thing.
    Served,
}

/// The requests so far.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    recorded: Mutex<Vec<Recorded>>,
    /// Signalled after each.
    more: Condvar,
}

impl Requests {
    pub(crate) fn push(&self, recorded: Recorded) {
        self.lock().push(recorded);
        self.more.notify_all();
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    pub(crate) fn wait_for(&self, wanted: impl Fn(&Recorded) -> bool, timeout: Duration) -> Option<Recorded> {
        let none_yet = |recorded: &mut Vec<Recorded>| !recorded.iter().any(&wanted);
        let waited = self.more.wait_timeout_while(self.lock(), timeout, none_yet);
        let (recorded, _) = waited.unwrap_or_else(PoisonError::into_inner);
        recorded.iter().find(|recorded| wanted(recorded)).cloned()
    }

    /// A poisoned list is still a list: each push is complete or did not happen.
    fn lock(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
