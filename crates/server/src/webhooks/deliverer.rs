//! Delivers notices, a few at a time, and records the result of each.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use adjourn_core::{Notice, NoticeId};
use adjourn_runtime::{Journal, Service};
use adjourn_store::{Error, Pending, Settled};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::receiver::{Answer, Receiver};
use super::schedule;

/// Notices that are being told at the same time. One that hangs takes one of these places for as long as a receiver may
/// take to answer, and sixteen that hang still let four notices per second be tried.
const UNDER_WAY_MAX: usize = 16;

/// Notices that are looked at: those under way are the first of them, then as many again, and the one after.
const LOOK_AT: usize = 2 * UNDER_WAY_MAX + 1;

/// The longest time between two looks while something is due later: a machine that slept is noticed this late.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(60);

/// When to try again what the journal did not take.
const JOURNAL_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// How long what is under way may take to finish when the server ends. What does not is told again by the next one.
const FINISH_WITHIN: Duration = Duration::from_secs(2);

type Telling = Pin<Box<dyn Future<Output = Settled> + Send>>;

/// Tells notices.
pub(super) struct Deliverer {
    receiver: Arc<Receiver>,
    service: Service,
    under_way: FuturesUnordered<Telling>,
    /// What came of those that are done, until the journal has it.
    settled: Vec<Settled>,
    /// All of the above: none of them is begun a second time.
    taken: BTreeSet<NoticeId>,
}

impl Deliverer {
    pub(super) fn new(receiver: Receiver, service: Service) -> Self {
        Self {
            receiver: Arc::new(receiver),
            service,
            under_way: FuturesUnordered::new(),
            settled: Vec::new(),
            taken: BTreeSet::new(),
        }
    }

    pub(super) async fn run(mut self, shutdown: CancellationToken) {
        let mut commits = self.service.journal().watch();
        while !shutdown.is_cancelled() {
            // Before looking, so that a commit in between is not slept over.
            commits.mark_unchanged();
            let wait = match self.settle().await {
                Ok(()) => self.begin().await,
                Err(error) => Err(error),
            };
            let wait = wait.unwrap_or(Some(JOURNAL_AGAIN_AFTER));
            tokio::select! {
                () = shutdown.cancelled() => {}
                Some(settled) = self.under_way.next() => self.collect(settled),
                changed = commits.changed() => if changed.is_err() { break },
                () = sleep(wait.unwrap_or_default()), if wait.is_some() => {}
            }
        }
        let finish = async {
            while let Some(settled) = self.under_way.next().await {
                self.collect(settled);
            }
        };
        // What is cut off here, or cannot be written down, is told again.
        let _ = timeout(FINISH_WITHIN, finish).await;
        let _ = self.settle().await;
    }

    /// Begins with what is due, as far as there is room. How long until the next is, if anything is.
    async fn begin(&mut self) -> Result<Option<Duration>, Error> {
        if self.taken.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        let now = self.service.now();
        let pending = asked(&self.service, |journal| journal.notices(LOOK_AT)).await?;
        for Pending { notice, due_at, attempts } in pending {
            if self.taken.contains(&notice.id) {
                continue;
            }
            if !schedule::is_due(due_at, attempts, now) {
                let millis = u64::try_from(due_at.millis_since(now)).unwrap_or(0);
                return Ok(Some(Duration::from_millis(millis).min(LOOK_AT_LEAST_EVERY)));
            }
            if self.taken.len() >= UNDER_WAY_MAX {
                return Ok(None);
            }
            self.taken.insert(notice.id);
            self.under_way.push(Box::pin(tell(
                self.receiver.clone(),
                self.service.clone(),
                notice,
                attempts,
            )));
        }
        Ok(None)
    }

    /// Takes what came of one notice, and of others that are done just as well: they share a commit.
    fn collect(&mut self, first: Settled) {
        self.settled.push(first);
        while let Some(Some(settled)) = self.under_way.next().now_or_never() {
            self.settled.push(settled);
        }
    }

    /// Has the journal remember what came of those that are done.
    async fn settle(&mut self) -> Result<(), Error> {
        if self.settled.is_empty() {
            return Ok(());
        }
        let settled = self.settled.clone();
        asked(&self.service, move |journal| journal.settle_notices(&settled)).await?;
        for Settled::Done(id) | Settled::Again(id, _) in self.settled.drain(..) {
            self.taken.remove(&id);
        }
        Ok(())
    }
}

/// Asks the journal, on a thread that may wait.
async fn asked<T: Send + 'static>(
    service: &Service,
    ask: impl FnOnce(&Journal) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let journal = service.journal();
    let asked = tokio::task::spawn_blocking(move || ask(&journal)).await;
    asked.unwrap_or_else(|error| {
        Err(Error::Failed { doing: "be asked for notices", problem: error.to_string() })
    })
}

async fn tell(receiver: Arc<Receiver>, service: Service, notice: Notice, attempts: u32) -> Settled {
    let id = notice.id;
    match receiver.tell(&notice, service.now()).await {
        Answer::Heard => {
            tracing::debug!(stream = %id.stream, webhook_id = %id, "webhook delivered");
            Settled::Done(id)
        }
        Answer::Unwanted => {
            tracing::warn!(stream = %id.stream, webhook_id = %id, "webhook dropped: the receiver says that it is gone (410)");
            Settled::Done(id)
        }
        Answer::Failed(problem) => match schedule::again(id, attempts + 1, service.now()) {
            Some(at) => {
                tracing::info!(stream = %id.stream, webhook_id = %id, attempts = attempts + 1, problem, "webhook not heard: once more at {at}");
                Settled::Again(id, at)
            }
            None => {
                tracing::warn!(stream = %id.stream, webhook_id = %id, attempts = attempts + 1, problem, "webhook given up");
                Settled::Done(id)
            }
        },
    }
}
