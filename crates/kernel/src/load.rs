//! States of streams, loaded from their journal.

use adjourn_core::roundtable::Roundtable;
use adjourn_core::{Folding, Stream};
use adjourn_core::{RoundtableId, RoundtableRow, Run, RunId, RunRow};
use adjourn_store::{After, Error, Store};

/// Entries that are read at once when a state is loaded: most streams have fewer, and a long one comes in pages of some
/// hundred kilobytes.
const LOAD_PAGE_ENTRIES: usize = 256;

/// A stream whose row can be looked up in a store.
pub trait StoredStream: Stream {
    /// The row of a stream.
    fn find_row(store: &dyn Store, id: Self::Id) -> Result<Option<Self::Row>, Error>;
}

impl StoredStream for Run {
    fn find_row(store: &dyn Store, id: RunId) -> Result<Option<RunRow>, Error> {
        store.run(id)
    }
}

impl StoredStream for Roundtable {
    fn find_row(store: &dyn Store, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
        store.roundtable(id)
    }
}

/// The state of a stream as its journal has it; none where there is no such stream.
pub fn load<S: Stream>(store: &dyn Store, id: S::Id) -> Result<Option<S>, Error> {
    fold::<S>(store, id)?.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() })
}

/// The state of a stream as far as its journal can be read: for showing it. Where it cannot be read to its end, the status
/// is that of the stream's row.
pub fn load_readable<S: StoredStream>(store: &dyn Store, id: S::Id) -> Result<Option<S>, Error> {
    let folding = fold::<S>(store, id)?;
    if folding.damage().is_none() {
        return folding.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() });
    }
    Ok(S::find_row(store, id)?.map(|row| folding.salvage(row).0))
}

/// Folds the journal of a stream.
pub(crate) fn fold<S: Stream>(store: &dyn Store, id: S::Id) -> Result<Folding<S>, Error> {
    let mut folding = Folding::new(id);
    loop {
        let entries = store.read(id.into(), After::Seq(folding.seq()), LOAD_PAGE_ENTRIES)?;
        for entry in &entries {
            folding.add(entry);
        }
        if entries.len() < LOAD_PAGE_ENTRIES {
            return Ok(folding);
        }
    }
}
