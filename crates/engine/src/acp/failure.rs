//! What goes wrong with an agent, and what that is called.

use std::time::Duration;

use adjourn_core::{ErrorCode, RunError};
use agent_client_protocol::v1::schema::StopReason;
use agent_client_protocol::{Error, ErrorCode as RpcCode};
use tokio::time::timeout;

use super::live::Live;
use super::wire::Broken;
use crate::exec::OUTPUT_BYTES_MAX;
use crate::lines::LINE_BYTES_MAX;
use crate::supervisor::Exit;
use crate::turn::{Finished, failed};

/// How long an agent that closed its output may take to end: how it did says more than that it did.
const DYING_MAX: Duration = Duration::from_secs(2);

/// Words in the complaints of agents that say what kind of failure it is, in lower case; the first that is there counts.
const FAILURES: &[(&str, ErrorCode)] = &[
    ("authentication required", ErrorCode::EngineAuthRequired),
    ("failed to authenticate", ErrorCode::EngineAuthRequired),
    ("not logged in", ErrorCode::EngineAuthRequired),
    ("invalid api key", ErrorCode::EngineAuthRequired),
    ("api key not valid", ErrorCode::EngineAuthRequired),
    ("unauthorized", ErrorCode::EngineAuthRequired),
    (r#""code":401"#, ErrorCode::EngineAuthRequired),
    (r#""code":403"#, ErrorCode::EngineAuthRequired),
    ("overloaded", ErrorCode::ModelUnavailable),
    ("rate limit", ErrorCode::ModelUnavailable),
    ("exceeded retry limit", ErrorCode::ModelUnavailable),
    ("unable to connect", ErrorCode::ModelUnavailable),
    ("cannot connect", ErrorCode::ModelUnavailable),
    ("error sending request", ErrorCode::ModelUnavailable),
    ("stream disconnected", ErrorCode::ModelUnavailable),
    ("fetch failed", ErrorCode::ModelUnavailable),
];

/// Something that went wrong.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The agent answered with an error, or is gone.
    Refused {
        /// What it was asked.
        what: &'static str,
        error: Error,
    },
    /// The agent did not answer.
    TimedOut {
        /// What it was asked.
        what: &'static str,
        limit: Duration,
    },
    /// It cannot be listened to any more; the [wire](super::wire) knows why.
    Broken,
    /// It spoke of a conversation that nobody has with it.
    WrongSession(String),
    /// It speaks another version of the protocol.
    WrongVersion(String),
    /// Its run has tools, and it has no way to call them.
    NoGateway,
    /// It ended its turn, and not because it was done.
    Stopped(StopReason),
    /// A message was put together that is longer than one may be.
    TooLong,
}

impl Live {
    /// Ends the agent, and says what went wrong in the words and the code of the run.
    pub(super) async fn failure(&mut self, trouble: Trouble) -> Finished {
        let is_dying = self.connection.is_incoming_closed();
        if is_dying {
            let _ = timeout(DYING_MAX, self.kept.gone()).await;
        }
        let exit = self.kept.exit();
        self.end().await;
        let RunError { code, message } = match self.wire.broken() {
            Some(broken) => self.broken(broken),
            None => self.told(&trouble, exit.filter(|_| is_dying)),
        };
        failed(code, message)
    }

    fn broken(&self, broken: &Broken) -> RunError {
        let name = &self.name;
        let (code, message) = match broken {
            Broken::TooMuch => (
                ErrorCode::EngineOutputLimit,
                format!(
                    "{name} was ended because it printed more than {} MiB in one attempt",
                    OUTPUT_BYTES_MAX >> 20
                ),
            ),
            Broken::TooLong => (ErrorCode::EngineOutputLimit, self.too_long()),
            Broken::NotJson(line) => (
                ErrorCode::EngineProtocolError,
                format!("{name} printed a line that begins like a message and is not JSON: {line}"),
            ),
            Broken::TooBig(too_big) => (
                ErrorCode::EngineProtocolError,
                format!("{name} was ended because of a message that cannot be taken: {too_big}"),
            ),
            Broken::TooManyRequests => (
                ErrorCode::EngineProtocolError,
                format!("{name} was ended because it asked too many things at once"),
            ),
            Broken::Io(error) => {
                (ErrorCode::Internal, format!("the output of {name} cannot be kept or read: {error}"))
            }
        };
        RunError { code, message }
    }

    fn too_long(&self) -> String {
        let limit = LINE_BYTES_MAX >> 20;
        format!("{} was ended because of a message that is longer than {limit} MiB", self.name)
    }

    fn told(&self, trouble: &Trouble, exit: Option<Exit>) -> RunError {
        let name = &self.name;
        let (code, message) = match (trouble, exit) {
            (Trouble::Refused { what, .. }, Some(exit)) => {
                return self
                    .complained(&format!("{name} {} before it answered {what}", in_words(exit)), what);
            }
            (Trouble::Refused { what, error }, None) if error.code == RpcCode::AUTH_REQUIRED => (
                ErrorCode::EngineAuthRequired,
                format!("{name} is not logged in ({what}: {}): log in with it, then try again", said(error)),
            ),
            (Trouble::Refused { what, error }, None) => {
                return self.complained(&format!("{name} failed at {what}: {}", said(error)), what);
            }
            (Trouble::TimedOut { what, limit }, _) => (
                ErrorCode::EngineTimeout,
                format!("{name} did not answer {what} within {} seconds", limit.as_secs()),
            ),
            (Trouble::Broken, _) => (ErrorCode::Internal, format!("{name} cannot be listened to any more")),
            (Trouble::WrongSession(id), _) => (
                ErrorCode::EngineProtocolError,
                format!("{name} spoke of the session `{id}`, which is not the one of this run"),
            ),
            (Trouble::WrongVersion(version), _) => (
                ErrorCode::EngineProtocolError,
                format!("{name} speaks version {version} of the protocol, adjourn speaks 1"),
            ),
            (Trouble::NoGateway, _) => (
                ErrorCode::EngineProtocolError,
                format!(
                    "{name} cannot call the tools of this run: it does not say that it can use MCP servers over HTTP \
                     (`mcpCapabilities.http`). Use another engine, or a skill without tools"
                ),
            ),
            (Trouble::Stopped(reason), _) => (
                ErrorCode::EngineExitNonzero,
                format!("{name} ended its turn before it was done: {}", stop_in_words(*reason)),
            ),
            (Trouble::TooLong, _) => (ErrorCode::EngineOutputLimit, self.too_long()),
        };
        RunError { code, message }
    }

    /// The kind of a failure is in the agent's words, if anywhere.
    fn complained(&self, what: &str, asked: &str) -> RunError {
        let complaints = self.wire.complaints();
        let message =
            if what.contains(&complaints) { what.to_owned() } else { format!("{what}\n{complaints}") };
        let words = message.to_lowercase();
        let known = FAILURES.iter().find(|(pattern, _)| words.contains(pattern)).map(|(_, code)| *code);
        let is_about_a_conversation = super::session::TAKES_UP.contains(&asked);
        let code = match known {
            Some(code) => code,
            None if is_about_a_conversation => ErrorCode::SessionResumeFailed,
            None => ErrorCode::EngineExitNonzero,
        };
        RunError { code, message }
    }
}

/// Agents put the cause into the data of an error, or into its message.
fn said(error: &Error) -> String {
    match &error.data {
        Some(data) => format!("{} {data}", error.message),
        None => error.message.clone(),
    }
}

fn in_words(exit: Exit) -> String {
    match exit {
        Exit::Status(status) => match status.checked_sub(128) {
            Some(signal @ 1..=64) => format!("was ended by signal {signal} (exit status {status})"),
            _ => format!("ended with exit status {status}"),
        },
        Exit::SupervisorLost => "was killed with its supervisor".to_owned(),
    }
}

fn stop_in_words(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn => "it does not say why",
        StopReason::MaxTokens => "the model reached its limit of tokens",
        StopReason::MaxTurnRequests => "it reached its limit of requests to the model",
        StopReason::Refusal => "it refuses to go on",
        StopReason::Cancelled => "it says that it was cancelled, and nobody did",
        _ => "for a reason that is not known",
    }
}
