//! Decisions that are committed together.

use std::collections::HashMap;
use std::sync::Arc;

use adjourn_core::{Change, Claim, Decided, Item, Stream, Wanted, item};

use super::{Answer, Request};

/// A request and what was decided about it.
pub(super) struct Decision<T, S: Stream> {
    pub(super) request: Request<T, S>,
    /// What is told once it may be.
    pub(super) answer: Answer<S>,
    /// Which item of its batch it is part of; none where it changes nothing.
    pub(super) item: Option<usize>,
    /// How often it was decided again.
    pub(super) retries: u32,
}

impl<T, S: Stream> Decision<T, S> {
    pub(super) fn set_position(&mut self, committed: u64) {
        if let Ok(accepted) = &mut self.answer {
            accepted.position = committed;
        }
    }

    pub(super) fn into_answer(self) -> (T, Answer<S>) {
        (self.request.ticket, self.answer)
    }
}

/// What is going to be one item: everything that was decided about one stream at one moment.
pub(super) struct Draft<S: Stream> {
    before: Option<Arc<S>>,
    claims: Vec<Claim>,
    events: Vec<S::Event>,
    after: Arc<S>,
}

impl<S: Stream> Draft<S> {
    pub(super) fn new(before: Option<Arc<S>>, command: &S::Command, decided: Decided<S>) -> Self {
        let claims = S::claims(command, decided.state.id());
        Self { before, claims, events: decided.events, after: Arc::new(decided.state) }
    }

    pub(super) fn after(&self) -> &Arc<S> {
        &self.after
    }

    pub(super) fn events(&self) -> &[S::Event] {
        &self.events
    }

    fn into_item(self, wanted: Wanted) -> Item {
        let before = self.before.as_deref();
        let mut item = item(before, self.claims, &self.events, &*self.after);
        item.changes.extend(S::notice(before, &self.events, &self.after, wanted).map(Change::Notice));
        item
    }
}

/// Decisions in their order, and what they need committed.
pub(super) struct Batch<T, S: Stream> {
    pub(super) decisions: Vec<Decision<T, S>>,
    drafts: Vec<Draft<S>>,
    /// The last draft of each stream.
    last: HashMap<S::Id, usize>,
}

impl<T, S: Stream> Batch<T, S> {
    pub(super) fn new() -> Self {
        Self { decisions: Vec::new(), drafts: Vec::new(), last: HashMap::new() }
    }

    /// Adds a decision that changes nothing.
    pub(super) fn push(&mut self, decision: Decision<T, S>) {
        self.decisions.push(decision);
    }

    /// Adds a decision and what it changes. What follows from it at the same moment becomes part of the same item: one
    /// row, one place in the index.
    pub(super) fn push_with(&mut self, mut decision: Decision<T, S>, draft: Draft<S>) {
        let id = draft.after.id();
        let index = match self.last.get(&id) {
            Some(&index) if self.drafts[index].after.updated_at() == draft.after.updated_at() => {
                let earlier = &mut self.drafts[index];
                earlier.events.extend(draft.events);
                earlier.after = draft.after;
                index
            }
            Some(_) | None => {
                self.drafts.push(draft);
                self.last.insert(id, self.drafts.len() - 1);
                self.drafts.len() - 1
            }
        };
        decision.item = Some(index);
        self.decisions.push(decision);
    }

    /// The items to commit.
    pub(super) fn take_items(&mut self, wanted: Wanted) -> Arc<[Item]> {
        self.last.clear();
        self.drafts.drain(..).map(|draft| draft.into_item(wanted)).collect()
    }

    /// Takes the decisions about some streams out, in their order, and what they need committed with them.
    pub(super) fn take_out(&mut self, is_taken: impl Fn(&Decision<T, S>) -> bool) -> Vec<Decision<T, S>> {
        let (taken, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.decisions).into_iter().partition(|decision| is_taken(decision));
        let mut drafts: Vec<_> = std::mem::take(&mut self.drafts).into_iter().map(Some).collect();
        self.last.clear();
        let mut moved = HashMap::new();
        for mut decision in kept {
            if let Some(index) = decision.item {
                // Several decisions can share a draft; the first of them moves it.
                if let Some(draft) = drafts[index].take() {
                    self.last.insert(draft.after.id(), self.drafts.len());
                    moved.insert(index, self.drafts.len());
                    self.drafts.push(draft);
                }
                decision.item = moved.get(&index).copied();
            }
            self.decisions.push(decision);
        }
        taken
    }
}
