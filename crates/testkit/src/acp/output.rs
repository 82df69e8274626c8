//! Stdin and stdout as lines, so that a script can also print what is no message.

use std::io::{self, BufRead, Write};
use std::sync::mpsc;
use std::thread;

use agent_client_protocol::Lines;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};

/// Prints lines, in the order in which they come.
#[derive(Clone)]
pub(super) struct Printer(mpsc::SyncSender<String>);

/// Lines that may wait to be printed: a script that floods waits for its reader.
const WAITING_MAX: usize = 64;

impl Printer {
    pub(super) fn start() -> Self {
        let (lines, waiting) = mpsc::sync_channel::<String>(WAITING_MAX);
        thread::spawn(move || {
            let mut stdout = io::stdout().lock();
            for line in waiting {
                // Nobody reads any more: there is nobody left to tell.
                if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
                    std::process::exit(1);
                }
            }
        });
        Self(lines)
    }

    pub(super) fn print(&self, line: String) {
        let _ = self.0.send(line);
    }
}

/// The transport over stdin and stdout.
pub(super) fn lines(
    printer: Printer,
) -> Lines<impl futures::Sink<String, Error = io::Error>, UnboundedReceiver<io::Result<String>>> {
    let (told, incoming) = unbounded();
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            if told.unbounded_send(line).is_err() {
                return;
            }
        }
    });
    let outgoing = Box::pin(futures::sink::unfold(printer, async |printer, line: String| {
        printer.print(line);
        Ok::<_, io::Error>(printer)
    }));
    Lines::new(outgoing, incoming)
}
