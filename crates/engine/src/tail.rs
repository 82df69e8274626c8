//! The end of what an agent complained about, for an error message.

/// How much of the end of stderr is kept for an error message.
const TAIL_BYTES_MAX: usize = 2 << 10;

/// The last bytes of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let surplus = self.bytes.len().saturating_sub(TAIL_BYTES_MAX);
        self.cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// Its whole lines, as plain text.
    pub(crate) fn text(&self) -> String {
        let text = without_colours(&String::from_utf8_lossy(&self.bytes));
        let whole = match text.split_once('\n') {
            Some((_, whole)) if self.cut => whole,
            _ => &text,
        };
        whole.trim().to_owned()
    }
}

/// Takes out the sequences that colour text in a terminal (`ESC [ … letter`): not every agent looks whether there is one.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        plain.push_str(rest.strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{TAIL_BYTES_MAX, Tail};

    #[test]
    fn the_tail_keeps_whole_last_lines() {
        let mut tail = Tail::default();
        tail.push(b"one\ntwo\n");
        assert_eq!(tail.text(), "one\ntwo");
        tail.push(b"\x1b[91m\x1b[1mError: \x1b[0mbad");
        assert_eq!(tail.text(), "one\ntwo\nError: bad");
        tail.push(&[b'x'; TAIL_BYTES_MAX]);
        tail.push(b"\nlast \xff\n");
        assert_eq!(tail.text(), "last \u{fffd}");
    }
}
