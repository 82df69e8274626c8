//! Errors as clients get them: `application/problem+json` (RFC 9457) with a stable code.

mod refused;

use adjourn_api::Code;
use adjourn_core::FieldError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// What a problem is sent as.
pub(crate) const CONTENT_TYPE: &str = "application/problem+json";

/// An answer that is an error. On the wire `{type, title, status, detail, code, errors?}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: Code,
    /// For people.
    detail: String,
    errors: Vec<FieldError>,
    retry_after_sec: Option<u32>,
    /// What would let the client in.
    challenge: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new(), retry_after_sec: None, challenge: None }
    }

    /// What was sent is wrong in these places. Only the first of many are told.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let errors = first_of(errors);
        let named: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Self { errors, ..Self::new(Code::Invalid, named.join("; ")) }
    }

    /// A body that cannot be read as what it should be.
    pub(crate) fn unreadable(problems: Vec<adjourn_api::read::Problem>) -> Self {
        Self::invalid(problems.into_iter().map(Into::into).collect())
    }

    /// There is something wrong with the address, a header or a parameter of the request.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(Code::BadRequest, detail)
    }

    /// It is not the client's fault.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::new(Code::Internal, detail)
    }

    pub(crate) fn with_errors(self, errors: Vec<FieldError>) -> Self {
        Self { errors: first_of(errors), ..self }
    }

    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after_sec: Some(seconds), ..self }
    }

    /// Says how to come in, for `WWW-Authenticate`.
    pub(crate) fn challenge(self, challenge: &'static str) -> Self {
        Self { challenge: Some(challenge), ..self }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// What is wrong with the body, and where.
    pub(crate) fn errors(&self) -> &[FieldError] {
        &self.errors
    }

    /// What is sent.
    pub(crate) fn document(self) -> Document {
        let status = status(self.code);
        Document {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            detail: self.detail,
            code: self.code,
            errors: self.errors,
        }
    }
}

/// The status of an answer with this code.
pub(crate) fn status(code: Code) -> StatusCode {
    StatusCode::from_u16(code.status()).expect("every code has a status of HTTP, which a test looks at")
}

/// Errors that are told at once. Nobody reads on after these, and a request can have hundreds of thousands.
const ERRORS_MAX: usize = 50;

/// Bytes of the path and of the message of an error: a client's own key may be megabytes long.
const ERROR_TEXT_BYTES_MAX: usize = 1024;

/// The first errors, each in short, and how many more there are.
fn first_of(mut errors: Vec<FieldError>) -> Vec<FieldError> {
    let more = errors.len().saturating_sub(ERRORS_MAX);
    errors.truncate(ERRORS_MAX);
    for FieldError { path, message } in &mut errors {
        for text in [path, message] {
            if text.len() > ERROR_TEXT_BYTES_MAX {
                text.truncate(text.floor_char_boundary(ERROR_TEXT_BYTES_MAX));
                text.push('…');
            }
        }
    }
    if more > 0 {
        errors.push(FieldError::new("", format!("{more} more errors are not shown")));
    }
    errors
}

/// A problem on the wire.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Document {
    /// Always `about:blank`: the code says more.
    #[schema(example = "about:blank")]
    r#type: &'static str,
    /// The name of the status.
    #[schema(example = "Not Found")]
    title: &'static str,
    #[schema(example = 404)]
    status: u16,
    /// What is wrong, for people.
    #[schema(example = "there is no run run_01h455vb4pex5vsknk084sn02q")]
    detail: String,
    code: Code,
    /// What is wrong with the body, and where.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after_sec, challenge) = (status(self.code), self.retry_after_sec, self.challenge);
        let content_type = HeaderValue::from_static(CONTENT_TYPE);
        let document = Json(self.document());
        let mut response = (status, [(header::CONTENT_TYPE, content_type)], document).into_response();
        if let Some(seconds) = retry_after_sec {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(challenge) = challenge {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}
