//! `[webhooks]`: who is told of what happens.

use adjourn_core::NoticeKind;

use super::reader::Reader;
use super::value::url;
use crate::nearest::hint;

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

pub(super) fn read(reader: &Reader<'_>) -> Option<Webhooks> {
    if !reader.is_there() {
        return None;
    }
    let url = url(reader, "url");
    let events = reader.strings("events").map(|found| {
        let events = found.value.iter().filter_map(|name| match name.parse::<NoticeKind>() {
            Ok(event) => Some(event),
            Err(unknown) => {
                let hint = hint(name, unknown.known.iter().copied());
                found.error(reader.document, format!("unknown event `{name}`{hint}"));
                None
            }
        });
        events.collect()
    });
    let secret_env = reader.string("secret_env").map(|found| found.value);
    reader.finish();
    if url.is_none() {
        reader.missing("url", "where to send what happens");
    }
    Some(Webhooks { url: url?, events: events.unwrap_or_else(|| NoticeKind::ALL.to_vec()), secret_env })
}
