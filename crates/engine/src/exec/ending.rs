//! What the end of an agent's process means for the turn.

use adjourn_core::ErrorCode;

use super::interpret::Report;
use super::profile::{Output, Profile};
use crate::supervisor::Exit;
use crate::turn::{Finished, failed};

/// How an agent ended: what it said, what its process said, and what it said last on stderr.
pub(crate) struct Ending<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) report: Report,
    pub(crate) exit: Exit,
    pub(crate) complaints: String,
}

impl Ending<'_> {
    /// A failure that the agent reports or its process shows is never a success, whatever else it said.
    pub(crate) fn finished(self) -> Finished {
        let name = self.profile.name;
        match (&self.report.failure, self.exit) {
            (_, Exit::SupervisorLost) => failed(
                ErrorCode::EngineExitNonzero,
                format!("the process that supervised {name} was killed, so the turn was cut off"),
            ),
            (Some(failure), _) => self.failed_with(format!("{name} failed: {failure}")),
            (None, Exit::Status(0)) => self.succeeded(),
            (None, Exit::Status(status)) => self.failed_with(format!("{name} {}", in_words(status))),
        }
    }

    fn succeeded(self) -> Finished {
        let is_whole = self.report.ended || matches!(self.profile.output, Output::Text);
        if is_whole {
            return Finished::Completed { text: self.report.text.unwrap_or_default() };
        }
        let what = format!("{} ended without saying that its turn is over", self.profile.name);
        failed(ErrorCode::EngineProtocolError, self.with_complaints(what))
    }

    /// The kind of a failure is in the agent's words, if anywhere.
    fn failed_with(&self, what: String) -> Finished {
        let message = self.with_complaints(what);
        let words = message.to_lowercase();
        let known = self.profile.failures.iter().find(|(pattern, _)| words.contains(pattern));
        let by_status = self.profile.statuses.iter().find(|(status, _)| Exit::Status(*status) == self.exit);
        let code = self.report.http_status.and_then(code_of);
        let code = code.or(by_status.map(|(_, code)| *code)).or(known.map(|(_, code)| *code));
        match code {
            Some(code @ ErrorCode::EngineAuthRequired) => {
                failed(code, format!("{message}\n{}", self.profile.login))
            }
            Some(code) => failed(code, message),
            None => failed(ErrorCode::EngineExitNonzero, message),
        }
    }

    fn with_complaints(&self, what: String) -> String {
        let complaint = self.report.complaint.as_deref().unwrap_or_default();
        // Many say the same thing in each place they have for it.
        let add =
            |all: String, words: &str| if all.contains(words) { all } else { format!("{all}\n{words}") };
        [complaint, &self.complaints].into_iter().fold(what, add)
    }
}

/// What a status of the model's server says about the turn.
fn code_of(http_status: u64) -> Option<ErrorCode> {
    match http_status {
        401 | 403 => Some(ErrorCode::EngineAuthRequired),
        408 | 429 | 500..=599 => Some(ErrorCode::ModelUnavailable),
        _ => None,
    }
}

fn in_words(status: u8) -> String {
    match status.checked_sub(128) {
        Some(signal @ 1..=64) => format!("was ended by signal {signal} (exit status {status})"),
        _ => format!("ended with exit status {status}"),
    }
}
