//! Answers: what was asked for, or why not.

use std::fmt;

use adjourn_api::Code;
use adjourn_core::FieldError;
use anyhow::Context;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Bytes of a problem that are read. It is a few sentences.
const PROBLEM_BYTES_MAX: usize = 1 << 20;

/// An answer that is an error: `application/problem+json`.
#[derive(Debug, Deserialize)]
pub(crate) struct Refused {
    status: u16,
    /// The code; none where the server has one that this version does not know.
    #[serde(deserialize_with = "known_code")]
    pub(crate) code: Option<Code>,
    detail: String,
    #[serde(default)]
    pub(crate) errors: Vec<FieldError>,
}

impl Refused {
    /// Whether the request itself was wrong, and the errors say where.
    pub(crate) fn is_complaint(&self) -> bool {
        matches!(self.code, Some(Code::Invalid | Code::EngineNotFound)) && !self.errors.is_empty()
    }

    pub(crate) fn is(&self, status: StatusCode) -> bool {
        self.status == status.as_u16()
    }
}

fn known_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Code>, D::Error> {
    Ok(String::deserialize(deserializer)?.parse().ok())
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Refused {}

/// The answer, unless it is an error.
pub(super) async fn check(response: Response<Body>) -> anyhow::Result<Response<Body>> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let bytes = axum::body::to_bytes(response.into_body(), PROBLEM_BYTES_MAX).await.unwrap_or_default();
    match serde_json::from_slice::<Refused>(&bytes) {
        Ok(refused) if refused.is(StatusCode::UNAUTHORIZED) => Err(anyhow::Error::new(refused)
            .context("the token, which is read from $ADJOURN_TOKEN, is not accepted")),
        Ok(refused) => Err(refused.into()),
        // Not one of ours: a proxy in between, or another program behind the address.
        Err(_) => anyhow::bail!("the answer is {status}, and does not say why: is this an adjourn server?"),
    }
}

/// An answer as what it should be.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes)
        .context("the answer cannot be understood: is this an adjourn server of the same version?")
}
