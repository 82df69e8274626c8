//! The receiver of webhooks.

use std::time::Duration;

use adjourn_core::{Notice, Timestamp};
use reqwest::{Client, StatusCode, Url, header, redirect};

use super::WebhookError;
use super::signature::Key;

/// How long a receiver may take to answer. It should note what it was told and answer, and do its work afterwards.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// How long until it has to be there at all.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// The one who is told.
pub(super) struct Receiver {
    client: Client,
    url: Url,
    key: Option<Key>,
}

/// What came of telling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It has heard.
    Heard,
    /// It says that it does not want to hear this, ever.
    Unwanted,
    /// It was not there, or not well, or somebody else answered: what was the matter.
    Failed(String),
}

impl Receiver {
    pub(super) fn new(url: &str, key: Option<Key>) -> Result<Self, WebhookError> {
        let unusable = |error: String| WebhookError::Client(error);
        let url = Url::parse(url).map_err(|error| unusable(error.to_string()))?;
        // A redirect is not followed: who is told is said in the configuration, and not by whoever answers there.
        let client = Client::builder()
            .timeout(ANSWER_WITHIN)
            .connect_timeout(CONNECT_WITHIN)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("adjourn/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        Ok(Self { client, url, key })
    }

    /// Tells it, once.
    pub(super) async fn tell(&self, notice: &Notice, now: Timestamp) -> Answer {
        let (id, timestamp_sec) = (notice.id.to_string(), now.millis() / 1000);
        let mut request = self.client.post(self.url.clone());
        if let Some(key) = &self.key {
            request = request.header("webhook-signature", key.sign(&id, timestamp_sec, &notice.body));
        }
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp_sec);
        match request.body(notice.body.clone()).send().await.map(|response| response.status()) {
            Ok(status) if status.is_success() => Answer::Heard,
            Ok(StatusCode::GONE) => Answer::Unwanted,
            Ok(status) => Answer::Failed(format!("it answered {status}")),
            // Without the address: it may carry a password.
            Err(error) => Answer::Failed(error.without_url().to_string()),
        }
    }
}
