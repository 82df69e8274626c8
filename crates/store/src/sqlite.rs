//! The embedded store: one SQLite database in a data directory.

mod codec;
mod examine;
mod log;
mod notices;
mod open;
mod problem;
mod read;
mod readers;
mod remove;
mod roundtables;
mod runs;
mod sql;
mod write;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, Item, OpenInteraction, RoundtableId, RoundtableRow,
    RunId, RunRow, RunStatus, StreamId, Timestamp,
};
use tokio::sync::watch;

use crate::feed::Feed;
use crate::lock::Lock;
use crate::{
    After, Error, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter, Settled, Store,
    directory,
};

pub use examine::{Examination, Finding, Remedy};
use readers::Readers;
use write::Writer;

const DATABASE_NAME: &str = "adjourn.db";

/// Entries that a reader takes note of at once.
const LOOK_ENTRIES: usize = 256;

/// A journal in a SQLite database.
///
/// One process owns a data directory and writes. Others may read it meanwhile, see [`SqliteStore::open_reader`].
#[derive(Debug)]
pub struct SqliteStore {
    /// None in a store that can only read.
    writer: Option<Mutex<Writer>>,
    readers: Readers,
    feed: Feed,
    /// Held until the connections above are closed: fields are dropped in this order.
    lock: Option<Mutex<Lock>>,
}

impl SqliteStore {
    /// Opens the journal in `dir` as its owner, making both where they are missing.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        directory::prepare(dir)?;
        let lock = Lock::take(dir)?;
        let path = dir.join(DATABASE_NAME);
        log::make_durable(&log::path(&path)).map_err(|error| directory::unusable(dir, &error))?;
        let writer = Writer::open(&path)?;
        Ok(Self {
            feed: Feed::new(writer.head()),
            writer: Some(Mutex::new(writer)),
            readers: Readers::new(path),
            lock: Some(Mutex::new(lock)),
        })
    }

    /// Opens the journal in `dir` for reading, whether or not somebody owns it.
    ///
    /// Such a store refuses every commit. It sees what others commit when it is asked, but its watches change only when
    /// it [looks](Self::look).
    pub fn open_reader(dir: &Path) -> Result<Self, Error> {
        let path = dir.join(DATABASE_NAME);
        if let Err(error) = std::fs::metadata(&path) {
            let missing = Error::Directory {
                path: dir.to_owned(),
                problem: format!("there is no journal in it ({DATABASE_NAME} is missing)"),
            };
            let is_missing = error.kind() == std::io::ErrorKind::NotFound && dir.is_dir();
            return Err(if is_missing { missing } else { directory::unusable(dir, &error) });
        }
        let readers = Readers::new(path);
        let head = read::head(&*readers.lend()?)?;
        Ok(Self { writer: None, readers, feed: Feed::new(head), lock: None })
    }

    /// Tells those who watch what was committed by others. The owner of a journal knows without looking.
    pub fn look(&self) -> Result<(), Error> {
        loop {
            let known = *self.feed.watch().borrow();
            let news = self.read_all(known, LOOK_ENTRIES)?;
            let Some(last) = news.last() else { return Ok(()) };
            self.feed.publish(last.position, news.iter().map(|entry| (entry.stream, entry.position)));
        }
    }

    /// Checks the whole journal: that SQLite finds it sound, that every stream can be read, and that the rows say what
    /// the streams say. Reads everything once.
    pub fn examine(&self) -> Result<Examination, Error> {
        examine::examine(&*self.readers.lend()?)
    }

    /// Writes the rows again that [`examine`](Self::examine) found wrong. Returns of how many streams.
    pub fn repair(&self, examination: &Examination) -> Result<u64, Error> {
        self.writer("be repaired")?.repair(&examination.findings)
    }

    /// Notices that the lock file was removed, before anything is written. One look at an open file.
    fn check_lock(&self) -> Result<(), Error> {
        let Some(lock) = &self.lock else { return Ok(()) };
        lock.lock().unwrap_or_else(PoisonError::into_inner).check()
    }

    fn writer(&self, doing: &'static str) -> Result<MutexGuard<'_, Writer>, Error> {
        match &self.writer {
            // A panic in a commit is an assertion about the batch: its transaction was rolled back on the way out.
            Some(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                if writer.is_stale() {
                    self.readers.without_any(|| writer.open_again())?;
                }
                Ok(writer)
            }
            None => Err(Error::Failed { doing, problem: "it was opened for reading only".to_owned() }),
        }
    }
}

impl Store for SqliteStore {
    fn commit(&self, batch: &[Item]) -> Result<Vec<Outcome>, Error> {
        let mut writer = self.writer("commit")?;
        self.check_lock()?;
        let before = writer.head();
        let outcomes = writer.commit(batch)?;
        let head = writer.head();
        if head > before {
            // Still under the lock, so that what is announced never goes back.
            let accepted = batch.iter().zip(&outcomes).filter_map(|(item, outcome)| match outcome {
                Outcome::Accepted { position } => Some((item.stream, *position)),
                Outcome::Refused(_) => None,
            });
            self.feed.publish(head, accepted);
        }
        Ok(outcomes)
    }

    fn read(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error> {
        read::stream(&*self.readers.lend()?, stream, after, limit)
    }

    fn read_all(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        read::everything(&*self.readers.lend()?, position, limit)
    }

    fn head(&self) -> Result<u64, Error> {
        read::head(&*self.readers.lend()?)
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.feed.watch()
    }

    fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64> {
        self.feed.watch_stream(stream, || {
            // If this fails, so will the reading that follows, and that says why. Watching needs only the changes.
            let last = self.readers.lend().and_then(|reader| read::stream_position(&reader, stream));
            last.unwrap_or(0)
        })
    }

    fn run(&self, id: RunId) -> Result<Option<RunRow>, Error> {
        runs::one(&*self.readers.lend()?, id)
    }

    fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
        runs::list(&*self.readers.lend()?, filter, limit)
    }

    fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error> {
        runs::counts(&*self.readers.lend()?)
    }

    fn roundtable(&self, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
        roundtables::one(&*self.readers.lend()?, id)
    }

    fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error> {
        roundtables::list(&*self.readers.lend()?, filter, limit)
    }

    fn roundtable_counts(&self) -> Result<Vec<(RoundtableStatus, u64)>, Error> {
        roundtables::counts(&*self.readers.lend()?)
    }

    fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error> {
        read::open_interactions(&*self.readers.lend()?, after, limit)
    }

    fn deadlines(&self, limit: usize) -> Result<Vec<OpenInteraction>, Error> {
        read::deadlines(&*self.readers.lend()?, limit)
    }

    fn contract(&self, id: ExecutionId) -> Result<Option<ContractRow>, Error> {
        read::contract(&*self.readers.lend()?, id)
    }

    fn holder(&self, key: &ClaimKey) -> Result<Option<Holder>, Error> {
        read::holder(&*self.readers.lend()?, key)
    }

    fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error> {
        notices::pending(&*self.readers.lend()?, limit)
    }

    fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error> {
        self.writer("settle notices")?.settle_notices(settled)
    }

    fn remove(&self, stream: StreamId) -> Result<Removal, Error> {
        self.writer(remove::REMOVE)?.remove(stream)
    }

    fn forget_keys(&self, made_before: Timestamp) -> Result<u64, Error> {
        self.writer("forget keys")?.forget_keys(made_before)
    }
}
