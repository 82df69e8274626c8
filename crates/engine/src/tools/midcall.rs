//! Which call a question in the middle of one belongs to.
//!
//! Before MCP 2026-07-28 a server asks while a call is being made, and does not say which. With one call in flight that is
//! plain. With several it is not, and guessing is out of the question: a call that is taken for the wrong one would be ended
//! although it is at work, and made again. So the question is held, and no further call begins, until as many questions wait
//! as there are calls left. Then every one of those calls waits for an answer, and ending them all is right, whichever asked
//! what.
//!
//! An answer, on the other hand, must not go to the wrong call even if both ask the same. A call that brings answers along is
//! therefore made alone.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ElicitResult, ElicitationAction};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, oneshot};

use super::limits::CALLS_MAX;
use super::unfinished::{Asked, Unfinished};

/// The calls of one connection, and the questions that came in the middle of them.
#[derive(Debug)]
pub(super) struct MidCall {
    /// One for each call in flight; whoever wants to be alone takes all.
    turns: Arc<Semaphore>,
    state: Mutex<State>,
    /// A call has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which they began.
    calls: Vec<Open>,
    /// In the order in which they came.
    held: VecDeque<Held>,
    next_id: u64,
}

/// A call in flight.
#[derive(Debug)]
struct Open {
    id: u64,
    answers: Option<Unfinished>,
    /// Where its question goes; none once it has asked.
    ask: Option<oneshot::Sender<Asked>>,
}

/// A question of which it is not known whose it is. The server gets its answer when this is dropped.
#[derive(Debug)]
struct Held {
    asked: Asked,
    _answer: oneshot::Sender<()>,
}

/// A call in flight, until dropped.
#[derive(Debug)]
pub(super) struct InFlight {
    of: Arc<MidCall>,
    id: u64,
    asked: oneshot::Receiver<Asked>,
    _turn: Option<OwnedSemaphorePermit>,
}

impl MidCall {
    pub(super) fn new() -> Self {
        let turns = Arc::new(Semaphore::new(CALLS_MAX as usize));
        Self { turns, state: Mutex::default(), ended: Notify::new() }
    }

    /// Waits for its turn and begins a call.
    pub(super) async fn begin(self: &Arc<Self>, answers: Option<Unfinished>) -> InFlight {
        let turns = if answers.is_some() { CALLS_MAX } else { 1 };
        // It is never closed; if it were, calls would not be bounded, but go on.
        let turn = Arc::clone(&self.turns).acquire_many_owned(turns).await.ok();
        let (ask, asked) = oneshot::channel();
        let id = self.open(answers, ask).await;
        InFlight { of: Arc::clone(self), id, asked, _turn: turn }
    }

    async fn open(&self, answers: Option<Unfinished>, ask: oneshot::Sender<Asked>) -> u64 {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            {
                let mut state = self.state();
                if state.held.is_empty() {
                    let id = state.next_id;
                    state.next_id += 1;
                    state.calls.push(Open { id, answers, ask: Some(ask) });
                    return id;
                }
            }
            ended.await;
        }
    }

    /// What a question is answered with: what is known already, else that it is called off, together with its call.
    pub(super) async fn answer(&self, asked: Asked) -> ElicitResult {
        let called_off = {
            let mut state = self.state();
            let known = match state.calls.as_slice() {
                [alone] => alone.answers.as_ref().and_then(|answers| answers.answer_to(&asked)),
                _ => None,
            };
            if let Some(known) = known {
                return known;
            }
            let (answer, called_off) = oneshot::channel();
            state.held.push_back(Held { asked, _answer: answer });
            state.hand_out();
            called_off
        };
        let _ = called_off.await;
        ElicitResult::new(ElicitationAction::Cancel)
    }

    /// A poisoned state is still one: each change of it is complete or did not happen.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Gives each question to its call, if that can be told.
    fn hand_out(&mut self) {
        let silent = self.calls.iter().filter(|call| call.ask.is_some()).count();
        if self.held.len() < silent {
            return;
        }
        for ask in self.calls.iter_mut().filter_map(|call| call.ask.take()) {
            if let Some(Held { asked, .. }) = self.held.pop_front() {
                // A call that ends just now does not need its question any more.
                let _ = ask.send(asked);
            }
        }
        // A question without a call, or a second one of the same.
        self.held.clear();
    }
}

