//! A stream whose events have names.

use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::Value;

use crate::stage::{Stage, within};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) id: Option<u64>,
    pub(super) data: Value,
}

pub(super) struct Chat {
    body: Incoming,
    text: String,
}

impl Chat {
    pub(super) async fn open(stage: &Stage, path: &str) -> Self {
        let response = stage.call(Method::GET, path).open().await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), text: String::new() }
    }

    /// The next event; none at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Named> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                if let Some(name) = field("event") {
                    return Some(Named {
                        name: name.to_owned(),
                        id: field("id").map(|id| id.parse().unwrap()),
                        data: serde_json::from_str(field("data").unwrap()).unwrap(),
                    });
                }
            }
            let frame = within(self.body.frame()).await?.unwrap();
            self.text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// All events to one that leads to this status.
    pub(super) async fn until(&mut self, status: &str) -> Vec<Named> {
        let mut events = Vec::new();
        loop {
            let event = self.next().await.unwrap_or_else(|| panic!("the stream ended after {events:#?}"));
            let found = event.data["data"]["to"] == status;
            events.push(event);
            if found {
                return events;
            }
        }
    }
}
