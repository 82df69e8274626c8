//! Server-sent events: bytes in, events out. One reader for the replies of model servers and for our own streams.
//!
//! Not the crate `sse-stream`. It ends a stream at a field that it does not know, at a line without a colon and at a byte
//! that is not UTF-8, all of which the standard says to skip; it loses a last event without its empty line, which some
//! model servers leave out; and it cannot bound how long a line or an event may become.

/// Bytes of one event. A frame of our own streams is one event and holds a message as a whole; a reply of a model is
/// shorter altogether.
const EVENT_BYTES_MAX: usize = 64 << 20;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Its name; none for a plain message.
    pub name: Option<String>,
    /// Its data: the lines, joined by line breaks.
    pub data: String,
}

/// An event that is longer than any that this program has a use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {} MiB", EVENT_BYTES_MAX >> 20)]
pub struct EventTooLong;

/// Cuts a stream of bytes into events. Ids, retry times and comments are skipped.
#[derive(Debug)]
pub struct SseReader {
    event_bytes_max: usize,
    /// The unfinished line.
    line: Vec<u8>,
    /// The name of the unfinished event.
    name: Option<String>,
    /// The data of the unfinished event; none if it has none yet.
    data: Option<String>,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
}

impl Default for SseReader {
    fn default() -> Self {
        let event_bytes_max = EVENT_BYTES_MAX;
        Self { event_bytes_max, line: Vec::new(), name: None, data: None, after_return: false }
    }
}

impl SseReader {
    /// Takes a chunk and gives the events that it completes. After an error there is nothing more to read.
    pub fn push(&mut self, mut chunk: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
        let mut events = Vec::new();
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            // Before it is kept: the limit is on memory.
            let kept = self.line.len() + self.data.as_ref().map_or(0, String::len);
            if piece.len() > self.event_bytes_max.saturating_sub(kept) {
                return Err(EventTooLong);
            }
            self.line.extend_from_slice(piece);
            let Some(end) = end else { break };
            self.after_return = chunk[end] == b'\r';
            events.extend(self.end_line());
            chunk = &chunk[end + 1..];
        }
        Ok(events)
    }

    /// The last event, if the server left out the empty line after it, as some do.
    pub fn finish(mut self) -> Option<SseEvent> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.end_event()
    }

    /// Takes in the line as it is; gives the event if the line ends one.
    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.end_event();
        }
        // A byte order mark can only be in the first line, but is part of no field's name anywhere.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if let Some(value) = field(line, b"data:") {
            match &mut self.data {
                Some(data) => data.extend(["\n", &value]),
                None => self.data = Some(value),
            }
        } else if let Some(value) = field(line, b"event:") {
            self.name = Some(value);
        }
        None
    }

    /// The event that the lines so far make; none without data, which only told an id or a time.
    fn end_event(&mut self) -> Option<SseEvent> {
        let name = self.name.take();
        self.data.take().map(|data| SseEvent { name, data })
    }
}

/// The value of a line that begins with the name of this field and its colon.
fn field(line: &[u8], name: &[u8]) -> Option<String> {
    let value = line.strip_prefix(name)?;
    Some(String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value)).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{EventTooLong, SseEvent, SseReader};

    fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let mut reader = SseReader::default();
        let mut found: Vec<_> =
            chunks.into_iter().flat_map(|chunk| reader.push(chunk).expect("it is short")).collect();
        found.extend(reader.finish());
        found
    }

    fn message(data: &str) -> SseEvent {
        SseEvent { name: None, data: data.to_owned() }
    }

    #[test]
    fn events_end_with_an_empty_line_however_lines_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                [": hello", "event: x", "data: a", "", "data:b", "data:  c", "id: 1", "", "", "retry: 3", ""];
            let text = text.join(end) + end;
            let named = SseEvent { name: Some("x".to_owned()), data: "a".to_owned() };
            assert_eq!(events([text.as_bytes()]), [named, message("b\n c")], "{end:?}");
        }
    }

    #[test]
    fn a_name_without_data_is_no_event_and_names_no_other() {
        assert_eq!(events([&b"event: x\n\ndata: a\n\n"[..]]), [message("a")]);
    }

    #[test]
    fn lines_that_say_nothing_are_skipped() {
        assert_eq!(events([&b"nonsense\nnew-field: 1\n\xff\xfe\ndata: \xff\n\n"[..]]), [message("\u{fffd}")]);
    }

    #[test]
    fn the_last_event_may_be_left_unfinished() {
        assert_eq!(events([&b"\xef\xbb\xbfdata: a\n\ndata: b"[..]]), [message("a"), message("b")]);
        assert_eq!(events([&b"data: b\n"[..]]), [message("b")]);
        assert_eq!(events([&b"data"[..]]), []);
        assert_eq!(events([]), []);
    }

    #[test]
    fn a_line_or_an_event_that_is_too_long_is_refused_before_it_is_kept() {
        let short = || SseReader { event_bytes_max: 16, ..SseReader::default() };
        let mut reader = short();
        assert_eq!(reader.push(b"data: 123456789"), Ok(Vec::new()));
        assert_eq!(reader.push(b"01"), Err(EventTooLong), "one long line, in pieces");
        assert_eq!(reader.line.len(), 15);

        assert_eq!(short().push(b"data: 1234567\ndata: 1234\n"), Err(EventTooLong), "many short lines");
        let mut reader = short();
        for _ in 0..100 {
            assert_eq!(reader.push(b"data: 123456789\n\n"), Ok(vec![message("123456789")]));
        }
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            // Few different bytes, so that lines and events are frequent, and half of a character.
            parts in proptest::collection::vec(
                proptest::sample::select(vec!["data:", "data: ", "é", "x", "\n", "\n", "\r", "\r\n", ":", "event: y"]),
                0..40,
            ),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..10),
        ) {
            let bytes = parts.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let cut = events(cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]));
            prop_assert_eq!(cut, events([&bytes[..]]));
        }
    }
}
