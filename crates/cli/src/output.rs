//! What goes to stdout.

use std::io::{self, Write};

use serde_json::Value;

/// Prints to stdout, without the colour unless this is a terminal that wants it.
///
/// A reader who left early (`adjourn … | head`) took what was wanted, and nothing is wrong. This is decided here and not
/// where all errors arrive, because there a broken pipe may also be a lost server.
pub(crate) fn print(text: &str) -> io::Result<()> {
    left_is_fine(write(&mut anstream::stdout().lock(), text.as_bytes()))
}

/// Prints bytes to stdout as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> io::Result<()> {
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
