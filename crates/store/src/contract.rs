//! What a store promises.

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, InteractionId, Item, Notice, NoticeId,
    OpenInteraction, RoundtableId, RoundtableRow, RunId, RunRow, RunStatus, StreamId, Timestamp,
};
use tokio::sync::watch;

use crate::Error;

/// The journal: ordered facts, and the rows that are looked up.
///
/// # What every store promises
///
/// - **One commit, one truth.** The items of a batch are taken in order. Each is accepted or refused alone, with
///   everything it carries or with nothing of it. The accepted ones are durable together when `commit` returns, and
///   not before does anybody see them. If `commit` fails, nothing of the batch is there and the store goes on working.
/// - **No gaps.** An accepted item's events get the next places in its stream and the next positions of all.
/// - **Readers do not wait** for a commit, and a commit does not wait for readers.
/// - **Watching misses nothing.** Whoever reads up to what is there, then waits for the watch to change, then reads
///   on from where it stopped, sees every entry exactly once.
///
/// The calls block; they are made from threads that may.
pub trait Store: Send + Sync + 'static {
    /// Makes a batch durable. One outcome for each item, in order.
    ///
    /// A stream that is elsewhere is told before a key that is held. A key may be claimed again by the same holder.
    ///
    /// # Panics
    ///
    /// If an item has no events, or the row of another run or roundtable than its stream's: a mistake of the caller. Nothing of the
    /// batch is there then, and the store goes on working.
    fn commit(&self, batch: &[Item]) -> Result<Vec<Outcome>, Error>;

    /// Up to `limit` entries of `stream` in order, from the first one that holds something after `after`. That one may
    /// begin before it.
    fn read(&self, stream: StreamId, after: After, limit: usize) -> Result<Vec<Entry>, Error>;

    /// Up to `limit` entries of all streams that hold something after `position`, in order.
    fn read_all(&self, position: u64, limit: usize) -> Result<Vec<Entry>, Error>;

    /// The position of the last event of all; 0 when there is none.
    fn head(&self) -> Result<u64, Error>;

    /// A value that changes with every commit: the position of the last event.
    fn watch(&self) -> watch::Receiver<u64>;

    /// A value that changes with every commit to `stream`: the position of its last event. Costs nothing while
    /// other streams change.
    fn watch_stream(&self, stream: StreamId) -> watch::Receiver<u64>;

    /// The row of a run.
    fn run(&self, id: RunId) -> Result<Option<RunRow>, Error>;

    /// Up to `limit` runs that match, the newest first.
    fn runs(&self, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error>;

    /// How many runs there are with each status, also those that none has. Walks an index: about 100 ms for a million.
    fn run_counts(&self) -> Result<Vec<(RunStatus, u64)>, Error>;

    /// The row of a roundtable.
    fn roundtable(&self, id: RoundtableId) -> Result<Option<RoundtableRow>, Error>;

    /// Up to `limit` roundtables that match, the newest first.
    fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Result<Vec<RoundtableRow>, Error>;

    /// How many roundtables there are with each status, also those that none has.
    fn roundtable_counts(&self) -> Result<Vec<(RoundtableStatus, u64)>, Error>;

    /// Up to `limit` questions that wait, the oldest first, after the one given.
    fn open_interactions(
        &self,
        after: Option<OpenCursor>,
        limit: usize,
    ) -> Result<Vec<OpenInteraction>, Error>;

    /// Up to `limit` open questions with a deadline, the earliest first.
    fn deadlines(&self, limit: usize) -> Result<Vec<OpenInteraction>, Error>;

    /// Where a contract is found.
    fn contract(&self, id: ExecutionId) -> Result<Option<ContractRow>, Error>;

    /// Who holds a key.
    fn holder(&self, key: &ClaimKey) -> Result<Option<Holder>, Error>;

    /// Up to `limit` notices that may be told, the earliest due first. Of each stream only the oldest: the next one's
    /// turn comes when that is settled.
    fn notices(&self, limit: usize) -> Result<Vec<Pending>, Error>;

    /// Remembers what became of notices, all in one commit. One that is not there any more is nobody's business.
    fn settle_notices(&self, settled: &[Settled]) -> Result<(), Error>;

    /// Removes a run or a roundtable that has ended: its entries, its row with its labels, its contracts, its notices,
    /// delivered or not, its keys of a scope `run:…`, and the key that its successor holds; with a roundtable the keys of its
    /// scope `roundtable:…`, which nothing can ask for any more. Durable and complete when it returns.
    ///
    /// Kept, with nothing changed, while something needs it ([`KeptBecause`]). A chain of runs that continue each other
    /// is therefore removed from its end: no run of it can come after one that was removed, because a run has one
    /// successor ever, and so nothing can ask for the keys of the chain any more.
    ///
    /// - **Wider keys stay**: a call that was made once per skill, or once at all, is not made again because the run
    ///   that made it is gone.
    /// - **The key that it was created with stays** until [`forget_keys`](Self::forget_keys): the same request again
    ///   must not create a second run.
    /// - **Positions never go back.** The [`head`](Self::head) stays where it is, also when the newest entry was removed
    ///   and after a restart; [`read_all`](Self::read_all) goes over the hole. Watches do not change.
    ///
    /// Whoever keeps states of runs in memory forgets this one: a store does not tell.
    fn remove(&self, stream: StreamId) -> Result<Removal, Error>;

    /// Forgets the keys that removed runs and roundtables were created with, of those whose id was made before
    /// `made_before`. Returns how many there were.
    fn forget_keys(&self, made_before: Timestamp) -> Result<u64, Error>;
}

