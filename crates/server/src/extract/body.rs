//! Reads what clients send.

use std::time::Duration;

use adjourn_api::Code;
use adjourn_api::read::Document;
use adjourn_core::{FieldError, InteractionId};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures::StreamExt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use crate::problem::Problem;

/// Bytes of a body. A request may hold 256 KiB of prompt and 512 KiB each of input and parameters, and JSON may write a
/// character in twice its bytes.
pub(crate) const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How long a client may take to send its body: on a machine's own port it needs a blink.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// Bytes of a body that is refused for its length, and taken in all the same.
const DISCARD_BYTES_MAX: usize = 4 * BODY_BYTES_MAX;

/// Bytes of an idempotency key: it is kept for as long as the run. A UUID has 36.
const KEY_BYTES_MAX: usize = 255;

/// A body that is JSON and says a `T`. Everything that is wrong with it is told at once.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        kind(request.headers(), &[Kind::Json])?;
        let bytes = bytes(request, state).await?;
        elsewhere(bytes, |bytes| read(&parse(bytes)?)).await.map(Self)
    }
}

/// A body that is JSON and says a `T`, or nothing; null is the same as nothing.
pub(crate) struct OptionalJson<T>(pub(crate) T);

impl<T: DeserializeOwned + Default + Send + 'static, S: Send + Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        kind(request.headers(), &[Kind::Json])?;
        let bytes = bytes(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        let read = |bytes: &[u8]| {
            let document = parse(bytes)?;
            if document.is_null() { Ok(T::default()) } else { read(&document) }
        };
        elsewhere(bytes, read).await.map(Self)
    }
}

/// A body that is JSON, whatever it says.
pub(crate) struct Parsed(pub(crate) Document);

impl<S: Send + Sync> FromRequest<S> for Parsed {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        kind(request.headers(), &[Kind::Json])?;
        elsewhere(bytes(request, state).await?, parse).await.map(Self)
    }
}

/// A body that came whole and in time.
pub(crate) async fn bytes<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    if let Err(problem) = check_length(request.headers(), BODY_BYTES_MAX) {
        discard(request).await;
        return Err(problem);
    }
    let bytes = tokio::time::timeout(BODY_WITHIN, Bytes::from_request(request, state)).await;
    bytes
        .map_err(|_| {
            let detail = format!("the body did not come within {} s", BODY_WITHIN.as_secs());
            Problem::new(Code::BodyTooSlow, detail)
        })?
        .map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => too_large(BODY_BYTES_MAX),
            _ => Problem::bad_request("the body could not be read to its end"),
        })
}

/// Takes in a body that is refused, where that is soon done: most clients only read an answer when they have said
/// everything, and would find the connection broken.
async fn discard(request: Request) {
    if check_length(request.headers(), DISCARD_BYTES_MAX).is_ok() {
        let mut body = request.into_body().into_data_stream();
        let _ =
            tokio::time::timeout(BODY_WITHIN, async { while let Some(Ok(_)) = body.next().await {} }).await;
    }
}

/// Refuses a body that announces to be too long, before it is waited for.
pub(crate) fn check_length(headers: &HeaderMap, bytes_max: usize) -> Result<(), Problem> {
    let announced: Option<u64> =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    match announced {
        Some(length) if length > bytes_max as u64 => Err(too_large(bytes_max)),
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn too_large(bytes_max: usize) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("a body has at most {bytes_max} bytes"))
}

/// Bytes of a body that is parsed where it is received. A longer one would keep the connections of others waiting.
const PARSE_HERE_BYTES_MAX: usize = 64 * 1024;

/// Does something with the bytes of a body, on a thread that may take its time where they are many.
async fn elsewhere<T: Send + 'static>(
    bytes: Bytes,
    read: fn(&[u8]) -> Result<T, Problem>,
) -> Result<T, Problem> {
    if bytes.len() <= PARSE_HERE_BYTES_MAX {
        return read(&bytes);
    }
    let parsed = tokio::task::spawn_blocking(move || read(&bytes)).await;
    parsed.unwrap_or_else(|error| Err(Problem::internal(format!("the body was not parsed: {error}"))))
}

/// The document that these bytes are.
pub(crate) fn parse(bytes: &[u8]) -> Result<Document, Problem> {
    let not_json =
        |error: &dyn std::fmt::Display| Problem::new(Code::BadJson, format!("the body is not JSON: {error}"));
    let Ok(text) = std::str::from_utf8(bytes) else {
        // Not text at all: the parser of bytes says where.
        return Err(serde_json::from_slice::<Value>(bytes)
            .map_or_else(|error| not_json(&error), |_| not_json(&"it is not UTF-8")));
    };
    Document::json(text).map_err(|problem| match problem.message.strip_prefix("not valid JSON: ") {
        // The message of the parser says where: `… at line 3 column 14`.
        Some(error) => not_json(&error),
        None => Problem::new(Code::BadJson, format!("the body cannot be taken: {problem}")),
    })
}

/// The document as a `T`, or everything that is wrong with it.
pub(crate) fn read<T: DeserializeOwned>(document: &Document) -> Result<T, Problem> {
    document.read().whole().map_err(Problem::unreadable)
}

/// The question that an answer is for. Only an answer that can be told apart by its key may leave it out: a client that sends
/// it again means the same question.
pub(crate) fn interaction(
    given: Option<InteractionId>,
    key: Option<&str>,
) -> Result<Option<InteractionId>, Problem> {
    if given.is_none() && key.is_none() {
        let message = "is missing: it says which question is answered";
        return Err(Problem::invalid(vec![FieldError::new("/interaction_id", message)]));
    }
    Ok(given)
}

/// What a body can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Json,
    /// With files.
    Form,
}

impl Kind {
    const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "multipart/form-data",
        }
    }
}

/// Which of `taken` the body is. A client that says nothing about it may mean JSON; one that says something else does
/// not.
pub(crate) fn kind(headers: &HeaderMap, taken: &[Kind]) -> Result<Kind, Problem> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Ok(Kind::Json) };
    let given = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    taken.iter().copied().find(|kind| given.eq_ignore_ascii_case(kind.media_type())).ok_or_else(|| {
        let taken: Vec<_> = taken.iter().map(|kind| format!("`{}`", kind.media_type())).collect();
        let detail = format!("`{given}` is not taken here: send {}", taken.join(" or "));
        Problem::new(Code::UnsupportedMediaType, detail)
    })
}

/// The header with the idempotency key, for the document.
pub(crate) struct KeyHeader;

impl IntoParams for KeyHeader {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        // Spaces at its ends are not part of the value of a header.
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some("^[!-~]([ -~]*[!-~])?$"))
            .max_length(Some(KEY_BYTES_MAX));
        let about = "The same key with the same request is one request. With another request it is refused.";
        let key = ParameterBuilder::new().name("Idempotency-Key").parameter_in(ParameterIn::Header);
        vec![key.description(Some(about)).schema(Some(schema)).build()]
    }
}

/// The idempotency key of a request.
pub(crate) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
    match key.to_str() {
        Ok(key) if is_key(key) => Ok(Some(key.to_owned())),
        Ok(_) | Err(_) => Err(Problem::bad_request(format!("`Idempotency-Key` {KEY_RULE}"))),
    }
}

/// What an idempotency key has to be, to be said after its name.
pub(crate) const KEY_RULE: &str = "should have 1 to 255 printable ASCII characters";

/// Whether this can be an idempotency key.
pub(crate) fn is_key(key: &str) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len()) && key.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}
