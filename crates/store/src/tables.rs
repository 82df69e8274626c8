//! The decider of roundtables: takes commands in order, and answers after the commit.
//!
//! A step function like the [decider](crate::decider) of runs, and much simpler: a roundtable is asked something a few
//! times in a round, not thousands of times a second. So nothing is decided on a state that is not durable yet. The next
//! command to a roundtable waits until the one before it is committed, and commands to different ones share a commit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use adjourn_core::roundtable::{Command, Decided, Event, Folding, Refusal, Roundtable, item};
use adjourn_core::{Item, Known, RoundtableId, Timestamp};

use crate::{After, Error, Outcome, Store};

/// Entries that are read at once when a state is loaded: a round has some tens.
const LOAD_PAGE_ENTRIES: usize = 256;

/// States that are kept in memory although they could be loaded: some tens of kilobytes each.
const WARM_MAX: usize = 64;

/// How often a request is decided again because another writer was faster. See the decider of runs.
const RETRIES_MAX: u32 = 16;

/// Something asked of a roundtable, and the ticket that its answer goes to.
#[derive(Debug)]
pub struct TableRequest<T> {
    /// The roundtable.
    pub id: RoundtableId,
    /// What is asked.
    pub command: Command,
    /// When it was asked.
    pub at: Timestamp,
    /// Who gets the answer.
    pub ticket: T,
}

/// What a request came to, told after it is durable.
pub type TableAnswer = Result<TableAccepted, TableDenied>;

/// A command that was accepted and is durable.
#[derive(Debug, Clone)]
pub struct TableAccepted {
    /// The roundtable with it.
    pub table: Arc<Roundtable>,
    /// What it changed; nothing where it was so already.
    pub events: Vec<Event>,
    /// The position of the last of the events; 0 where there is none.
    pub position: u64,
}

/// A command that changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TableDenied {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The journal could not take it. It may later.
    #[error(transparent)]
    Failed(#[from] Arc<Error>),
}

impl From<Error> for TableDenied {
    fn from(error: Error) -> Self {
        Self::Failed(Arc::new(error))
    }
}

/// Decides commands to roundtables.
pub struct TableDecider<T> {
    store: Arc<dyn Store>,
    /// What was asked and is not decided yet.
    waiting: VecDeque<Waiting<T>>,
    /// What is being committed, in the order of its items.
    in_flight: Vec<Decision<T>>,
    /// Durable states that were used lately.
    warm: BTreeMap<RoundtableId, Arc<Roundtable>>,
    answers: Vec<(T, TableAnswer)>,
}

struct Waiting<T> {
    request: TableRequest<T>,
    /// How often it was decided in vain.
    retries: u32,
}

struct Decision<T> {
    waiting: Waiting<T>,
    accepted: TableAccepted,
}

