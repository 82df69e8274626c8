//! Reads server-sent events.

use axum::body::{Body, BodyDataStream, Bytes};
use futures::StreamExt;

/// Bytes of one line. A frame is one line and holds a message as a whole; what is longer is not one of our streams.
const LINE_BYTES_MAX: usize = 64 << 20;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// Its name; none for a plain message.
    pub(crate) name: Option<String>,
    pub(crate) data: String,
}

/// A stream of events, as it is read.
pub(crate) struct Sse {
    body: BodyDataStream,
    lines: Lines,
    /// What the lines so far say about the event that is not complete yet.
    event: SseEvent,
}

impl Sse {
    pub(super) fn new(body: Body) -> Self {
        Self { body: body.into_data_stream(), lines: Lines::default(), event: SseEvent::default() }
    }

    /// The next event; none when the stream ended or broke, which is the same to whoever comes back. May be dropped while
    /// it waits: nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<SseEvent> {
        loop {
            while let Some(line) = self.lines.next() {
                if let Some(event) = self.take(&line) {
                    return Some(event);
                }
            }
            self.lines.push(&self.body.next().await?.ok()?)?;
        }
    }

    fn take(&mut self, line: &str) -> Option<SseEvent> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            // One without data only told an id or a time.
            return (!event.data.is_empty()).then_some(event);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.event.name = Some(value.to_owned()),
            "data" if self.event.data.is_empty() => value.clone_into(&mut self.event.data),
            "data" => {
                self.event.data.push('\n');
                self.event.data.push_str(value);
            }
            // Comments, and what the frames say themselves.
            _ => {}
        }
        None
    }
}

/// Bytes, line by line.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Up to where no line ends, so that a long line is not searched again with each piece of it.
    searched: usize,
}

impl Lines {
    /// Adds a piece; none if the line has become too long.
    fn push(&mut self, piece: &Bytes) -> Option<()> {
        self.bytes.extend_from_slice(piece);
        (self.bytes.len() <= LINE_BYTES_MAX).then_some(())
    }

    fn next(&mut self) -> Option<String> {
        match self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                let line: Vec<u8> = self.bytes.drain(..=self.searched + at).collect();
                self.searched = 0;
                Some(String::from_utf8_lossy(&line).trim_end_matches(['\r', '\n']).to_owned())
            }
            None => {
                self.searched = self.bytes.len();
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures::stream;

    use super::{Sse, SseEvent};

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
