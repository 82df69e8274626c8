//! A server that was named.

use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, header};
use reqwest::multipart::{Form, Part};

use super::call::{Call, Payload};
use crate::exit::wrong_use;

/// The variable that holds the token for a server: in a command line, everybody on the machine could read it.
const TOKEN_VARIABLE: &str = "ADJOURN_TOKEN";

/// How long a server may take to be connected to. One that is there takes less than a second.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// A server, and how to talk to it.
pub(super) struct Remote {
    base: String,
    client: reqwest::Client,
}

impl Remote {
    pub(super) fn new(url: &str) -> anyhow::Result<Self> {
        let is_http = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_http || reqwest::Url::parse(url).is_err() {
            return Err(wrong_use(format!(
                "--server {url}: it should be the address of a server, as in http://127.0.0.1:7717"
            )));
        }
        let mut headers = HeaderMap::new();
        if let Ok(token) = std::env::var(TOKEN_VARIABLE) {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                .map_err(|_| wrong_use(format!("${TOKEN_VARIABLE} has characters that no token has")))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        // A redirect could lead the token to somebody else.
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(CONNECT_WITHIN)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { base: url.trim_end_matches('/').to_owned(), client })
    }

    pub(super) async fn send(&self, call: &Call) -> anyhow::Result<Response<Body>> {
        let mut request = self.client.request(call.method.clone(), format!("{}{}", self.base, call.path));
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        request = match &call.payload {
            Payload::Nothing => request,
            Payload::Json(document) => {
                request.header(header::CONTENT_TYPE, "application/json").body(document.to_string())
            }
            Payload::Form(document, files) => {
                let document = Part::text(document.to_string()).mime_str("application/json")?;
                let mut form = Form::new().part("request", document);
                for (name, path) in files {
                    let part = Part::file(path).await;
                    let part = part.with_context(|| format!("{} cannot be read", path.display()))?;
                    form = form.part(name.clone(), part);
                }
                request.multipart(form)
            }
        };
        let sent = request.send().await.map_err(reqwest::Error::without_url);
        let response = sent.with_context(|| format!("no answer from {}", self.base))?;
        Ok(Response::from(response).map(Body::new))
    }
}
