//! Refusals of the runtime as problems: the one place where a refusal becomes a response.

use adjourn_api::Code;
use adjourn_core::{FieldError, Refusal, roundtable};
use adjourn_kernel::Denied;
use adjourn_runtime::ServiceError;
use adjourn_runtime::workspace::WorkspaceError;

use crate::problem::Problem;

/// When to try again after the queue was full: about as long as a short turn takes.
const QUEUE_RETRY_AFTER_SEC: u32 = 5;

/// When to try again after the journal could not take something: when the runtime itself does.
const JOURNAL_RETRY_AFTER_SEC: u32 = 1;

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let detail = error.to_string();
        match error {
            ServiceError::Invalid(errors) => Self::invalid(errors),
            ServiceError::NoEngine(errors) => Self::new(Code::EngineNotFound, detail).with_errors(errors),
            ServiceError::Skill(message) => {
                Self::new(Code::SkillUnusable, detail).with_errors(vec![FieldError::new("/skill", message)])
            }
            ServiceError::UnknownRun(_) => Self::new(Code::UnknownRun, detail),
            ServiceError::UnknownContract(_) => Self::new(Code::UnknownContract, detail),
            ServiceError::NothingToSettle { .. } => Self::new(Code::NothingToSettle, detail),
            ServiceError::UnknownRoundtable(_) => Self::new(Code::UnknownRoundtable, detail),
            ServiceError::Roundtable(refusal) => refusal.into(),
            ServiceError::NotContinuable { .. } => Self::new(Code::NotContinuable, detail),
            ServiceError::ToolServerUnavailable(_) => Self::new(Code::ToolServerUnavailable, detail),
            ServiceError::Denied(denied) => denied.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::Workspace(error) => error.into(),
            ServiceError::Internal(_) => Self::internal(detail),
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        let detail = denied.to_string();
        match denied {
            Denied::Refused(refusal) => refusal.into(),
            Denied::QueueFull { .. } => Self::new(Code::QueueFull, detail).retry_after(QUEUE_RETRY_AFTER_SEC),
            Denied::DiskReserve { .. } => Self::new(Code::DiskReserve, detail),
            Denied::Failed(_) => unavailable(detail),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let problem = Self::new(code(&refusal), refusal.to_string());
        if let Refusal::NotAnApproval { .. } = &refusal {
            return problem.with_errors(vec![FieldError::new("/action", refusal.to_string())]);
        }
        if let Refusal::Invalid(errors) = refusal { problem.with_errors(errors) } else { problem }
    }
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::UnknownRun(_) => Code::UnknownRun,
        Refusal::UnknownContract(_) => Code::UnknownContract,
        Refusal::Invalid(_) | Refusal::TooBig(_) | Refusal::NotAnApproval { .. } => Code::Invalid,
        // To whoever answers it is the same: that question does not wait for an answer.
        Refusal::UnknownInteraction { .. } | Refusal::NotOpen { .. } | Refusal::NothingAsked(_) => {
            Code::NotOpen
        }
        Refusal::KeyReused { .. } => Code::KeyReused,
        Refusal::CreatedAndRemoved { .. } => Code::RunPruned,
        Refusal::Continued { .. } => Code::NotContinuable,
        Refusal::NothingToSettle(_) => Code::NothingToSettle,
        Refusal::Machine(_) | Refusal::Ending | Refusal::AtWork(_) | Refusal::InDoubt(_) => {
            Code::NotAllowedNow
        }
        Refusal::RunExists(_)
        | Refusal::NotDue(_)
        | Refusal::CreatedBefore(_)
        | Refusal::Held(_)
        | Refusal::ContractExists(_)
        | Refusal::NotApproved(_)
        | Refusal::Dispatched(_)
        | Refusal::Stale { .. } => Code::Conflict,
    }
}

impl From<roundtable::Refusal> for Problem {
    fn from(refusal: roundtable::Refusal) -> Self {
        use roundtable::Refusal as R;
        let code = match &refusal {
            R::UnknownRoundtable(_) => Code::UnknownRoundtable,
            R::UnknownArtifact(_) => Code::UnknownArtifact,
            R::Invalid(_) => Code::Invalid,
            R::UnknownInteraction { .. } | R::NotOpen { .. } => Code::NotOpen,
            R::KeyReused { .. } => Code::KeyReused,
            R::OpenedAndRemoved { .. } => Code::RoundtablePruned,
            R::Machine(_) | R::Closed(_) => Code::NotAllowedNow,
            R::RoundtableExists(_)
            | R::OpenedBefore(_)
            | R::RoundGoesOn(_)
            | R::NoRound
            | R::Waits(_)
            | R::WrongStep { .. }
            | R::NotAwaited(_)
            | R::AtWork { .. }
            | R::RunUsed(_)
            | R::NotAtWork(_) => Code::Conflict,
        };
        let problem = Self::new(code, refusal.to_string());
        if let R::Invalid(errors) = refusal { problem.with_errors(errors) } else { problem }
    }
}

impl From<adjourn_store::Error> for Problem {
    fn from(error: adjourn_store::Error) -> Self {
        use adjourn_store::Error as E;
        match error {
            E::Failed { .. } | E::Unresolved { .. } => unavailable(error.to_string()),
            E::Directory { .. } | E::Owned { .. } | E::Newer { .. } | E::Damaged { .. } => {
                Self::internal(error.to_string())
            }
        }
    }
}

impl From<WorkspaceError> for Problem {
    fn from(error: WorkspaceError) -> Self {
        let detail = error.to_string();
        match error {
            WorkspaceError::Missing(_) => Self::new(Code::NoWorkspace, detail),
            WorkspaceError::BadPath { .. } => Self::new(Code::UnknownFile, detail),
            WorkspaceError::SkillUnfit(_) | WorkspaceError::VersionDamaged { .. } => {
                Self::new(Code::SkillUnusable, detail)
            }
            WorkspaceError::BadUpload { .. } => Self::new(Code::Invalid, detail),
            WorkspaceError::NotAFolder(_)
            | WorkspaceError::GivenDamaged { .. }
            | WorkspaceError::Io { .. } => Self::new(Code::WorkspaceFailed, detail),
        }
    }
}

fn unavailable(detail: String) -> Problem {
    Problem::new(Code::JournalUnavailable, detail).retry_after(JOURNAL_RETRY_AFTER_SEC)
}
