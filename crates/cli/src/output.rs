//! What goes to stdout.

use std::io::{self, Write};

/// Prints to stdout, without the colour unless this is a terminal that wants it.
///
/// A reader who left early (`adjourn … | head`) took what was wanted, and nothing is wrong. This is decided here and not
/// where all errors arrive, because there a broken pipe may also be a lost server.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
