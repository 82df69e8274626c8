//! Two threads: one that decides and one that commits what was decided.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use adjourn_core::Item;
use adjourn_store::{Error, Outcome, Store};

use crate::{Pulse, Tally};

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
    /// Inputs that nobody takes.
    pub fn closed() -> Self {
        Self(Arc::new(LastOne(mpsc::channel().0)))
    }

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

impl<I> Clone for WeakInputs<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

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

/// Sizes of batches that are told apart: powers of two, up to the most inputs that are taken at once.
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// Times of commits that are told apart, in nanoseconds: from a sync on a fast disk to a disk that others use up.
const TIMES_NS: &[u64] = &[
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    1_000_000_000,
];

/// What was committed so far.
#[derive(Debug)]
pub struct Committed {
    sizes: Tally,
    times_ns: Tally,
}

impl Default for Committed {
    fn default() -> Self {
        Self { sizes: Tally::new(SIZES), times_ns: Tally::new(TIMES_NS) }
    }
}

impl Committed {
    /// How many batches. Each is one sync.
    pub fn batches(&self) -> u64 {
        self.sizes.count()
    }

    /// How many items were in them.
    pub fn items(&self) -> u64 {
        self.sizes.sum()
    }

    /// How long that took.
    pub fn took(&self) -> Duration {
        Duration::from_nanos(self.times_ns.sum())
    }

    /// How many items the batches had.
    pub fn sizes(&self) -> &Tally {
        &self.sizes
    }

    /// How long each of them took, in nanoseconds.
    pub fn times_ns(&self) -> &Tally {
        &self.times_ns
    }

    fn add(&self, items: usize, took: Duration) {
        self.sizes.add(items as u64);
        self.times_ns.add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// The two threads.
#[must_use = "whoever starts the threads waits for their end"]
pub struct Threads {
    decide: JoinHandle<()>,
    commit: JoinHandle<()>,
    committed: Arc<Committed>,
    pulse: Arc<Pulse>,
}

impl Threads {
    /// Starts both over `store`, for the steps that `make` makes. They are given where their own inputs go, before the
    /// first of them is taken.
    pub fn start<S: Steps>(
        store: Arc<dyn Store>,
        make: impl FnOnce(WeakInputs<S::Input>) -> S,
    ) -> Result<(Inputs<S::Input>, Self), Error> {
        let (signals, waiting) = mpsc::channel();
        let (batches, to_commit) = mpsc::channel();
        let inputs = Inputs(Arc::new(LastOne(signals.clone())));
        let steps = make(inputs.downgrade());
        let committed = Arc::new(Committed::default());
        let pulse = Arc::new(Pulse::default());
        let commit = {
            let (committed, pulse) = (committed.clone(), pulse.clone());
            spawn("adjourn-commit", move || {
                commit_loop(store.as_ref(), &to_commit, &signals, &committed, &pulse);
            })?
        };
        let decide = {
            let pulse = pulse.clone();
            spawn("adjourn-decide", move || decide_loop(steps, &waiting, &batches, &pulse))?
        };
        Ok((inputs, Self { decide, commit, committed, pulse }))
    }

    /// Whether the threads get on.
    pub fn pulse(&self) -> Arc<Pulse> {
        self.pulse.clone()
    }

    /// What was committed so far.
    pub fn committed(&self) -> Arc<Committed> {
        self.committed.clone()
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
    signals: &mpsc::Sender<Signal<I>>,
    committed: &Committed,
    pulse: &Pulse,
) {
    for items in batches {
        let before = Instant::now();
        let outcome = pulse.commits(|| store.commit(&items));
        committed.add(items.len(), before.elapsed());
        if signals.send(Signal::Committed(outcome)).is_err() {
            return;
        }
    }
}

fn decide_loop<S: Steps>(
    mut steps: S,
    waiting: &mpsc::Receiver<Signal<S::Input>>,
    batches: &mpsc::Sender<Arc<[Item]>>,
    pulse: &Pulse,
) {
    let mut is_closed = false;
    while !is_closed || steps.is_busy() {
        pulse.waits();
        let first = match steps.wait() {
            None => waiting.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => waiting.recv_timeout(wait),
        };
        let first = match first {
            Ok(signal) => Some(signal),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        pulse.decides();
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