/// What became of a run or a roundtable that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Removed,
    /// It is still there, as it was.
    Kept(KeptBecause),
    /// There is no such run or roundtable.
    NotThere,
}

/// Why a run or a roundtable is not removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptBecause {
    /// It has not ended.
    NotEnded,
    /// A person has to say what became of one of its calls: a contract that is [`unknown`](ContractRow::unknown).
    CallInDoubt,
    /// This run continues it: its conversation and its keys are still needed.
    ContinuedBy(RunId),
}

/// A notice that was not heard yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The notice.
    pub notice: Notice,
    /// When to tell it.
    pub due_at: Timestamp,
    /// How often that was tried in vain.
    pub attempts: u32,
}

/// What became of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It was heard, or is given up: it goes.
    Done(NoticeId),
    /// It was not heard: once more then.
    Again(NoticeId, Timestamp),
}

/// What became of one item of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is durable; its last event has this position.
    Accepted {
        /// The position.
        position: u64,
    },
    /// Nothing of it was written: reload the stream and decide again.
    Refused(Conflict),
}

/// Why an item was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// The stream is not where the item expected it.
    Seq {
        /// Where its last event is.
        actual: u64,
    },
    /// A key is held by somebody else.
    Claimed {
        /// The key.
        key: ClaimKey,
        /// Who holds it.
        holder: Holder,
    },
}

/// Where to go on reading a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// After the event with this place.
    Seq(u64),
    /// After the frame with this number.
    Frame(u64),
}

impl After {
    /// From the first event on.
    pub const START: Self = Self::Seq(0);
}

/// Where to go on reading the open questions: the last one of the page before.
///
/// With the question's number, because one run may ask several at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenCursor {
    /// When it was asked.
    pub created_at: Timestamp,
    /// Who asked.
    pub stream: StreamId,
    /// Its number.
    pub interaction_id: InteractionId,
}

impl OpenCursor {
    /// After `open`.
    pub fn after(open: &OpenInteraction) -> Self {
        Self { created_at: open.created_at, stream: open.stream, interaction_id: open.interaction_id }
    }
}

/// Which runs to list. Each condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// With this status.
    pub status: Option<RunStatus>,
    /// Of this skill.
    pub skill: Option<String>,
    /// With this label.
    pub label: Option<(String, String)>,
    /// Created before this one: the last of the page before.
    pub before: Option<RunId>,
}

/// Which roundtables to list. Each condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundtableFilter {
    /// With this status.
    pub status: Option<RoundtableStatus>,
    /// Opened before this one: the last of the page before.
    pub before: Option<RoundtableId>,
}