impl InFlight {
    /// What the call asks, if it does.
    pub(super) async fn question(&mut self) -> Asked {
        match (&mut self.asked).await {
            Ok(asked) => asked,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.of.state();
        state.calls.retain(|call| call.id != self.id);
        if !state.held.is_empty() {
            state.hand_out();
        }
        drop(state);
        self.of.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::FutureExt;
    use rmcp::model::{ElicitRequestParams, ElicitationAction};
    use serde_json::json;

    use super::MidCall;
    use crate::tools::unfinished::{Asked, Unfinished};

    fn asked(message: &str) -> Asked {
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        Asked::of("", serde_json::from_value::<ElicitRequestParams>(params).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn the_only_call_in_flight_is_the_one_that_asks() {
        let calls = Arc::new(MidCall::new());
        let mut call = calls.begin(None).await;
        assert!(call.question().now_or_never().is_none());
        let answer = calls.answer(asked("Name?")).await;
        assert_eq!(answer.action, ElicitationAction::Cancel);
        assert_eq!(call.question().await, asked("Name?"));
    }

    #[tokio::test]
    async fn among_several_the_one_that_is_left_asks_and_no_other_begins_meanwhile() {
        let calls = Arc::new(MidCall::new());
        let (mut first, second) = (calls.begin(None).await, calls.begin(None).await);
        let mut answer = Box::pin(calls.answer(asked("Name?")));
        assert!(answer.as_mut().now_or_never().is_none(), "whose is it?");
        let mut third = Box::pin(calls.begin(None));
        assert!(third.as_mut().now_or_never().is_none());
        drop(second);
        assert_eq!(first.question().await, asked("Name?"));
        assert_eq!(answer.await.action, ElicitationAction::Cancel);
        let mut third = third.await;
        assert!(third.question().now_or_never().is_none());
    }

    #[tokio::test]
    async fn when_all_ask_all_are_asked() {
        let calls = Arc::new(MidCall::new());
        let (mut first, mut second) = (calls.begin(None).await, calls.begin(None).await);
        let _ = tokio::join!(calls.answer(asked("a")), calls.answer(asked("b")));
        assert_eq!((first.question().await, second.question().await), (asked("a"), asked("b")));
    }

    #[tokio::test]
    async fn an_answer_goes_to_the_call_that_brought_it_and_only_to_the_same_question() {
        let calls = Arc::new(MidCall::new());
        let unfinished = Unfinished::mid_call(None, asked("Name?")).unwrap().answered(json!({"name": "Ada"}));
        let other = calls.begin(None).await;
        let mut begun = Box::pin(calls.begin(Some(unfinished)));
        assert!(begun.as_mut().now_or_never().is_none(), "it waits until it is alone");
        drop(other);
        let mut alone = begun.await;
        assert!(calls.begin(None).now_or_never().is_none(), "and stays alone");
        assert_eq!(calls.answer(asked("Name?")).await.content, Some(json!({"name": "Ada"})));
        assert_eq!(calls.answer(asked("Age?")).await.action, ElicitationAction::Cancel);
        assert_eq!(alone.question().await, asked("Age?"));
    }

    #[tokio::test]
    async fn a_question_out_of_nowhere_is_called_off() {
        let calls = Arc::new(MidCall::new());
        assert_eq!(calls.answer(asked("Name?")).await.action, ElicitationAction::Cancel);
        assert!(calls.begin(None).now_or_never().is_some());
    }
}
