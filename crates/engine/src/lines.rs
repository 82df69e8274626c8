//! Bytes in, lines out, each with its place.

/// The longest line that is read as an event.
///
/// Agents put whole files and pictures into one line; 4 MiB covers all that were seen, and four agents at once stay at
/// 16 MiB. A longer line stays in the log and is skipped.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 20;

/// The longest message that is put together from pieces or lines: no longer than one that comes in one line.
pub(crate) const TEXT_BYTES_MAX: usize = LINE_BYTES_MAX;

/// A line without its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it begins in all of the output.
    pub(crate) from: u64,
    /// Where it ends.
    pub(crate) to: u64,
    /// What it says; nothing if that is too long.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Cuts a stream into lines. Keeps at most one line, and of a line that is too long only the count.
#[derive(Debug)]
pub(crate) struct Lines {
    bytes_max: usize,
    /// The place of the first byte of the unfinished line.
    from: u64,
    /// The place after the last byte that came.
    to: u64,
    /// The unfinished line, unless it is too long.
    unfinished: Option<Vec<u8>>,
}

impl Lines {
    /// Begins at a place that may not be the first: a repair appends to the log of its attempt.
    pub(crate) fn new(from: u64, bytes_max: usize) -> Self {
        Self { bytes_max, from, to: from, unfinished: Some(Vec::new()) }
    }

    /// Takes a chunk and gives the lines that it completes.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.extend(&rest[..end]);
            lines.push(self.take());
            // The line feed belongs to no line.
            self.to += 1;
            self.from = self.to;
            rest = &rest[end + 1..];
        }
        self.extend(rest);
        lines
    }

    /// Gives the last line, if the stream did not end with a line feed.
    pub(crate) fn finish(mut self) -> Option<Line> {
        (self.to > self.from).then(|| self.take())
    }

    fn extend(&mut self, part: &[u8]) {
        self.to += part.len() as u64;
        self.unfinished = self.unfinished.take().filter(|line| line.len() + part.len() <= self.bytes_max);
        if let Some(line) = &mut self.unfinished {
            line.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Line {
        Line { from: self.from, to: self.to, bytes: self.unfinished.replace(Vec::new()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Line, Lines};

    const START: u64 = 1000;
    const MAX: usize = 5;

    fn lines<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
        let mut lines = Lines::new(START, MAX);
        let mut found: Vec<_> = chunks.into_iter().flat_map(|chunk| lines.push(chunk)).collect();
        found.extend(lines.finish());
        found
    }

    #[test]
    fn a_line_has_its_place_and_a_long_one_only_that() {
        let line = |from, to, bytes: Option<&str>| Line {
            from: START + from,
            to: START + to,
            bytes: bytes.map(|bytes| bytes.as_bytes().to_vec()),
        };
        let expected =
            [line(0, 2, Some("ab")), line(3, 3, Some("")), line(4, 10, None), line(11, 16, Some("12345"))];
        assert_eq!(lines([&b"ab\n\n123456\n12345"[..]]), expected);
        assert_eq!(lines([&b"ab\n"[..]]), [line(0, 2, Some("ab"))]);
        assert_eq!(lines([]), []);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines_and_places(
            // Few different bytes, so that line feeds are frequent.
            bytes in proptest::collection::vec(proptest::sample::select(b"ab\xff\r\n\n".to_vec()), 0..80),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..10),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let cut = lines(cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]));
            prop_assert_eq!(&cut, &lines([&bytes[..]]));
            for line in cut {
                let place = (line.from - START) as usize..(line.to - START) as usize;
                let too_long = place.len() > MAX;
                prop_assert_eq!(line.bytes, (!too_long).then(|| bytes[place].to_vec()));
            }
        }
    }
}
