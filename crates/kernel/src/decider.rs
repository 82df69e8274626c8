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

use adjourn_core::{Boot, Decided, Item, Known, Run, Stream, StreamRow, Timestamp, Wanted};
use adjourn_store::{Error, Outcome, Store};

use self::batch::{Batch, Decision, Draft};
use self::warm::Warm;
use crate::denied::{Accepted, Answer, Denied};
use crate::load::{StoredStream, fold, load};

/// How often a request is decided again because another writer was faster.
///
/// Within one process nobody is; between processes that share a store, each loss means that somebody else won.
const RETRIES_MAX: u32 = 16;

/// Something asked of a stream, and the ticket that its answer goes to.
#[derive(Debug)]
pub struct Request<T, S: Stream = Run> {
    /// The stream.
    pub id: S::Id,
    /// What is asked.
    pub command: S::Command,
    /// When it was asked.
    pub at: Timestamp,
    /// The boot of the machine as the clock of `at` has it; without it no deadline is moved.
    pub boot: Option<Boot>,
    /// Who gets the answer.
    pub ticket: T,
}

/// Decides commands in order.
pub struct Decider<T, S: StoredStream = Run> {
    store: Arc<dyn Store>,
    /// What somebody is to be told of.
    wanted: Wanted,
    /// The states that were used last, durable or not.
    warm: Warm<S>,
    /// What was decided and waits to be committed.
    open: Batch<T, S>,
    /// What is being committed.
    in_flight: Option<Batch<T, S>>,
    /// Answers that may be told.
    answers: VecDeque<(T, Answer<S>)>,
    /// What became of states since somebody last looked.
    news: Vec<News<S>>,
}

/// What became of a state. For whoever plans ahead with states that are not durable yet.
#[derive(Debug, Clone)]
pub enum News<S: Stream = Run> {
    /// A stream is this now, as far as it is decided.
    Changed(Arc<S>),
    /// What was decided about a stream never became durable: it is what its journal says.
    Forgotten(S::Id),
}

impl<S: Stream> News<S> {
    /// The stream.
    pub fn id(&self) -> S::Id {
        match self {
            Self::Changed(state) => state.id(),
            Self::Forgotten(id) => *id,
        }
    }
}

