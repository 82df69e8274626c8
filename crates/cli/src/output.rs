//! What goes to stdout.

use std::io::{self, IsTerminal, Write};

use serde_json::Value;

use crate::text::clean;

/// Prints to stdout, without the colour unless this is a terminal that wants it.
///
/// A reader who left early (`adjourn … | head`) took what was wanted, and nothing is wrong. This is decided here and not
/// where all errors arrive, because there a broken pipe may also be a lost server.
pub(crate) fn print(text: &str) -> io::Result<()> {
    left_is_fine(write(&mut anstream::stdout().lock(), text.as_bytes()))
}

/// Prints a whole text of others to stdout: as it is for a program, and [fit for a terminal](clean) where that is one.
pub(crate) fn print_foreign(text: &[u8]) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => print(&clean(&String::from_utf8_lossy(text))),
        false => print_bytes(text),
    }
}

/// Text of others that comes in pieces, on its way to stdout: as it is for a program, fit for a terminal where that is one.
#[derive(Debug)]
pub(crate) struct ForeignPieces {
    is_terminal: bool,
    /// The beginning of a character that ends in the next piece, or a carriage return that may be part of a line end.
    held: Vec<u8>,
}

impl ForeignPieces {
    pub(crate) fn new() -> Self {
        Self { is_terminal: io::stdout().is_terminal(), held: Vec::new() }
    }

    /// Prints a piece.
    pub(crate) fn print(&mut self, piece: &[u8]) -> io::Result<()> {
        if !self.is_terminal {
            return print_bytes(piece);
        }
        self.held.extend_from_slice(piece);
        let whole = whole_characters(&self.held);
        let rest = self.held.split_off(whole);
        let ready = std::mem::replace(&mut self.held, rest);
        print(&clean(&String::from_utf8_lossy(&ready)))
    }

    /// Prints what was held back, at the end.
    pub(crate) fn finish(self) -> io::Result<()> {
        if self.held.is_empty() { Ok(()) } else { print(&clean(&String::from_utf8_lossy(&self.held))) }
    }
}

/// How many bytes of a text can be shown before more of it comes.
fn whole_characters(text: &[u8]) -> usize {
    let tail = text.len().saturating_sub(3);
    let cut = (tail..text.len()).rev().find(|at| text[*at] >= 0b1100_0000);
    let end = match cut {
        Some(at) if std::str::from_utf8(&text[at..]).is_err_and(|error| error.error_len().is_none()) => at,
        Some(_) | None => text.len(),
    };
    if text[..end].ends_with(b"\r") { end - 1 } else { end }
}

/// Prints bytes to stdout as they are.
fn print_bytes(bytes: &[u8]) -> io::Result<()> {
    left_is_fine(write(&mut io::stdout().lock(), bytes))
}

/// Prints one JSON document, for people who look at it too.
pub(crate) fn print_json(document: &impl serde::Serialize) -> anyhow::Result<()> {
    Ok(print(&format!("{}\n", serde_json::to_string_pretty(document)?))?)
}

/// Prints one line of a stream of JSON documents; false once nobody reads any more.
pub(crate) fn print_json_line(document: &impl serde::Serialize) -> anyhow::Result<bool> {
    let line = format!("{}\n", serde_json::to_string(document)?);
    print_line(&line)
}

/// Prints a line of a stream; false once nobody reads any more.
pub(crate) fn print_line(line: &str) -> anyhow::Result<bool> {
    match write(&mut anstream::stdout().lock(), line.as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A value for people: text as it is, anything else as indented JSON.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    }
}

fn write(stdout: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    stdout.write_all(bytes)?;
    stdout.flush()
}

fn left_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn a_character_is_not_cut_between_two_pieces() {
        for (text, whole) in [
            (&b"plain"[..], 5),
            (b"", 0),
            ("grün".as_bytes(), 5),
            (&"grün".as_bytes()[..3], 2),
            (&"a\u{1f600}".as_bytes()[..4], 1),
            (b"a\xff", 2),
            (b"line\r", 4),
            (b"line\r\n", 6),
        ] {
            assert_eq!(whole_characters(text), whole, "{text:?}");
        }
    }
}
