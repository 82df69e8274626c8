//! Two threads: one that decides and one that commits what was decided.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use adjourn_core::Item;

use crate::{Error, Outcome, Store};

/// Inputs that are taken before what they led to is submitted.
///
/// Larger batches share a sync among more writers and let each of them wait longer: above this the sync is no longer
/// what a commit costs (`xtask bench journal`).
const INPUTS_AT_ONCE: usize = 1024;

/// Something that decides, step by step, and wants batches committed: a decider, or what is built on one.
pub trait Steps: Send + 'static {
    /// What it takes.
    type Input: Send + 'static;

    /// Takes one input.
    fn take(&mut self, input: Self::Input);

    /// Looks at the time. Called after inputs were taken, and when [`wait`](Self::wait) is over.
    fn tick(&mut self);

    /// The items to commit now: none while others are being committed.
    fn submit(&mut self) -> Option<Arc<[Item]>>;

    /// Takes the outcome of the batch that was submitted.
    fn settle(&mut self, outcome: Result<Vec<Outcome>, Error>);

    /// Tells everybody what may be told by now.
    fn tell(&mut self);

    /// How long it can do without an input; for ever where nothing is due.
    fn wait(&self) -> Option<Duration>;

    /// Whether something was taken that is not durable yet.
    fn is_busy(&self) -> bool;
}

enum Signal<I> {
    Input(I),
    Committed(Result<Vec<Outcome>, Error>),
    /// The last handle is gone.
    Closed,
}

/// Where inputs go. Cheap to clone; when the last one is gone, the threads finish what they have and end.
pub struct Inputs<I>(Arc<LastOne<I>>);

struct LastOne<I>(mpsc::Sender<Signal<I>>);

impl<I> Clone for Inputs<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<I> Inputs<I> {
    /// A handle that does not keep the threads going.
    pub fn downgrade(&self) -> WeakInputs<I> {
        WeakInputs(Arc::downgrade(&self.0))
    }

    /// Hands an input in. Never blocks: whoever asks in numbers has to bound them. False when the threads have ended.
    pub fn send(&self, input: I) -> bool {
        self.0.0.send(Signal::Input(input)).is_ok()
    }
}

/// Where inputs go, as long as somebody else keeps the threads going.
pub struct WeakInputs<I>(Weak<LastOne<I>>);

impl<I> WeakInputs<I> {
    /// The inputs, unless the threads are ending.
    pub fn upgrade(&self) -> Option<Inputs<I>> {
        self.0.upgrade().map(Inputs)
    }
}

impl<I> Drop for LastOne<I> {
    fn drop(&mut self) {
        // Fails only if the threads ended before.
        let _ = self.0.send(Signal::Closed);
    }
}

/// The two threads.
#[must_use = "whoever starts the threads waits for their end"]
pub struct Threads {
    decide: JoinHandle<()>,
    commit: JoinHandle<()>,
}

impl Threads {
    /// Starts both over `store`.
    pub fn start<S: Steps>(steps: S, store: Arc<dyn Store>) -> Result<(Inputs<S::Input>, Self), Error> {
        let (signals, waiting) = mpsc::channel();
        let (batches, to_commit) = mpsc::channel();
        let committed = signals.clone();
        let commit = spawn("adjourn-commit", move || commit_loop(store.as_ref(), &to_commit, &committed))?;
        let decide = spawn("adjourn-decide", move || decide_loop(steps, &waiting, &batches))?;
        Ok((Inputs(Arc::new(LastOne(signals))), Self { decide, commit }))
    }

    /// Waits until everything that was handed in is durable. Does not return while there is a handle.
    pub fn join(self) {
        for thread in [self.decide, self.commit] {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| Error::Failed { doing: "start its threads", problem: error.to_string() })
}

fn commit_loop<I>(
    store: &dyn Store,
    batches: &mpsc::Receiver<Arc<[Item]>>,
    committed: &mpsc::Sender<Signal<I>>,
) {
    for items in batches {
        if committed.send(Signal::Committed(store.commit(&items))).is_err() {
            return;
        }
    }
}

fn decide_loop<S: Steps>(
    mut steps: S,
    waiting: &mpsc::Receiver<Signal<S::Input>>,
    batches: &mpsc::Sender<Arc<[Item]>>,
) {
    let mut is_closed = false;
    while !is_closed || steps.is_busy() {
        let first = match steps.wait() {
            None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => waiting.recv_timeout(wait),
        };
        let first = match first {
            Ok(signal) => Some(signal),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        for signal in first.into_iter().chain(waiting.try_iter()).take(INPUTS_AT_ONCE) {
            match signal {
                Signal::Input(input) => steps.take(input),
                Signal::Committed(outcome) => steps.settle(outcome),
                Signal::Closed => is_closed = true,
            }
        }
        steps.tick();
        if let Some(items) = steps.submit()
            && batches.send(items).is_err()
        {
            return;
        }
        steps.tell();
    }
}
