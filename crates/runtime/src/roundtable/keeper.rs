//! Sees to every roundtable that something happened to, one pass at a time for each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{RoundtableId, RunStatus};
use adjourn_store::{Error, RoundtableFilter, RunFilter, Store};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::LABEL;
use super::bell::Listener;
use super::pass::{self, Rest};
use crate::service::WeakService;

/// How long the keeper waits after the journal could not take something, or the queue was full.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Rows that are read at once after a restart.
const PAGE: usize = 256;

/// Sees to roundtables until nobody can ring any more: first to those that a restart left behind.
pub(crate) async fn keep(service: WeakService, mut bell: Listener) {
    let mut keeper = Keeper { service, busy: BTreeMap::new(), jobs: JoinSet::new() };
    keeper.look_for_what_is_left();
    loop {
        tokio::select! {
            rung = bell.hear() => match rung {
                Some(roundtables) => roundtables.into_iter().for_each(|roundtable| keeper.see_to(roundtable)),
                None => return,
            },
            Some(done) = keeper.jobs.join_next() => keeper.done(done.unwrap_or(Done::Stopped)),
        }
    }
}

struct Keeper {
    service: WeakService,
    /// The roundtables that are being seen to, and whether the bell rang for them meanwhile.
    busy: BTreeMap<RoundtableId, Rang>,
    jobs: JoinSet<Done>,
}

/// Whether the bell rang for a roundtable while it was seen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rang {
    Not,
    Again,
}

/// What a job came to.
enum Done {
    /// These are what a restart left behind; or that cannot be told yet.
    Found(Result<BTreeSet<RoundtableId>, Error>),
    /// A roundtable was seen to.
    Passed(RoundtableId, Rest),
    /// Everything stops.
    Stopped,
}

impl Keeper {
    fn look_for_what_is_left(&mut self) {
        let Some(store) = self.service.store() else { return };
        self.jobs.spawn_blocking(move || Done::Found(left_behind(store.as_ref())));
    }

    fn see_to(&mut self, roundtable: RoundtableId) {
        if let Some(rang) = self.busy.get_mut(&roundtable) {
            *rang = Rang::Again;
            return;
        }
        self.busy.insert(roundtable, Rang::Not);
        self.begin(roundtable);
    }

    fn begin(&mut self, roundtable: RoundtableId) {
        let Some(service) = self.service.upgrade() else { return };
        self.jobs.spawn(async move {
            let rest = pass::see_to(&service, roundtable).await;
            drop(service);
            match rest {
                Rest::Done => {}
                Rest::Blocked => sleep(RETRY_AFTER).await,
            }
            Done::Passed(roundtable, rest)
        });
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Found(Ok(left)) => left.into_iter().for_each(|roundtable| self.see_to(roundtable)),
            Done::Found(Err(_)) => {
                let service = self.service.clone();
                self.jobs.spawn(async move {
                    sleep(RETRY_AFTER).await;
                    let Some(store) = service.store() else { return Done::Stopped };
                    let look = tokio::task::spawn_blocking(move || left_behind(store.as_ref()));
                    look.await.map_or(Done::Stopped, Done::Found)
                });
            }
            Done::Passed(roundtable, rest) => {
                let rang = self.busy.insert(roundtable, Rang::Not);
                if rest == Rest::Blocked || rang == Some(Rang::Again) {
                    self.begin(roundtable);
                } else {
                    self.busy.remove(&roundtable);
                }
            }
            Done::Stopped => {}
        }
    }
}

/// The roundtables that a restart may have left in the middle of something: those that are active, and those whose runs
/// go on although they are closed.
fn left_behind(store: &dyn Store) -> Result<BTreeSet<RoundtableId>, Error> {
    let mut left = BTreeSet::new();
    let mut active = RoundtableFilter { status: Some(RoundtableStatus::Active), before: None };
    loop {
        let page = store.roundtables(&active, PAGE)?;
        left.extend(page.iter().map(|row| row.roundtable_id));
        let Some(last) = page.last().filter(|_| page.len() == PAGE) else { break };
        active.before = Some(last.roundtable_id);
    }
    for status in [RunStatus::Running, RunStatus::Queued] {
        let mut filter = RunFilter { status: Some(status), ..RunFilter::default() };
        loop {
            let page = store.runs(&filter, PAGE)?;
            left.extend(page.iter().filter_map(|row| row.labels.get(LABEL)?.parse::<RoundtableId>().ok()));
            let Some(last) = page.last().filter(|_| page.len() == PAGE) else { break };
            filter.before = Some(last.run_id);
        }
    }
    Ok(left)
}
