//! The events of a response, read as they come.

use std::collections::VecDeque;

use adjourn_engine::{SseEvent, SseReader};
use axum::body::{Body, BodyDataStream};
use futures::StreamExt;

/// A stream of events, as it is read.
pub(crate) struct Sse {
    body: BodyDataStream,
    reader: SseReader,
    /// Events that came together with one that was handed out.
    waiting: VecDeque<SseEvent>,
}

impl Sse {
    pub(super) fn new(body: Body) -> Self {
        Self { body: body.into_data_stream(), reader: SseReader::default(), waiting: VecDeque::new() }
    }

    /// The next event; none when the stream ended or broke, which is the same to a caller that comes back. May be dropped
    /// while it waits: nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            let piece = self.body.next().await?.ok()?;
            self.waiting.extend(self.reader.push(&piece).ok()?);
        }
    }
}

#[cfg(test)]
mod tests {
    use adjourn_engine::SseEvent;
    use axum::body::Body;
    use futures::stream;

    use super::Sse;

    async fn read(pieces: &[&'static str]) -> Vec<SseEvent> {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok::<_, std::io::Error>(*piece)).collect();
        let mut sse = Sse::new(Body::from_stream(stream::iter(pieces)));
        let mut events = Vec::new();
        while let Some(event) = sse.next().await {
            events.push(event);
        }
        events
    }

    fn message(data: &str) -> SseEvent {
        SseEvent { name: None, data: data.to_owned() }
    }

    #[tokio::test]
    async fn events_are_read_however_they_are_cut() {
        let delta = SseEvent { name: Some("delta".to_owned()), data: "x".to_owned() };
        let expected = vec![message("one"), delta, message("two\nlines")];
        let whole = "retry: 1000\nid: 0\n\n: alive\n\nid: 1\ndata: one\n\nevent: delta\ndata:x\n\ndata: two\r\ndata: lines\r\n\r\n";
        assert_eq!(read(&[whole]).await, expected);
        let letters: Vec<&str> = (0..whole.len()).map(|at| &whole[at..=at]).collect();
        assert_eq!(read(&letters).await, expected);
    }

    #[tokio::test]
    async fn an_event_that_was_cut_off_is_not_one() {
        assert_eq!(read(&["data: one\n\nda", "ta: tw"]).await, [message("one")]);
        assert_eq!(read(&["data: one\n"]).await, []);
    }
}
