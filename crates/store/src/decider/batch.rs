//! Decisions that are committed together.

use adjourn_core::Item;

use super::{Answer, Request};

/// A request and what was decided about it.
pub(super) struct Decision<T> {
    pub(super) request: Request<T>,
    /// What is told once it may be.
    pub(super) answer: Answer,
    /// Where its item is in its batch; none where it changes nothing.
    pub(super) item: Option<usize>,
    /// How often it was decided again.
    pub(super) retries: u32,
}

impl<T> Decision<T> {
    pub(super) fn set_position(&mut self, committed: u64) {
        if let Ok(accepted) = &mut self.answer {
            accepted.position = committed;
        }
    }

    pub(super) fn into_answer(self) -> (T, Answer) {
        (self.request.ticket, self.answer)
    }
}

/// Decisions in their order, and the items that they need committed.
pub(super) struct Batch<T> {
    pub(super) decisions: Vec<Decision<T>>,
    pub(super) items: Vec<Item>,
    /// How many items there are, also after they were handed out.
    pub(super) item_count: usize,
}

impl<T> Batch<T> {
    pub(super) fn new() -> Self {
        Self { decisions: Vec::new(), items: Vec::new(), item_count: 0 }
    }

    pub(super) fn push(&mut self, mut decision: Decision<T>, item: Option<Item>) {
        decision.item = item.map(|item| {
            self.items.push(item);
            self.item_count += 1;
            self.item_count - 1
        });
        self.decisions.push(decision);
    }
}
