//! Why a command was refused. Nothing changed.

use super::id::{ArtifactId, Role};
use super::round::Purpose;
use crate::machines::{RoundStep, RoundtableTrigger};
use crate::run::{field_list, open_list};
use crate::{FieldError, InteractionId, InteractionStatus, RefusalKind, Refused, RoundtableId, RunId};

/// Why a command was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// There is no such roundtable.
    #[error("there is no roundtable {0}")]
    UnknownRoundtable(RoundtableId),
    /// There is a roundtable with this id.
    #[error("there is a roundtable {0} already")]
    RoundtableExists(RoundtableId),
    /// The machine does not allow it.
    #[error(transparent)]
    Machine(#[from] Refused),
    /// What was sent is wrong in itself.
    #[error("{}", field_list(.0))]
    Invalid(Vec<FieldError>),
    /// It is over.
    #[error("the roundtable is closed ({0}): nothing changes it any more")]
    Closed(RoundtableTrigger),
    /// A round is going on.
    #[error("round {0} is going on: it has to be recorded first")]
    RoundGoesOn(u32),
    /// No round is going on.
    #[error("no round is going on")]
    NoRound,
    /// It waits for a person.
    #[error("the roundtable waits for the answer to question {0}")]
    Waits(InteractionId),
    /// The round is not at the step that this belongs to.
    #[error("the round is at `{step}`, and this belongs to `{wanted}`")]
    WrongStep {
        /// Where it is.
        step: RoundStep,
        /// Where it would have to be.
        wanted: RoundStep,
    },
    /// Somebody is not asked in this round.
    #[error("`{0}` is not awaited in this round")]
    NotAwaited(Role),
    /// There is a run for it already.
    #[error("{run_id} is at work on it already ({})", .purpose.role())]
    AtWork {
        /// What for.
        purpose: Purpose,
        /// The run.
        run_id: RunId,
    },
    /// A run plays one part.
    #[error("{0} was announced before: every activation is a run of its own")]
    RunUsed(RunId),
    /// The run was started for something else, or for another round.
    #[error("{0} is not at work on this in the current round")]
    NotAtWork(RunId),
    /// It never asked this.
    #[error("the roundtable has no question {id}: {}", open_list(open))]
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
    /// The table has no such result.
    #[error("there is no artifact {0}")]
    UnknownArtifact(ArtifactId),
    /// The same idempotency key opened this roundtable before: not an error, the earlier answer holds.
    #[error("the idempotency key opened {0} before")]
    OpenedBefore(RoundtableId),
    /// The same idempotency key opened a roundtable that was removed since.
    #[error(
        "the idempotency key `{key}` opened {roundtable}, which was removed: use another key to open a new one"
    )]
    OpenedAndRemoved {
        /// The key.
        key: String,
        /// The roundtable.
        roundtable: RoundtableId,
    },
    /// The same idempotency key was used for something else.
    #[error("the idempotency key `{key}` was used for another request")]
    KeyReused {
        /// The key.
        key: String,
    },
}

impl Refusal {
    /// What a surface makes of it.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Self::UnknownRoundtable(_) | Self::UnknownArtifact(_) => RefusalKind::NotFound,
            Self::Invalid(_) => RefusalKind::Invalid,
            Self::RoundtableExists(_)
            | Self::OpenedBefore(_)
            | Self::Machine(_)
            | Self::Closed(_)
            | Self::RoundGoesOn(_)
            | Self::NoRound
            | Self::Waits(_)
            | Self::WrongStep { .. }
            | Self::NotAwaited(_)
            | Self::AtWork { .. }
            | Self::RunUsed(_)
            | Self::NotAtWork(_)
            | Self::UnknownInteraction { .. }
            | Self::NotOpen { .. }
            | Self::OpenedAndRemoved { .. }
            | Self::KeyReused { .. } => RefusalKind::Conflict,
        }
    }
}