impl<T> TableDecider<T> {
    /// A decider over `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            waiting: VecDeque::new(),
            in_flight: Vec::new(),
            warm: BTreeMap::new(),
            answers: Vec::new(),
        }
    }

    /// Takes a request. Its answer comes when it is durable.
    pub fn offer(&mut self, request: TableRequest<T>) {
        self.waiting.push_back(Waiting { request, retries: 0 });
    }

    /// Whether something was asked that is not answered yet.
    pub fn is_busy(&self) -> bool {
        !self.waiting.is_empty() || !self.in_flight.is_empty()
    }

    /// The items to commit now. Only called while nothing is being committed.
    ///
    /// # Panics
    ///
    /// If something is: whoever drives this forgot to settle it.
    pub fn submit(&mut self) -> Vec<Item> {
        assert!(self.in_flight.is_empty(), "the batch before was settled");
        let mut items = Vec::new();
        let mut busy = BTreeSet::new();
        for waiting in std::mem::take(&mut self.waiting) {
            let id = waiting.request.id;
            if busy.contains(&id) {
                self.waiting.push_back(waiting);
                continue;
            }
            match self.consider(&waiting.request) {
                Ok((accepted, Some(item))) => {
                    busy.insert(id);
                    items.push(item);
                    self.in_flight.push(Decision { waiting, accepted });
                }
                Ok((accepted, None)) => self.answers.push((waiting.request.ticket, Ok(accepted))),
                Err(denied) => self.answers.push((waiting.request.ticket, Err(denied))),
            }
        }
        items
    }

    /// Takes the outcome of the items that were submitted.
    pub fn settle(&mut self, outcome: Result<&[Outcome], &Arc<Error>>) {
        let decisions = std::mem::take(&mut self.in_flight);
        match outcome {
            Ok(outcomes) => {
                assert_eq!(decisions.len(), outcomes.len(), "every item has an outcome");
                // Backwards, so that what has to be decided again keeps its order.
                for (decision, outcome) in decisions.into_iter().zip(outcomes).rev() {
                    self.settle_one(decision, outcome);
                }
            }
            Err(error) => {
                for Decision { waiting, .. } in decisions {
                    self.warm.remove(&waiting.request.id);
                    self.answers.push((waiting.request.ticket, Err(TableDenied::Failed(error.clone()))));
                }
            }
        }
    }

    /// The answers that may be told now.
    pub fn take_answers(&mut self) -> Vec<(T, TableAnswer)> {
        std::mem::take(&mut self.answers)
    }

    fn settle_one(&mut self, decision: Decision<T>, outcome: &Outcome) {
        let Decision { waiting: Waiting { request, retries }, mut accepted } = decision;
        match outcome {
            Outcome::Accepted { position } => {
                accepted.position = *position;
                self.remember(&accepted.table);
                self.answers.push((request.ticket, Ok(accepted)));
            }
            Outcome::Refused(_) if retries < RETRIES_MAX => {
                self.warm.remove(&request.id);
                self.waiting.push_front(Waiting { request, retries: retries + 1 });
            }
            Outcome::Refused(_) => {
                let problem = format!("other writers were faster {RETRIES_MAX} times in a row");
                let error = Error::Failed { doing: "commit", problem };
                self.answers.push((request.ticket, Err(error.into())));
            }
        }
    }

    /// What a request comes to, and what has to be committed for it; nothing where it changes nothing.
    fn consider(&mut self, request: &TableRequest<T>) -> Result<(TableAccepted, Option<Item>), TableDenied> {
        let TableRequest { id, command, at, .. } = request;
        let before = match self.state(*id) {
            // Nothing can be decided about such a roundtable but its end.
            Err(error @ Error::Damaged { .. }) if matches!(command, Command::Fail { .. }) => {
                return self.end_unreadable(*id, *at, error);
            }
            state => state?,
        };
        let mut held = Vec::new();
        for key in Roundtable::wants(command) {
            if let Some(holder) = self.store.holder(&key)? {
                held.push((key, holder));
            }
        }
        let known = Known { now: *at, boot: None, held };
        let unchanged = |table| (TableAccepted { table, events: Vec::new(), position: 0 }, None);
        match Roundtable::decide_with(*id, before.as_deref(), command, &known) {
            Ok(decided) if decided.events.is_empty() => {
                Ok(unchanged(before.unwrap_or_else(|| Arc::new(decided.table))))
            }
            Ok(decided) => {
                let key = match command {
                    Command::Open(open) => open.key.as_ref(),
                    _ => None,
                };
                let item = item(before.as_deref(), key, &decided.events, &decided.table);
                let table = Arc::new(decided.table);
                Ok((TableAccepted { table, events: decided.events, position: 0 }, Some(item)))
            }
            // The first answer holds: here is the roundtable that was opened then.
            Err(Refusal::OpenedBefore(earlier)) => match self.state(earlier)? {
                Some(table) => Ok(unchanged(table)),
                None => Err(Refusal::UnknownRoundtable(earlier).into()),
            },
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Ends a roundtable whose journal cannot be read.
    fn end_unreadable(
        &self,
        id: RoundtableId,
        at: Timestamp,
        error: Error,
    ) -> Result<(TableAccepted, Option<Item>), TableDenied> {
        let folding = fold(self.store.as_ref(), id)?;
        let Some(row) = self.store.roundtable(id)?.filter(|row| !row.status.is_terminal()) else {
            return Err(error.into());
        };
        let (before, set_aside) = folding.salvage(row);
        let Decided { events, table } = before.set_aside(set_aside, at)?;
        let item = item(Some(&before), None, &events, &table);
        Ok((TableAccepted { table: Arc::new(table), events, position: 0 }, Some(item)))
    }

    fn state(&mut self, id: RoundtableId) -> Result<Option<Arc<Roundtable>>, Error> {
        if let Some(table) = self.warm.get(&id) {
            return Ok(Some(table.clone()));
        }
        let table = load_roundtable(self.store.as_ref(), id)?.map(Arc::new);
        if let Some(table) = &table {
            self.remember(table);
        }
        Ok(table)
    }

    /// Keeps a state that is durable. The oldest roundtable goes where there are too many: it is the likeliest to be over.
    fn remember(&mut self, table: &Arc<Roundtable>) {
        self.warm.insert(table.id(), table.clone());
        if self.warm.len() > WARM_MAX {
            self.warm.pop_first();
        }
    }
}

/// The state of a roundtable as its journal has it; none where there is no such roundtable.
pub fn load_roundtable(store: &dyn Store, id: RoundtableId) -> Result<Option<Roundtable>, Error> {
    fold(store, id)?.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() })
}

/// The state of a roundtable as far as its journal can be read: for showing it.
pub fn load_readable_roundtable(store: &dyn Store, id: RoundtableId) -> Result<Option<Roundtable>, Error> {
    let folding = fold(store, id)?;
    if folding.damage().is_none() {
        return folding.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() });
    }
    Ok(store.roundtable(id)?.map(|row| folding.salvage(row).0))
}

/// Folds the stream of a roundtable.
fn fold(store: &dyn Store, id: RoundtableId) -> Result<Folding, Error> {
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
