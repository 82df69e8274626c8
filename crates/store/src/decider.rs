//! The decider: takes commands in order, decides them on warm state, and answers after the commit.
//!
//! It is a step function and does nothing by itself. [`offer`](Decider::offer) decides a request into the open batch,
//! [`submit`](Decider::submit) hands out the batch to be committed, [`settle`](Decider::settle) takes the outcome.
//! While one batch is being committed the next one is decided, on states that are not durable yet. If such a state
//! never becomes durable, everything that was decided on it is decided again, and nobody has been told anything.

mod batch;
mod warm;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use adjourn_core::{
    Boot, Command, Create, Decided, Event, Folding, Item, Known, Refusal, Run, RunId, Timestamp, Wanted,
    ends_unreadable,
};

use self::batch::{Batch, Decision, Draft};
use self::warm::Warm;
use crate::{After, Error, Outcome, Store};

/// Entries that are read at once when a run's state is loaded: most runs have fewer, and a long one comes in pages
/// of some hundred kilobytes.
const LOAD_PAGE_ENTRIES: usize = 256;

/// How often a request is decided again because another writer was faster.
///
/// Within one process nobody is; between processes that share a store, each loss means that somebody else won.
const RETRIES_MAX: u32 = 16;

/// Something asked of a run, and the ticket that its answer goes to.
#[derive(Debug)]
pub struct Request<T> {
    /// The run.
    pub run_id: RunId,
    /// What is asked.
    pub command: Command,
    /// When it was asked.
    pub at: Timestamp,
    /// The boot of the machine as the clock of `at` has it; without it no deadline is moved.
    pub boot: Option<Boot>,
    /// Who gets the answer.
    pub ticket: T,
}

/// What a request came to, told after it is durable.
pub type Answer = Result<Accepted, Denied>;

/// A command that was accepted and is durable.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The run with it.
    pub run: Arc<Run>,
    /// What it changed; nothing where it was so already.
    pub events: Vec<Event>,
    /// The position of the last of the events; 0 where there is none.
    pub position: u64,
}

/// A command that changed nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Denied {
    /// The rules do not allow it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The journal could not take it. It may later.
    #[error(transparent)]
    Failed(#[from] Arc<Error>),
}

impl From<Error> for Denied {
    fn from(error: Error) -> Self {
        Self::Failed(Arc::new(error))
    }
}

/// Decides commands in order.
pub struct Decider<T> {
    store: Arc<dyn Store>,
    /// What somebody is to be told of.
    wanted: Wanted,
    /// The states that were used last, durable or not.
    warm: Warm,
    /// What was decided and waits to be committed.
    open: Batch<T>,
    /// What is being committed.
    in_flight: Option<Batch<T>>,
    /// Answers that may be told.
    answers: VecDeque<(T, Answer)>,
    /// What became of states since somebody last looked.
    news: Vec<News>,
}

/// What became of a state. For whoever plans ahead with states that are not durable yet.
#[derive(Debug, Clone)]
pub enum News {
    /// A run is this now, as far as it is decided.
    Changed(Arc<Run>),
    /// What was decided about a run never became durable: it is what its journal says.
    Forgotten(RunId),
}

impl<T> Decider<T> {
    /// A decider over `store` that keeps up to `warm_max` states that it may forget.
    pub fn new(store: Arc<dyn Store>, warm_max: usize) -> Self {
        Self {
            store,
            wanted: Wanted::default(),
            warm: Warm::new(warm_max),
            open: Batch::new(),
            in_flight: None,
            answers: VecDeque::new(),
            news: Vec::new(),
        }
    }

    /// Says what somebody is to be told of from now on: its notice is part of the commit.
    pub fn want(&mut self, wanted: Wanted) {
        self.wanted = wanted;
    }

    /// Decides a request. Its answer comes when everything it was decided on is durable.
    pub fn offer(&mut self, request: Request<T>) {
        self.decide(request, 0);
    }

    /// How many decisions wait to be committed.
    pub fn open_len(&self) -> usize {
        self.open.decisions.len()
    }

    /// How many states are remembered that are not durable yet.
    pub fn undurable_len(&self) -> usize {
        self.warm.undurable_len()
    }

    /// Whether a batch is being committed.
    pub fn is_committing(&self) -> bool {
        self.in_flight.is_some()
    }

    /// The items to commit now: none while others are being committed, or when there is nothing to commit.
    pub fn submit(&mut self) -> Option<Arc<[Item]>> {
        if self.in_flight.is_some() {
            return None;
        }
        let mut batch = std::mem::replace(&mut self.open, Batch::new());
        let items = batch.take_items(self.wanted);
        if items.is_empty() {
            // Nothing is in flight, so whatever these were decided on is durable.
            self.answers.extend(batch.decisions.into_iter().map(Decision::into_answer));
            return None;
        }
        self.in_flight = Some(batch);
        Some(items)
    }

