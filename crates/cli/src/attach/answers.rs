//! Where answers come from when nobody is asked at a terminal.

use std::collections::VecDeque;
use std::io::BufRead;

use adjourn_core::InteractionId;
use tokio::sync::mpsc;

/// Answers that were given beforehand, and after those the lines of stdin.
pub(crate) struct Answers {
    /// Given with the command.
    pub(super) given: VecDeque<String>,
    /// The question that was shown last, so that it is not shown again for each try.
    pub(crate) shown: Option<InteractionId>,
    lines: Option<mpsc::Receiver<String>>,
    /// There are no more lines.
    is_over: bool,
}

impl Answers {
    /// These answers in order, then the lines of stdin.
    pub(crate) fn new(given: Vec<String>) -> Self {
        Self { given: given.into(), shown: None, lines: None, is_over: false }
    }

    /// Whether no answer will come any more.
    pub(super) fn is_over(&self) -> bool {
        self.given.is_empty() && self.is_over
    }

    /// The next line of stdin that says something; none when there are no more.
    ///
    /// Nothing is read before the first question: what a command does not need is left to the next one in a script.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        let lines = self.lines.get_or_insert_with(read_lines);
        loop {
            let Some(line) = lines.recv().await else {
                self.is_over = true;
                return None;
            };
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
    }
}

/// On a thread of its own, which is not waited for: a read from stdin cannot be ended.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
