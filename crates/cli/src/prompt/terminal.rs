//! Asks on the terminal without keeping the process from being ended.

use rustix::stdio::stdin;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

use crate::attach::Signals;

/// What came of asking.
pub(crate) enum OnTerminal<T> {
    /// The person did something.
    Done(T),
    /// Somebody ends this process, or took its terminal away.
    Ended,
    /// The question was resolved without this terminal.
    Withdrawn,
}

/// Has `ask` done, which reads from the terminal, until it is or a signal comes.
///
/// Nothing ends a read from a terminal, so its thread is left behind, and the terminal put back to how it was.
pub(crate) async fn on_terminal<T: Send + 'static>(
    signals: &mut Signals,
    ask: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<OnTerminal<T>> {
    let before = tcgetattr(stdin()).ok();
    let (tell, done) = oneshot::channel();
    std::thread::spawn(move || {
        // Whoever asked may be gone.
        let _ = tell.send(ask());
    });
    tokio::select! {
        done = done => Ok(OnTerminal::Done(done??)),
        _ = signals.next() => {
            if let Some(before) = before {
                // A terminal that is gone needs nothing.
                let _ = tcsetattr(stdin(), OptionalActions::Now, &before);
            }
            Ok(OnTerminal::Ended)
        }
    }
}
