//! `[webhooks]`: who is told of what happens.

use adjourn_core::NoticeKind;
use serde::Deserialize;

use super::check::Check;

/// Who is told of what happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhooks {
    /// Where it is sent.
    pub url: String,
    /// What. By default everything.
    pub events: Vec<NoticeKind>,
    /// The variable that holds the key that deliveries are signed with.
    pub secret_env: Option<String>,
}

/// `[webhooks]` as it is written.
#[derive(Deserialize)]
pub(super) struct WebhooksTable {
    url: Option<String>,
    events: Option<Vec<NoticeKind>>,
    secret_env: Option<String>,
}

impl WebhooksTable {
    pub(super) fn webhooks(self, check: &mut Check<'_>) -> Option<Webhooks> {
        let Self { url, events, secret_env } = self;
        check.missing(&["webhooks", "url"], "where to send what happens");
        let url = check.url(&["webhooks", "url"], url)?;
        Some(Webhooks { url, events: events.unwrap_or_else(|| NoticeKind::ALL.to_vec()), secret_env })
    }
}
