//! An answer on its way out, piece by piece, and what can go wrong with it.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;

use super::answer::{Frame, Pace};
use super::script::Fault;

/// How long the first half gets to reach the other side before the connection is cut.
///
/// Closed at once, a connection takes along what was written but not sent, and the agent sees no answer at all.
const CUT_AFTER: Duration = Duration::from_millis(50);

/// How a streamed answer is sent.
pub(crate) struct Sending {
    pub(crate) frames: Vec<Frame>,
    /// Before each piece of text.
    pub(crate) delay: Duration,
    pub(crate) fault: Option<Fault>,
    /// The event that says that something went wrong.
    pub(crate) error: Frame,
    /// Called when all of it was handed to the connection.
    pub(crate) done: Box<dyn FnOnce() + Send>,
}

/// A step of sending.
enum Step {
    Send(Frame),
    Stall,
    Cut,
}

/// An answer that is not streamed, in two halves, so that it can be cut off in the middle too.
pub(crate) fn in_one_piece(whole: String) -> Vec<Frame> {
    let middle = whole.floor_char_boundary(whole.len() / 2);
    let (first, second) = whole.split_at(middle);
    let frame = |event: &str, pace| Frame { event: event.to_owned(), pace };
    vec![frame(first, Pace::Spoken), frame(second, Pace::AtOnce)]
}

/// The body of a response that is sent like that.
pub(crate) fn body(sending: Sending) -> Body {
    let Sending { frames, delay, fault, error, done } = sending;
    let state = (steps(frames, fault, error).into_iter(), fault.is_none().then_some(done));
    Body::from_stream(stream::unfold(state, move |(mut steps, mut done)| async move {
        let sent = match steps.next() {
            Some(Step::Send(frame)) => {
                if frame.pace == Pace::Spoken && !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                Ok(Bytes::from(frame.event))
            }
            Some(Step::Stall) => std::future::pending().await,
            Some(Step::Cut) => {
                tokio::time::sleep(CUT_AFTER).await;
                Err(io::Error::other("the script cuts the connection here"))
            }
            None => return None,
        };
        // Before the last piece leaves: whoever has read it all may ask the next thing at once.
        if steps.len() == 0
            && let Some(done) = done.take()
        {
            done();
        }
        Some((sent, (steps, done)))
    }))
}

fn steps(mut frames: Vec<Frame>, fault: Option<Fault>, error: Frame) -> Vec<Step> {
    let half = frames.len().div_ceil(2);
    let end = match fault {
        None | Some(Fault::Status(_) | Fault::TooLong) => None,
        Some(Fault::Overloaded) => Some(Step::Send(error)),
        Some(Fault::Stall) => Some(Step::Stall),
        Some(Fault::Garbage) => Some(Step::Send(Frame::data("{this is no JSON"))),
        Some(Fault::Cut) => Some(Step::Cut),
    };
    if end.is_some() {
        frames.truncate(half);
    }
    frames.into_iter().map(Step::Send).chain(end).collect()
}
