//! Reads `multipart/form-data` part by part, as it comes: never more of it is in memory than a chunk and a head.

use std::time::Duration;

use adjourn_api::Code;
use adjourn_runtime::workspace::{UPLOADS_BYTES_MAX, UPLOADS_MAX};
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::HeaderMap;
use axum::http::header;
use futures::StreamExt;
use memchr::memmem;
use tokio::time::Instant;

use crate::extract::body::{self, BODY_BYTES_MAX};
use crate::problem::Problem;

/// Bytes of the head of a part: a name of 200 bytes, twice, and a type.
const HEAD_BYTES_MAX: usize = 4096;

/// Bytes of a boundary, by RFC 2046.
const BOUNDARY_BYTES_MAX: usize = 70;

/// Bytes of a form: of its files, its request, and what is around them.
const FORM_BYTES_MAX: usize = UPLOADS_BYTES_MAX as usize + BODY_BYTES_MAX + UPLOADS_MAX * HEAD_BYTES_MAX;

/// How long a client may send nothing.
const CHUNK_WITHIN: Duration = Duration::from_secs(30);

/// How long a client may take for all of it: a gigabyte over a line with 15 Mbit/s.
const FORM_WITHIN: Duration = Duration::from_secs(600);

/// A form that is being read.
pub(crate) struct Form {
    body: BodyDataStream,
    /// `CR LF -- boundary`: what ends a part.
    delimiter: Vec<u8>,
    /// What came and was not looked at yet.
    buffer: Vec<u8>,
    until: Instant,
    bytes_left: usize,
    /// The last delimiter was found.
    at_end: bool,
}

impl Form {
    /// The form that a request with these headers has for a body.
    pub(crate) fn new(headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        body::check_length(headers, FORM_BYTES_MAX)?;
        let boundary = boundary(headers).ok_or_else(|| bad("`content-type` should name its `boundary`"))?;
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        Ok(Self {
            body: body.into_data_stream(),
            delimiter,
            // As if a line had ended before the first delimiter.
            buffer: b"\r\n".to_vec(),
            until: Instant::now() + FORM_WITHIN,
            bytes_left: FORM_BYTES_MAX,
            at_end: false,
        })
    }

    /// The name of the next part; none after the last. What was not read of the part before is passed over.
    pub(crate) async fn next_part(&mut self) -> Result<Option<String>, Problem> {
        while self.chunk().await?.is_some() {}
        if self.at_end {
            return Ok(None);
        }
        self.buffer.drain(..self.delimiter.len());
        while self.buffer.len() < 2 {
            self.more().await?;
        }
        if self.buffer.starts_with(b"--") {
            self.at_end = true;
            return Ok(None);
        }
        let end = loop {
            if let Some(end) = memmem::find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.buffer.len() > HEAD_BYTES_MAX {
                return Err(bad(format!("the head of a part has at most {HEAD_BYTES_MAX} bytes")));
            }
            self.more().await?;
        };
        let name = name(&self.buffer[..end])
            .ok_or_else(|| bad("each part should have `content-disposition: form-data; name=\"…\"`"))?;
        self.buffer.drain(..end + 4);
        Ok(Some(name))
    }

    /// The next bytes of the part; none at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        if self.at_end {
            return Ok(None);
        }
        loop {
            match memmem::find(&self.buffer, &self.delimiter) {
                Some(0) => return Ok(None),
                Some(end) => return Ok(Some(self.take(end))),
                None => {
                    // The end of what came may be the beginning of a delimiter.
                    let sure = self.buffer.len().saturating_sub(self.delimiter.len() - 1);
                    if sure > 0 {
                        return Ok(Some(self.take(sure)));
                    }
                    self.more().await?;
                }
            }
        }
    }

    fn take(&mut self, length: usize) -> Bytes {
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest).into()
    }

    /// Waits for more of the body, which has to come.
    async fn more(&mut self) -> Result<(), Problem> {
        let until = self.until.min(Instant::now() + CHUNK_WITHIN);
        match tokio::time::timeout_at(until, self.body.next()).await {
            Err(_) => {
                let detail = format!(
                    "the body should come within {} s, and something of it every {} s",
                    FORM_WITHIN.as_secs(),
                    CHUNK_WITHIN.as_secs()
                );
                Err(Problem::new(Code::BodyTooSlow, detail))
            }
            Ok(None) => Err(bad("it ends in the middle of a part")),
            Ok(Some(Err(_))) => Err(Problem::bad_request("the body could not be read to its end")),
            Ok(Some(Ok(bytes))) if bytes.len() > self.bytes_left => Err(body::too_large(FORM_BYTES_MAX)),
            Ok(Some(Ok(bytes))) => {
                self.bytes_left -= bytes.len();
                self.buffer.extend_from_slice(&bytes);
                Ok(())
            }
        }
    }
}

fn bad(detail: impl std::fmt::Display) -> Problem {
    Problem::new(Code::BadForm, format!("the body is not a form: {detail}"))
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let boundary = parameter(given, "boundary")?;
    (1..=BOUNDARY_BYTES_MAX).contains(&boundary.len()).then_some(boundary)
}

/// The name that the head of a part gives it.
fn name(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let (_, disposition) =
        fields.find(|(field, _)| field.trim().eq_ignore_ascii_case("content-disposition"))?;
    let kind = disposition.split(';').next()?.trim();
    kind.eq_ignore_ascii_case("form-data").then(|| parameter(disposition, "name")).flatten()
}

/// The value of a parameter in `kind; wanted=value; other="a quoted; value"`.
fn parameter(text: &str, wanted: &str) -> Option<String> {
    let (_, mut rest) = text.split_once(';')?;
    loop {
        let (name, after) = rest.split_once('=')?;
        let (value, remaining) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = remaining.trim_start().strip_prefix(';')?;
    }
}

/// The text up to the closing quote, and what follows it. In forms a quote is written `%22`, and a backslash is one.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (value, rest) = text.split_once('"')?;
    Some((value.replace("%22", "\""), rest))
}

#[cfg(test)]
mod tests;
