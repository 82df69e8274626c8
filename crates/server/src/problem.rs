//! What a client is told when it does not get what it asked for: RFC 9457.

use adjourn_core::FieldError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An answer that is an error. On the wire `{type, title, status, detail, code, errors?}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    status: StatusCode,
    /// Stable: what programs look at.
    code: &'static str,
    /// For people.
    detail: String,
    errors: Vec<FieldError>,
    retry_after_sec: Option<u32>,
    /// What would let the client in.
    challenge: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            status,
            code,
            detail: detail.into(),
            errors: Vec::new(),
            retry_after_sec: None,
            challenge: None,
        }
    }

    /// What was sent is wrong in these places.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let named: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Self { errors, ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "INVALID", named.join("; ")) }
    }

    /// There is something wrong with the address, a header or a parameter of the request.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", detail)
    }

    /// It is not the client's fault.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL", detail)
    }

    pub(crate) fn with_errors(self, errors: Vec<FieldError>) -> Self {
        Self { errors, ..self }
    }

    pub(crate) fn retry_after(self, seconds: u32) -> Self {
        Self { retry_after_sec: Some(seconds), ..self }
    }

    /// Says how to come in, for `WWW-Authenticate`.
    pub(crate) fn challenge(self, challenge: &'static str) -> Self {
        Self { challenge: Some(challenge), ..self }
    }

    fn document(&self) -> Value {
        let mut document = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
            "code": self.code,
        });
        if !self.errors.is_empty() {
            let each =
                self.errors.iter().map(|error| json!({ "path": error.path, "message": error.message }));
            document["errors"] = each.collect();
        }
        document
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let content_type = HeaderValue::from_static("application/problem+json");
        let body = self.document().to_string();
        let mut response = (self.status, [(header::CONTENT_TYPE, content_type)], body).into_response();
        if let Some(seconds) = self.retry_after_sec {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if let Some(challenge) = self.challenge {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}