impl<T, S: StoredStream> Decider<T, S> {
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
    pub fn offer(&mut self, request: Request<T, S>) {
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

    /// Takes back what waits to be committed and matches; nobody is answered. What else was decided about the same streams
    /// is decided again. For whoever asked on grounds that do not hold any more.
    pub fn retract(&mut self, is_out: impl Fn(&T) -> bool) {
        let streams: HashSet<S::Id> = self
            .open
            .decisions
            .iter()
            .filter(|decision| is_out(&decision.request.ticket))
            .map(|decision| decision.request.id)
            .collect();
        let taken = self.open.take_out(|decision| streams.contains(&decision.request.id));
        for decision in &taken {
            self.forget(decision.request.id);
        }
        for decision in taken {
            if !is_out(&decision.request.ticket) {
                self.decide(decision.request, decision.retries);
            }
        }
    }

    /// Whether something became of states since the last call of [`take_news`](Self::take_news).
    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// What became of states since the last call, in order.
    pub fn take_news(&mut self) -> Vec<News<S>> {
        std::mem::take(&mut self.news)
    }

    /// The answers that may be told now.
    pub fn take_answers(&mut self) -> impl Iterator<Item = (T, Answer<S>)> {
        self.answers.drain(..)
    }

    fn settle_committed(
        &mut self,
        batch: Batch<T, S>,
        outcomes: &[Outcome],
        again: &mut Vec<Decision<T, S>>,
    ) {
        let mut refused = HashSet::new();
        for mut decision in batch.decisions {
            let id = decision.request.id;
            match decision.item.map(|index| &outcomes[index]) {
                Some(Outcome::Accepted { position }) => {
                    decision.set_position(*position);
                    self.warm.made_durable(id);
                    self.answers.push_back(decision.into_answer());
                }
                Some(Outcome::Refused(_)) => {
                    refused.insert(id);
                    self.forget(id);
                    again.push(decision);
                }
                None if refused.contains(&id) => again.push(decision),
                None => self.answers.push_back(decision.into_answer()),
            }
        }
    }

    /// Nothing of the batch is there: whoever asked is told, and its states are forgotten.
    fn settle_failed(&mut self, batch: Batch<T, S>, error: &Arc<Error>, again: &mut Vec<Decision<T, S>>) {
        for decision in batch.decisions {
            self.forget(decision.request.id);
            if decision.item.is_some() {
                self.answers.push_back((decision.request.ticket, Err(Denied::Failed(error.clone()))));
            } else {
                // It was refused on grounds that never came to be.
                again.push(decision);
            }
        }
    }

    fn forget(&mut self, id: S::Id) {
        self.warm.forget(id);
        self.news.push(News::Forgotten(id));
    }

    /// Whether the open batch holds decisions on a state that was forgotten because it never became durable.
    fn open_depends_on_forgotten(&self) -> bool {
        self.open.decisions.iter().any(|decision| !self.warm.knows(decision))
    }

    /// Decides `first`, and then everything of the open batch that stood on the same ground.
    fn decide_again(&mut self, first: Vec<Decision<T, S>>) {
        let again: HashSet<S::Id> = first.iter().map(|decision| decision.request.id).collect();
        let warm = &self.warm;
        let later =
            self.open.take_out(|decision| again.contains(&decision.request.id) || !warm.knows(decision));
        for decision in &later {
            self.forget(decision.request.id);
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

    fn decide(&mut self, request: Request<T, S>, retries: u32) {
        match self.consider(&request) {
            Ok(Considered::Changed { before, decided }) => {
                let draft = Draft::new(before, &request.command, *decided);
                let state = draft.after().clone();
                self.warm.put_undurable(request.id, state.clone());
                self.news.push(News::Changed(state.clone()));
                let answer = Ok(Accepted { state, events: draft.events().to_vec(), position: 0 });
                self.open.push_with(Decision { request, answer, item: None, retries }, draft);
            }
            Ok(Considered::Unchanged(state)) => {
                let answer = Ok(Accepted { state, events: Vec::new(), position: 0 });
                self.answer_when_durable(Decision { request, answer, item: None, retries });
            }
            Err(denied) => {
                self.answer_when_durable(Decision { request, answer: Err(denied), item: None, retries });
            }
        }
    }

    /// A decision that changes nothing still waits for the state it was made on.
    fn answer_when_durable(&mut self, decision: Decision<T, S>) {
        if self.warm.is_durable(decision.request.id) {
            self.answers.push_back(decision.into_answer());
        } else {
            self.open.push(decision);
        }
    }

    fn consider(&mut self, request: &Request<T, S>) -> Result<Considered<S>, Denied<S>> {
        let Request { id, command, at, boot, .. } = request;
        let before = match self.state(*id) {
            // Nothing can be decided about such a stream but its end. That is what the kernel's own commands come to;
            // others are refused until then.
            Err(error @ Error::Damaged { .. }) if S::ends_unreadable(command) => {
                return self.end_unreadable(*id, *at, error);
            }
            state => state?,
        };
        let mut held = Vec::new();
        for key in S::keys(before.as_deref(), command) {
            if let Some(holder) = self.store.holder(&key)? {
                held.push((key, holder));
            }
        }
        let known = Known { now: *at, boot: *boot, held };
        match S::decide_on(*id, before.as_deref(), command, &known) {
            Ok(decided) if decided.events.is_empty() => {
                Ok(Considered::Unchanged(before.unwrap_or_else(|| Arc::new(decided.state))))
            }
            Ok(decided) => Ok(Considered::Changed { before, decided: Box::new(decided) }),
            // The first answer holds: here is what was created then, as far as it is durable.
            Err(refusal) => match S::created_before(&refusal) {
                None => Err(Denied::Refused(refusal)),
                Some(earlier) => match load(self.store.as_ref(), earlier)? {
                    Some(state) => Ok(Considered::Unchanged(Arc::new(state))),
                    None => Err(Denied::Refused(S::created_and_removed(command, earlier))),
                },
            },
        }
    }

    /// Ends a stream whose journal cannot be read.
    fn end_unreadable(&self, id: S::Id, at: Timestamp, error: Error) -> Result<Considered<S>, Denied<S>> {
        let folding = fold::<S>(self.store.as_ref(), id)?;
        let Some(row) = S::find_row(self.store.as_ref(), id)?.filter(|row| !row.is_over()) else {
            return Err(error.into());
        };
        let (before, set_aside) = folding.salvage(row);
        let decided = before.end_unreadable(set_aside, &Known::at(at)).map_err(Denied::Refused)?;
        Ok(Considered::Changed { before: Some(Arc::new(before)), decided: Box::new(decided) })
    }

    /// The state of a stream: as far as it is decided, or what its journal adds up to.
    pub fn state(&mut self, id: S::Id) -> Result<Option<Arc<S>>, Error> {
        if let Some(state) = self.warm.get(id) {
            return Ok(Some(state));
        }
        let state = load::<S>(self.store.as_ref(), id)?.map(Arc::new);
        if let Some(state) = &state
            && !state.is_over()
        {
            self.warm.put_durable(id, state.clone());
        }
        Ok(state)
    }

    /// Whether everything that was decided about a stream is durable.
    pub fn is_durable(&self, id: S::Id) -> bool {
        self.warm.is_durable(id)
    }
}

/// What a command comes to before anything is committed.
enum Considered<S: Stream> {
    Changed { before: Option<Arc<S>>, decided: Box<Decided<S>> },
    Unchanged(Arc<S>),
}
