//! A request, as data: it may have to be made again, and of somebody else.

use std::path::PathBuf;

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST};
use axum::http::{Method, Request};
use serde::Serialize;
use serde_json::{Value, json};

/// What a request carries.
pub(super) enum Payload {
    Nothing,
    Json(Value),
    /// A document, and files with their names. Only for those who cannot read our files themselves.
    Form(Value, Vec<(String, PathBuf)>),
}

impl Payload {
    /// A request as its type has it.
    pub(super) fn json(request: &impl Serialize) -> Self {
        Self::Json(json!(request))
    }
}

/// A request.
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) payload: Payload,
}

impl Call {
    pub(super) fn get(path: String) -> Self {
        Self { method: Method::GET, path, headers: Vec::new(), payload: Payload::Nothing }
    }

    pub(super) fn post(path: String, payload: Payload) -> Self {
        Self { method: Method::POST, path, headers: Vec::new(), payload }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    pub(super) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(super) fn accept(self, kind: &'static str) -> Self {
        self.header(ACCEPT.as_str(), kind)
    }

    /// The request for somebody on this machine.
    pub(super) fn request(&self) -> anyhow::Result<Request<Body>> {
        let mut request = Request::builder().method(&self.method).uri(&self.path).header(HOST, "localhost");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = match &self.payload {
            Payload::Nothing => Body::empty(),
            Payload::Json(document) => {
                request = request.header(CONTENT_TYPE, "application/json");
                Body::from(document.to_string())
            }
            Payload::Form(..) => anyhow::bail!("files are not sent to somebody who can read them"),
        };
        Ok(request.body(body)?)
    }
}

/// A word in an address.
pub(super) fn encoded(word: &str) -> String {
    let mut text = String::new();
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn only_plain_letters_stand_in_an_address_as_they_are() {
        assert_eq!(encoded("a-b_c.d~9"), "a-b_c.d~9");
        assert_eq!(encoded("team=ü/& ?"), "team%3D%C3%BC%2F%26%20%3F");
    }
}
