//! The journal, for surfaces.

use std::sync::Arc;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{Roundtable, Todo};
use adjourn_core::{Entry, OpenInteraction, RoundtableRow, RunId, RunRow, RunStatus, StreamId};
use adjourn_kernel::load_readable;
use adjourn_store::{After, Error, OpenCursor, Pending, RoundtableFilter, RunFilter, Settled, Store};
use tokio::sync::watch;

use super::Service;

/// Roundtables that are looked at together.
const PAGE: usize = 256;

/// What a surface may do with the journal: read it, and remember what became of notices. Facts are only added by the
/// operations of the [`Service`].
///
/// Cheap to clone. It keeps the data directory open, and not the work going. All that reads blocks.
#[derive(Clone)]
pub struct Journal(Arc<dyn Store>);

impl Service {
    /// The journal.
    pub fn journal(&self) -> Journal {
        Journal(self.store().clone())
    }
}

impl Journal {
    /// Up to `limit` entries of a stream, from the first one that holds something after `after`.
    pub fn entries(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error> {
        self.0.read(stream, after, limit)
    }

    /// Up to `limit` entries of all streams that hold something after `position`.
    pub fn all_entries(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        self.0.read_all(position, limit)
    }

    /// The position of the last event of all.
    pub fn head(&self) -> Result<u64, Error> {
        self.0.head()
    }

    /// A value that changes with every commit.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.watch()
    }

    /// A value that changes with every commit to a stream.
    pub fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64> {
        self.0.watch_stream(stream)
    }

    /// The row of a run, if there is such a run.
    pub fn run(&self, id: RunId) -> Result<Option<RunRow>, Error> {
        self.0.run(id)
    }

    /// Up to `limit` runs that match, the newest first.
    pub fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
        self.0.runs(filter, limit)
    }

    /// How many runs there are with each status.
    pub fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        self.0.run_counts()
    }

    /// How many roundtables there are with each status.
    pub fn roundtable_counts(&self) -> Result<Vec<(RoundtableStatus, u64)>, Error> {
        self.0.roundtable_counts()
    }

    /// Up to `limit` roundtables that match, the newest first.
    pub fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error> {
        self.0.roundtables(filter, limit)
    }

    /// Up to `limit` questions that wait, the oldest first, after the one given.
    pub fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error> {
        self.0.open_interactions(after, limit)
    }

    /// Up to `limit` notices that may be told, the earliest due first.
    pub fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error> {
        self.0.notices(limit)
    }

    /// Remembers what became of notices.
    pub fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error> {
        self.0.settle_notices(settled)
    }

    /// Whether there is a notice that was not tried yet. One that was tried in vain does not count: its receiver may be
    /// away for days.
    pub fn has_untried_notice(&self) -> Result<bool, Error> {
        // The earliest due come first, and those that were tried are due later.
        Ok(self.0.notices(1)?.iter().any(|pending| pending.attempts == 0))
    }

    /// Whether something goes on, or will, without a person: what is [at work](Self::is_at_work), or a question that is
    /// decided when its time is over.
    pub fn can_go_on(&self) -> Result<bool, Error> {
        can_go_on(self.0.as_ref())
    }

    /// Whether something goes on: a run that works or waits for a slot, or a roundtable that waits for nobody, which has
    /// no run for a moment between two of its steps.
    pub fn is_at_work(&self) -> Result<bool, Error> {
        is_at_work(self.0.as_ref())
    }
}

/// Whether something in a store that nobody works on would go on: see [`Journal::can_go_on`].
pub fn can_go_on(store: &dyn Store) -> Result<bool, Error> {
    Ok(is_at_work(store)? || !store.deadlines(1)?.is_empty())
}

fn is_at_work(store: &dyn Store) -> Result<bool, Error> {
    for status in [RunStatus::Running, RunStatus::Queued] {
        let filter = RunFilter { status: Some(status), ..RunFilter::default() };
        if !store.runs(&filter, 1)?.is_empty() {
            return Ok(true);
        }
    }
    let mut active = RoundtableFilter { status: Some(RoundtableStatus::Active), before: None };
    loop {
        let page = store.roundtables(&active, PAGE)?;
        for row in &page {
            let todo = load_readable::<Roundtable>(store, row.roundtable_id)?.map(|table| table.todo());
            match todo {
                Some(Todo::OpenRound | Todo::Agents { .. } | Todo::RecordRound) => return Ok(true),
                Some(Todo::Wait(_) | Todo::Nothing) | None => {}
            }
        }
        let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return Ok(false) };
        active.before = Some(last.roundtable_id);
    }
}
