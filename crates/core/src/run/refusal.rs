//! Why a command was refused. Nothing changed.

use crate::interaction::Action;
use crate::{
    ExecutionId, FieldError, Holder, InteractionId, InteractionStatus, Refused, RunId, StreamId, TooBig,
};

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is no such run.
    #[error("there is no run {0}")]
    UnknownRun(RunId),
    /// There is a run with this id.
    #[error("there is a run {0} already")]
    RunExists(RunId),
    /// The machine does not allow it.
    #[error(transparent)]
    Machine(#[from] Refused),
    /// The run never asked this.
    #[error("the run has no question {id}: {}", open_list(open))]
    UnknownInteraction {
        /// What was named.
        id: InteractionId,
        /// What could have been.
        open: Vec<InteractionId>,
    },
    /// The question was resolved.
    #[error("question {id} is {status}: {}", open_list(open))]
    NotOpen {
        /// What was named.
        id: InteractionId,
        /// How it stands.
        status: InteractionStatus,
        /// What could have been named.
        open: Vec<InteractionId>,
    },
    /// No question about this contract was ever asked.
    #[error("nothing was asked about {0}, so there is nothing to answer")]
    NothingAsked(ExecutionId),
    /// The deadline is still to come, or there is none.
    #[error("question {0} is not due")]
    NotDue(InteractionId),
    /// The answer does not fit the question.
    #[error("the answer does not fit the question: {}", field_list(.0))]
    Invalid(Vec<FieldError>),
    /// A JSON document in the command is nested too deep to be kept.
    #[error("a JSON document in it cannot be kept: {0}")]
    TooBig(#[from] TooBig),
    /// The action does not fit the question.
    #[error("`{given}` answers a call that needs approval, and this question is none")]
    NotAnApproval {
        /// The action.
        given: Action,
    },
    /// The same idempotency key was used for something else.
    #[error("the idempotency key `{key}` was used for another request")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// The same idempotency key created this run before: not an error, the earlier answer holds.
    #[error("the idempotency key created {0} before")]
    CreatedBefore(RunId),
    /// The same idempotency key created a run before, which was removed since: no second one is created.
    #[error(
        "the idempotency key `{key}` created {run}, which was removed since; to run the request again, use another key"
    )]
    CreatedAndRemoved {
        /// The key.
        key: String,
        /// The run that it created.
        run: RunId,
    },
    /// Another run took over the conversation.
    #[error("{run} is continued by {successor} already: a run has one successor")]
    Continued {
        /// The run.
        run: RunId,
        /// Its successor.
        successor: StreamId,
    },
    /// The same irreversible effect may have happened.
    #[error("the same irreversible call {}", held_by(.0))]
    Held(Holder),
    /// The run has no such contract.
    #[error("the run has no contract {0}")]
    UnknownContract(ExecutionId),
    /// There is a contract with this id.
    #[error("there is a contract {0} already")]
    ContractExists(ExecutionId),
    /// The call waits for a person's yes.
    #[error("{0} is not approved")]
    NotApproved(ExecutionId),
    /// The call was made, or may have been: it is never made a second time.
    #[error("{0} was dispatched before")]
    Dispatched(ExecutionId),
    /// The call is being made just now.
    #[error("{0} is being made: it cannot be canceled by itself, only with its run")]
    AtWork(ExecutionId),
    /// The call may have been made, and a person is asked whether it was.
    #[error("{0} may have happened: answer the question whether it did")]
    InDoubt(ExecutionId),
    /// What became of the call is known.
    #[error("what became of {0} is known: there is nothing to settle")]
    NothingToSettle(ExecutionId),
    /// The run is about to end: it takes no further turn and begins no further call.
    #[error("the run is about to end: its process is being ended")]
    Ending,
    /// The report comes from a turn that is over.
    #[error("turn {given} is over, the current one is {current}")]
    Stale {
        /// The turn that reported.
        given: u32,
        /// The turn that may.
        current: u32,
    },
}

/// What a surface makes of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalKind {
    /// What was named does not exist.
    NotFound,
    /// It exists, and does not take this now.
    Conflict,
    /// What was sent is wrong in itself.
    Invalid,
}

impl Refusal {
    /// What a surface makes of it.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::UnknownRun(_) | Self::UnknownContract(_) => RefusalKind::NotFound,
            Self::Invalid(_) | Self::TooBig(_) | Self::NotAnApproval { .. } => RefusalKind::Invalid,
            Self::RunExists(_)
            | Self::Machine(_)
            | Self::UnknownInteraction { .. }
            | Self::NotOpen { .. }
            | Self::NotDue(_)
            | Self::NothingAsked(_)
            | Self::KeyReused { .. }
            | Self::CreatedBefore(_)
            | Self::CreatedAndRemoved { .. }
            | Self::Continued { .. }
            | Self::Held(_)
            | Self::ContractExists(_)
            | Self::NotApproved(_)
            | Self::Dispatched(_)
            | Self::AtWork(_)
            | Self::InDoubt(_)
            | Self::NothingToSettle(_)
            | Self::Ending
            | Self::Stale { .. } => RefusalKind::Conflict,
        }
    }
}

pub(crate) fn open_list(open: &[InteractionId]) -> String {
    match open {
        [] => "it has no open question".to_owned(),
        [one] => format!("the open one is {one}"),
        many => {
            let ids: Vec<_> = many.iter().map(InteractionId::to_string).collect();
            format!("the open ones are {}", ids.join(", "))
        }
    }
}

pub(crate) fn field_list(errors: &[FieldError]) -> String {
    let errors: Vec<_> = errors
        .iter()
        .map(
            |FieldError { path, message }| {
                if path.is_empty() { message.clone() } else { format!("{path}: {message}") }
            },
        )
        .collect();
    errors.join("; ")
}

fn held_by(holder: &Holder) -> String {
    match holder.execution_id {
        Some(id) => format!("was made by {id} of {}, or may have been", holder.stream),
        None => format!("is held by {}", holder.stream),
    }
}
