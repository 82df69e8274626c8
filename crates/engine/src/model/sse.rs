//! Server-sent events: bytes in, the data of each event out.
//!
//! Only data: both wire formats repeat the name of an event in it. What an event may cost is bounded by its reader, which
//! counts every byte of a reply before it comes here.

/// Cuts a stream of bytes into events.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The unfinished line.
    line: Vec<u8>,
    /// The data of the unfinished event; none if it has none yet.
    data: Option<String>,
    /// The last byte was a carriage return, so a line feed that follows belongs to it.
    after_return: bool,
}

impl Events {
    /// Takes a chunk and gives the data of the events that it completes.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<String> {
        let mut events = Vec::new();
        for byte in chunk {
            let after_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                _ => self.line.push(*byte),
            }
        }
        events
    }

    /// The last event, if the server left out the empty line after it, as some do.
    pub(super) fn finish(mut self) -> Option<String> {
        let ended = (!self.line.is_empty()).then(|| self.end_line()).flatten();
        ended.or(self.data)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return self.data.take();
        }
        // A byte order mark can only be in the first line, but is part of no field's name anywhere.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = String::from_utf8_lossy(value.strip_prefix(b" ").unwrap_or(value));
            match &mut self.data {
                Some(data) => data.extend(["\n", &value]),
                None => self.data = Some(value.into_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::Events;

    fn events<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut events = Events::default();
        let mut found: Vec<_> = chunks.into_iter().flat_map(|chunk| events.push(chunk)).collect();
        found.extend(events.finish());
        found
    }

    #[test]
    fn events_end_with_an_empty_line_however_lines_end() {
        for end in ["\n", "\r\n", "\r"] {
            let text =
                [": hello", "event: x", "data: a", "", "data:b", "data:  c", "id: 1", "", "", "retry: 3", ""];
            let text = text.join(end) + end;
            assert_eq!(events([text.as_bytes()]), ["a", "b\n c"], "{end:?}");
        }
    }

    #[test]
    fn the_last_event_may_be_left_unfinished() {
        assert_eq!(events([&b"\xef\xbb\xbfdata: a\n\ndata: b"[..]]), ["a", "b"]);
        assert_eq!(events([&b"data: b\n"[..]]), ["b"]);
        assert_eq!(events([&b"data"[..]]), [""; 0]);
        assert_eq!(events([]), [""; 0]);
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
