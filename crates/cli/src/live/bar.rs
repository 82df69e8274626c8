//! The last line of the screen: what is going on just now. There is none where stderr is no terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::LocalModes;

use crate::wrap::wrapped;

/// Often enough to look alive, and no burden for a slow connection.
const TICK: Duration = Duration::from_millis(120);

/// Moves the cursor to the line above and removes what is there.
const UP_AND_CLEAR: &str = "\u{1b}[1A\r\u{1b}[2K";

/// The last line of the screen.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>3} {wide_msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Prints a line above it.
    pub(crate) fn say(&self, line: &str) {
        self.0.suspend(|| anstream::eprintln!("{line}"));
    }

    /// Prints lines above it, broken between words where this is a terminal.
    pub(crate) fn say_wrapped(&self, text: &str) {
        match columns() {
            Some(columns) => self.say(&wrapped(text, columns)),
            None => self.say(text),
        }
    }

    /// Says what is going on.
    pub(crate) fn show(&self, message: &str) {
        if self.0.is_finished() {
            self.0.reset();
        }
        self.0.enable_steady_tick(TICK);
        self.0.set_message(message.to_owned());
    }

    /// Takes it off the screen, for a question or for the end.
    pub(crate) fn hide(&self) {
        self.0.disable_steady_tick();
        self.0.finish_and_clear();
    }

    /// Takes it off the screen after Ctrl-C was typed: the terminal wrote `^C` behind it, at the right margin, and so began a
    /// new line.
    pub(crate) fn interrupted(&self) {
        let is_broken = !self.0.is_finished() && !self.0.is_hidden() && shows_what_is_typed();
        self.hide();
        if is_broken {
            anstream::eprint!("{UP_AND_CLEAR}");
        }
    }
}

/// How wide the terminal is, if this is one.
fn columns() -> Option<usize> {
    let stderr = std::io::stderr();
    let size = rustix::termios::tcgetwinsize(&stderr).ok().filter(|_| stderr.is_terminal())?;
    Some(usize::from(size.ws_col))
}

/// Whether the terminal writes `^C` when that is typed.
fn shows_what_is_typed() -> bool {
    rustix::termios::tcgetattr(std::io::stdin())
        .is_ok_and(|terminal| terminal.local_modes.contains(LocalModes::ECHOCTL | LocalModes::ECHO))
}
