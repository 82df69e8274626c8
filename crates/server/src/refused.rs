//! The one place where a refusal becomes an answer.

use adjourn_core::{FieldError, Refusal, RefusalKind};
use adjourn_runtime::workspace::WorkspaceError;
use adjourn_runtime::{Denied, ServiceError};
use axum::http::StatusCode;

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
            ServiceError::Skill(message) => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "SKILL_UNUSABLE", detail)
                    .with_errors(vec![FieldError::new("/skill", message)])
            }
            ServiceError::UnknownRun(_) => Self::new(StatusCode::NOT_FOUND, "UNKNOWN_RUN", detail),
            ServiceError::NotContinuable { .. } => Self::new(StatusCode::CONFLICT, "NOT_CONTINUABLE", detail),
            ServiceError::Denied(denied) => denied.into(),
            ServiceError::Store(error) => error.into(),
            ServiceError::Workspace(_) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "WORKSPACE_FAILED", detail)
            }
            _ => Self::internal(detail),
        }
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        let detail = denied.to_string();
        match denied {
            Denied::Refused(refusal) => refusal.into(),
            Denied::QueueFull { .. } => Self::new(StatusCode::TOO_MANY_REQUESTS, "QUEUE_FULL", detail)
                .retry_after(QUEUE_RETRY_AFTER_SEC),
            Denied::Failed(_) => unavailable(detail),
            _ => Self::internal(detail),
        }
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match refusal.kind() {
            RefusalKind::NotFound => StatusCode::NOT_FOUND,
            RefusalKind::Conflict => StatusCode::CONFLICT,
            RefusalKind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let problem = Self::new(status, code(&refusal), refusal.to_string());
        match refusal {
            Refusal::Invalid(errors) => problem.with_errors(errors),
            Refusal::NotAnApproval { .. } => {
                problem.with_errors(vec![FieldError::new("/action", refusal.to_string())])
            }
            _ => problem,
        }
    }
}

fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::UnknownRun(_) => "UNKNOWN_RUN",
        Refusal::UnknownContract(_) => "UNKNOWN_CONTRACT",
        Refusal::Invalid(_) | Refusal::NotAnApproval { .. } => "INVALID",
        // To whoever answers it is the same: that question does not wait for an answer.
        Refusal::UnknownInteraction { .. } | Refusal::NotOpen { .. } => "NOT_OPEN",
        Refusal::KeyReused { .. } => "KEY_REUSED",
        Refusal::Continued { .. } => "NOT_CONTINUABLE",
        Refusal::NothingToSettle(_) => "NOTHING_TO_SETTLE",
        Refusal::Machine(_) | Refusal::Ending => "NOT_ALLOWED_NOW",
        _ => "CONFLICT",
    }
}

impl From<adjourn_store::Error> for Problem {
    fn from(error: adjourn_store::Error) -> Self {
        match error {
            adjourn_store::Error::Failed { .. } => unavailable(error.to_string()),
            _ => Self::internal(error.to_string()),
        }
    }
}

impl From<WorkspaceError> for Problem {
    fn from(error: WorkspaceError) -> Self {
        let detail = error.to_string();
        match error {
            WorkspaceError::Missing(_) => Self::new(StatusCode::NOT_FOUND, "NO_WORKSPACE", detail),
            WorkspaceError::BadPath { .. } => Self::new(StatusCode::NOT_FOUND, "UNKNOWN_FILE", detail),
            _ => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "WORKSPACE_FAILED", detail),
        }
    }
}

fn unavailable(detail: String) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "JOURNAL_UNAVAILABLE", detail)
        .retry_after(JOURNAL_RETRY_AFTER_SEC)
}
