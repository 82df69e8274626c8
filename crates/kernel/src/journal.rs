//! The journal by itself: commands in, durable answers out.

use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{Command, Item, RunId, Timestamp};
use adjourn_store::{Error, Outcome, Store};
use tokio::sync::{Semaphore, oneshot};

use crate::decider::{Decider, Request};
use crate::denied::{Answer, Denied};
use crate::threads::{Inputs, Steps, Threads};

/// Requests that may be under way; whoever sends one more waits.
///
/// Twice the largest number of writers that was measured (`xtask bench journal`), so that none of those ever waits.
const UNDER_WAY_MAX: usize = 8192;

/// States of runs that are kept in memory although they could be loaded: some kilobytes each.
const WARM_MAX: usize = 2048;

type Ticket = oneshot::Sender<Answer>;

/// A handle to a journal that does nothing but decide and commit.
#[derive(Clone)]
pub struct Journal {
    inputs: Inputs<Box<Request<Ticket>>>,
    under_way: Arc<Semaphore>,
}

impl Journal {
    /// Starts a journal over `store`.
    pub fn start(store: Arc<dyn Store>) -> Result<(Self, Threads), Error> {
        let decider = Decider::new(store.clone(), WARM_MAX);
        let (inputs, threads) = Threads::start(store, |_| Plain(decider))?;
        Ok((Self { inputs, under_way: Arc::new(Semaphore::new(UNDER_WAY_MAX)) }, threads))
    }

    /// Has a command decided and made durable, or says why not.
    pub async fn ask(&self, run_id: RunId, command: Command, at: Timestamp) -> Answer {
        let _under_way = self.under_way.acquire().await.map_err(|_| stopped())?;
        let (ticket, answer) = oneshot::channel();
        if !self.inputs.send(Box::new(Request { id: run_id, command, at, boot: None, ticket })) {
            return Err(stopped());
        }
        answer.await.map_err(|_| stopped())?
    }
}

fn stopped() -> Denied {
    Error::Failed { doing: "take a command", problem: "it was stopped".to_owned() }.into()
}

/// A decider and nothing else.
struct Plain(Decider<Ticket>);

impl Steps for Plain {
    type Input = Box<Request<Ticket>>;

    fn take(&mut self, request: Self::Input) {
        self.0.offer(*request);
    }

    fn tick(&mut self) {
        // Nobody plans with the states here.
        self.0.take_news();
    }

    fn submit(&mut self) -> Option<Arc<[Item]>> {
        self.0.submit()
    }

    fn settle(&mut self, outcome: Result<Vec<Outcome>, Error>) {
        self.0.settle(outcome);
    }

    fn tell(&mut self) {
        for (ticket, answer) in self.0.take_answers() {
            // Whoever asked may have stopped waiting; the command counts all the same.
            let _ = ticket.send(answer);
        }
    }

    fn wait(&self) -> Option<Duration> {
        None
    }

    fn is_busy(&self) -> bool {
        self.0.is_committing() || self.0.open_len() > 0
    }
}