    /// Takes the outcome of the batch that was submitted.
    pub fn settle(&mut self, outcome: Result<Vec<Outcome>, Error>) {
        let Some(batch) = self.in_flight.take() else { return };
        let mut again = Vec::new();
        match outcome {
            Ok(outcomes) => {
                self.settle_committed(batch, &outcomes, &mut again);
            }
            Err(error) => self.settle_failed(batch, &Arc::new(error), &mut again),
        }
        if !again.is_empty() || self.open_depends_on_forgotten() {
            self.decide_again(again);
        }
    }

    /// Takes back what waits to be committed and matches; nobody is answered. What else was decided about the same runs
    /// is decided again. For whoever asked on grounds that do not hold any more.
    pub fn retract(&mut self, is_out: impl Fn(&T) -> bool) {
        let runs: HashSet<RunId> = self
            .open
            .decisions
            .iter()
            .filter(|decision| is_out(&decision.request.ticket))
            .map(|decision| decision.request.run_id)
            .collect();
        let taken = self.open.take_out(|decision| runs.contains(&decision.request.run_id));
        for decision in &taken {
            self.forget(decision.request.run_id);
        }
        for decision in taken {
            if !is_out(&decision.request.ticket) {
                self.decide(decision.request, decision.retries);
            }
        }
    }

    /// What became of states since the last call, in order.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// The answers that may be told now.
    pub fn take_answers(&mut self) -> impl Iterator<Item = (T, Answer)> {
        self.answers.drain(..)
    }

    fn settle_committed(&mut self, batch: Batch<T>, outcomes: &[Outcome], again: &mut Vec<Decision<T>>) {
        let mut refused = HashSet::new();
        for mut decision in batch.decisions {
            let run_id = decision.request.run_id;
            match decision.item.map(|index| &outcomes[index]) {
                Some(Outcome::Accepted { position }) => {
                    decision.set_position(*position);
                    self.warm.made_durable(run_id);
                    self.answers.push_back(decision.into_answer());
                }
                Some(Outcome::Refused(_)) => {
                    refused.insert(run_id);
                    self.forget(run_id);
                    again.push(decision);
                }
                None if refused.contains(&run_id) => again.push(decision),
                None => self.answers.push_back(decision.into_answer()),
            }
        }
    }

    /// Nothing of the batch is there: whoever asked is told, and its states are forgotten.
    fn settle_failed(&mut self, batch: Batch<T>, error: &Arc<Error>, again: &mut Vec<Decision<T>>) {
        for decision in batch.decisions {
            self.forget(decision.request.run_id);
            if decision.item.is_some() {
                self.answers.push_back((decision.request.ticket, Err(Denied::Failed(error.clone()))));
            } else {
                // It was refused on grounds that never came to be.
                again.push(decision);
            }
        }
    }

    fn forget(&mut self, id: RunId) {
        self.warm.forget(id);
        self.news.push(News::Forgotten(id));
    }

    /// Whether the open batch holds decisions on a state that was forgotten because it never became durable.
    fn open_depends_on_forgotten(&self) -> bool {
        self.open.decisions.iter().any(|decision| !self.warm.knows(decision))
    }

    /// Decides `first`, and then everything of the open batch that stood on the same ground.
    fn decide_again(&mut self, first: Vec<Decision<T>>) {
        let again: HashSet<RunId> = first.iter().map(|decision| decision.request.run_id).collect();
        let warm = &self.warm;
        let later =
            self.open.take_out(|decision| again.contains(&decision.request.run_id) || !warm.knows(decision));
        for decision in &later {
            self.forget(decision.request.run_id);
        }
        for decision in first.into_iter().chain(later) {
            let Decision { request, retries, .. } = decision;
            if retries < RETRIES_MAX {
                self.decide(request, retries + 1);
            } else {
                let problem = format!("other writers were faster {RETRIES_MAX} times in a row");
                let error = Error::Failed { doing: "commit", problem };
                self.answers.push_back((request.ticket, Err(error.into())));
            }
        }
    }

