//! The journal in production: a thread that decides and a thread that commits.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use adjourn_core::{Command, Item, RunId, Timestamp};
use tokio::sync::{mpsc, oneshot};

use crate::decider::{Answer, Decider, Denied, Request};
use crate::{Error, Outcome, Store};

/// Requests that may wait to be decided; whoever sends one more waits too.
///
/// Twice the largest number of writers that was measured (`xtask bench journal`), so that none of those ever waits.
const QUEUE_MAX: usize = 8192;

/// Decisions that are made durable together.
///
/// Larger batches share a sync among more writers and let each of them wait longer: above this the sync is no longer
/// what a commit costs (`xtask bench journal`).
const BATCH_MAX: usize = 1024;

/// States of runs that are kept in memory although they could be loaded: some kilobytes each.
const WARM_MAX: usize = 2048;

type Ticket = oneshot::Sender<Answer>;

enum Input {
    Request(Box<Request<Ticket>>),
    /// A commit is over: look at its outcome.
    Wake,
}

/// A handle to the journal: cheap to clone, and all that is needed to have commands decided.
#[derive(Clone)]
pub struct Journal {
    inputs: mpsc::Sender<Input>,
    store: Arc<dyn Store>,
}

/// The threads behind a [`Journal`]. They end when the last handle is gone and everything is durable.
#[must_use = "whoever starts the journal waits for its end"]
pub struct JournalThreads {
    decide: JoinHandle<()>,
    commit: JoinHandle<()>,
}

impl Journal {
    /// Starts the journal over `store`.
    pub fn start(store: Arc<dyn Store>) -> Result<(Self, JournalThreads), Error> {
        let (inputs, waiting) = mpsc::channel(QUEUE_MAX);
        let (batches, to_commit) = mpsc::channel(1);
        let (outcomes, committed) = mpsc::channel(1);
        let commit = {
            let store = store.clone();
            // Weak, so that the journal ends with its last handle and not with its own thread.
            let wake = inputs.downgrade();
            spawn("journal-commit", move || commit_loop(store.as_ref(), to_commit, &outcomes, &wake))?
        };
        let decide = {
            let decider = Decider::new(store.clone(), WARM_MAX);
            spawn("journal-decide", move || decide_loop(decider, waiting, &batches, committed))?
        };
        Ok((Self { inputs, store }, JournalThreads { decide, commit }))
    }

    /// Has a command decided and made durable, or says why not.
    pub async fn ask(&self, run_id: RunId, command: Command, at: Timestamp) -> Answer {
        let (ticket, answer) = oneshot::channel();
        let request = Box::new(Request { run_id, command, at, ticket });
        self.inputs.send(Input::Request(request)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// [`ask`](Self::ask), for threads that may block.
    pub fn ask_blocking(&self, run_id: RunId, command: Command, at: Timestamp) -> Answer {
        let (ticket, answer) = oneshot::channel();
        let request = Box::new(Request { run_id, command, at, ticket });
        self.inputs.blocking_send(Input::Request(request)).map_err(|_| stopped())?;
        answer.blocking_recv().map_err(|_| stopped())?
    }

    /// The store, for reading.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

impl JournalThreads {
    /// Waits until everything that was asked is answered. The last [`Journal`] has to be gone, or this never returns.
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

fn stopped() -> Denied {
    Error::Failed { doing: "take a command", problem: "it was stopped".to_owned() }.into()
}

fn commit_loop(
    store: &dyn Store,
    mut batches: mpsc::Receiver<Arc<[Item]>>,
    outcomes: &mpsc::Sender<Result<Vec<Outcome>, Error>>,
    wake: &mpsc::WeakSender<Input>,
) {
    while let Some(items) = batches.blocking_recv() {
        if outcomes.blocking_send(store.commit(&items)).is_err() {
            return;
        }
        if let Some(inputs) = wake.upgrade() {
            // A full queue needs no waking: whoever empties it looks at the outcome too.
            let _ = inputs.try_send(Input::Wake);
        }
    }
}

fn decide_loop(
    mut decider: Decider<Ticket>,
    mut inputs: mpsc::Receiver<Input>,
    batches: &mpsc::Sender<Arc<[Item]>>,
    mut outcomes: mpsc::Receiver<Result<Vec<Outcome>, Error>>,
) {
    let mut is_open = true;
    while is_open || decider.is_committing() || decider.open_len() > 0 {
        let must_wait_for_commit = decider.is_committing() && (!is_open || decider.open_len() >= BATCH_MAX);
        if must_wait_for_commit {
            match outcomes.blocking_recv() {
                Some(outcome) => decider.settle(outcome),
                None => return,
            }
        } else if is_open {
            match inputs.blocking_recv() {
                Some(input) => take(&mut decider, input),
                None => is_open = false,
            }
        }
        while decider.open_len() < BATCH_MAX
            && let Ok(input) = inputs.try_recv()
        {
            take(&mut decider, input);
        }
        while let Ok(outcome) = outcomes.try_recv() {
            decider.settle(outcome);
        }
        if let Some(items) = decider.submit()
            && batches.blocking_send(items).is_err()
        {
            return;
        }
        for (ticket, answer) in decider.take_answers() {
            // Whoever asked may have stopped waiting; the command counts all the same.
            let _ = ticket.send(answer);
        }
    }
}

fn take(decider: &mut Decider<Ticket>, input: Input) {
    match input {
        Input::Request(request) => decider.offer(*request),
        Input::Wake => {}
    }
}