    fn decide(&mut self, request: Request<T>, retries: u32) {
        match self.consider(&request) {
            Ok(Considered::Changed { before, decided }) => {
                let draft = Draft::new(before, &request.command, *decided);
                let run = draft.after().clone();
                self.warm.put_undurable(request.run_id, run.clone());
                self.news.push(News::Changed(run.clone()));
                let answer = Ok(Accepted { run, events: draft.events().to_vec(), position: 0 });
                self.open.push_with(Decision { request, answer, item: None, retries }, draft);
            }
            Ok(Considered::Unchanged(run)) => {
                let answer = Ok(Accepted { run, events: Vec::new(), position: 0 });
                self.answer_when_durable(Decision { request, answer, item: None, retries });
            }
            Err(denied) => {
                self.answer_when_durable(Decision { request, answer: Err(denied), item: None, retries });
            }
        }
    }

    /// A decision that changes nothing still waits for the state it was made on.
    fn answer_when_durable(&mut self, decision: Decision<T>) {
        if self.warm.is_durable(decision.request.run_id) {
            self.answers.push_back(decision.into_answer());
        } else {
            self.open.push(decision);
        }
    }

    fn consider(&mut self, request: &Request<T>) -> Result<Considered, Denied> {
        let Request { run_id, command, at, boot, .. } = request;
        let before = match self.state(*run_id) {
            // Nothing can be decided about such a run but its end. That is what the runtime's own commands come to;
            // others are refused until then.
            Err(error @ Error::Damaged { .. }) if ends_unreadable(command) => {
                return self.end_unreadable(*run_id, *at, error);
            }
            state => state?,
        };
        let mut held = Vec::new();
        for key in Run::wants(before.as_deref(), command) {
            if let Some(holder) = self.store.holder(&key)? {
                held.push((key, holder));
            }
        }
        let known = Known { now: *at, boot: *boot, held };
        let decided = match &before {
            Some(run) => run.decide(command, &known),
            None => Run::create(*run_id, command, &known),
        };
        match decided {
            Ok(decided) if decided.events.is_empty() => {
                Ok(Considered::Unchanged(before.unwrap_or_else(|| Arc::new(decided.run))))
            }
            Ok(decided) => Ok(Considered::Changed { before, decided: Box::new(decided) }),
            // The first answer holds: here is the run that was created then, as far as it is durable.
            Err(Refusal::CreatedBefore(earlier)) => match load(self.store.as_ref(), earlier)? {
                Some(run) => Ok(Considered::Unchanged(Arc::new(run))),
                None => Err(created_and_removed(command, earlier).into()),
            },
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Ends a run whose journal cannot be read.
    fn end_unreadable(&self, id: RunId, at: Timestamp, error: Error) -> Result<Considered, Denied> {
        let folding = fold(self.store.as_ref(), id)?;
        let Some(row) = self.store.run(id)?.filter(|row| !row.status.is_terminal()) else {
            return Err(error.into());
        };
        let (before, set_aside) = folding.salvage(row);
        let decided = before.set_aside(set_aside, &Known::at(at))?;
        Ok(Considered::Changed { before: Some(Arc::new(before)), decided: Box::new(decided) })
    }

    /// The state of a run: as far as it is decided, or what its journal adds up to.
    pub fn state(&mut self, id: RunId) -> Result<Option<Arc<Run>>, Error> {
        if let Some(run) = self.warm.get(id) {
            return Ok(Some(run));
        }
        let run = load(self.store.as_ref(), id)?.map(Arc::new);
        if let Some(run) = &run
            && !run.status().is_terminal()
        {
            self.warm.put_durable(id, run.clone());
        }
        Ok(run)
    }
}

/// What a command comes to before anything is committed.
enum Considered {
    Changed { before: Option<Arc<Run>>, decided: Box<Decided> },
    Unchanged(Arc<Run>),
}

/// The refusal to create a run with a key whose run was removed.
fn created_and_removed(command: &Command, run: RunId) -> Refusal {
    match command {
        Command::Create(Create { key: Some(key), .. }) => {
            Refusal::CreatedAndRemoved { key: key.key.clone(), run }
        }
        // No other command finds a run by its key.
        _ => Refusal::UnknownRun(run),
    }
}

/// The state of a run as its journal has it; none where there is no such run.
pub fn load(store: &dyn Store, id: RunId) -> Result<Option<Run>, Error> {
    fold(store, id)?.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() })
}

/// The state of a run as far as its journal can be read: for showing it. Where it cannot be read to its end, status and
/// attempt are those of the run's row.
pub fn load_readable(store: &dyn Store, id: RunId) -> Result<Option<Run>, Error> {
    let folding = fold(store, id)?;
    if folding.damage().is_none() {
        return folding.finish().map_err(|bad| Error::Damaged { problem: bad.to_string() });
    }
    Ok(store.run(id)?.map(|row| folding.salvage(row).0))
}

/// Folds the stream of a run.
fn fold(store: &dyn Store, id: RunId) -> Result<Folding, Error> {
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
