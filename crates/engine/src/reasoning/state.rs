//! The state of a conversation: what its steps add up to.
//!
//! The same for a turn that goes on and for one that is taken up again: each step is applied once it is durable, whoever
//! wrote it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::{ErrorCode, RunError, TurnReason};
use serde::Deserialize;

use super::outcome::Outcome;
use super::step::{ReplyNumber, Step, call_ref};
use crate::model::{Message, Said, ToolUse};
use crate::secrets::MASK;
use crate::toolbox::{Call, History};
use crate::turn::Turn;

/// A conversation so far.
#[derive(Debug, Default)]
pub(super) struct State {
    entries: Vec<Entry>,
    /// How many replies there were, those of the runs before included.
    replies: usize,
    /// How many of them this run had.
    own_replies: usize,
    /// What became of calls, by their reference.
    outcomes: BTreeMap<String, Outcome>,
    /// The attempts of this run in which the model was told something.
    heard_in: BTreeSet<u32>,
}

/// What there is in a conversation, in order.
#[derive(Debug)]
enum Entry {
    Heard(String),
    Said { reply: String, whose: Whose, said: Said },
}

/// Which run a step belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The one whose turn this is.
    Own,
    /// One that it continues, and that is over.
    Earlier,
}

/// What comes next.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// The model is asked.
    Ask,
    /// These calls are made, each known by its reference.
    Call(Vec<(String, Call)>),
    /// Nothing: this was the last word.
    End(String),
}

impl State {
    /// The conversation that a turn goes on with.
    pub(super) fn of(history: History, turn: &Turn) -> Result<Self, RunError> {
        let settled = history.settled.iter();
        let mut state = Self {
            outcomes: settled.map(|(call_ref, settled)| (call_ref.clone(), Outcome::over(settled))).collect(),
            ..Self::default()
        };
        for (run_id, step) in history.steps {
            let whose = if run_id == turn.run_id { Whose::Own } else { Whose::Earlier };
            let step = Step::deserialize(step).map_err(|error| RunError {
                code: ErrorCode::SessionResumeFailed,
                message: format!("a step of the conversation of {run_id} cannot be read: {error}"),
            })?;
            state.apply(uncovered(step, whose, &state, turn), whose);
        }
        Ok(state)
    }

    /// Adds a step, which has to be durable.
    pub(super) fn apply(&mut self, step: Step, whose: Whose) {
        match step {
            Step::Heard { attempt, prompt } => {
                if whose == Whose::Own {
                    self.heard_in.insert(attempt);
                }
                self.entries.push(Entry::Heard(prompt));
            }
            // A reply without a name has its number for one, as its contracts in the journal do.
            Step::Said(said) => self.say((self.replies + 1).to_string(), whose, said),
            Step::Replied { reply, said } => self.say(reply, whose, said),
            Step::Told { call_ref, outcome } => self.settle(call_ref, outcome),
        }
    }

    fn say(&mut self, reply: String, whose: Whose, said: Said) {
        self.replies += 1;
        self.own_replies += usize::from(whose == Whose::Own);
        self.entries.push(Entry::Said { reply, whose, said });
    }

    /// Adds what became of a call.
    pub(super) fn settle(&mut self, call_ref: String, outcome: Outcome) {
        self.outcomes.insert(call_ref, outcome);
    }

    /// The number of the reply that comes next.
    pub(super) fn next_reply(&self) -> ReplyNumber {
        ReplyNumber { in_run: self.own_replies + 1, in_conversation: self.replies + 1 }
    }

    /// What the model is told at the beginning of a turn, unless the conversation has it.
    pub(super) fn hears(&self, turn: &Turn) -> Option<Step> {
        let is_new = match turn.reason {
            TurnReason::First | TurnReason::Answer => true,
            // Cut off after its words were written down, a turn goes on without any: nothing is missing.
            TurnReason::GoOn => !self.heard_in.contains(&turn.attempt),
            // The results speak for themselves. Words after the last reply are those of a repair.
            TurnReason::Settled | TurnReason::Permission => matches!(self.next(), Next::End(_)),
        };
        let heard = || Step::Heard { attempt: turn.attempt, prompt: turn.prompt.clone() };
        (is_new && !turn.prompt.is_empty()).then(heard)
    }

    /// What comes next.
    pub(super) fn next(&self) -> Next {
        let last = self.entries.iter().enumerate().rev().find_map(|(at, entry)| match entry {
            Entry::Said { reply, whose, said } => Some((at, reply, *whose, said)),
            Entry::Heard(_) => None,
        });
        let Some((at, reply, whose, said)) = last else { return Next::Ask };
        let open: Vec<_> = match whose {
            Whose::Own => self.open(reply, said).collect(),
            Whose::Earlier => Vec::new(),
        };
        let is_last_word = at + 1 == self.entries.len() && said.calls.is_empty();
        match open {
            open if !open.is_empty() => Next::Call(open),
            _ if is_last_word => Next::End(said.text.clone()),
            _ => Next::Ask,
        }
    }

    /// The calls of a reply that nothing is known of.
    fn open(&self, reply: &str, said: &Said) -> impl Iterator<Item = (String, Call)> {
        let calls = said.calls.iter().enumerate().map(move |(index, call)| (call_ref(reply, index), call));
        let open = calls.filter(|(call_ref, _)| !self.outcomes.contains_key(call_ref));
        open.map(|(call_ref, ToolUse { name, arguments, .. })| {
            let (name, arguments) = (name.clone(), arguments.clone());
            (call_ref.clone(), Call { name, arguments, call_ref: Some(call_ref) })
        })
    }

    /// The conversation as the model is told it.
    ///
    /// Results come right after their calls, whatever was heard meanwhile, and each call has one: both wire formats insist.
    pub(super) fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Heard(prompt) => messages.push(Message::User(prompt.clone())),
                // No wire format takes a message without anything in it.
                Entry::Said { said, .. } if said.text.trim().is_empty() && said.calls.is_empty() => {}
                Entry::Said { reply, said, whose: _ } => {
                    messages.push(Message::Assistant(said.clone()));
                    let results = said.calls.iter().enumerate().map(|(index, call)| {
                        let outcome = self.outcomes.get(&call_ref(reply, index));
                        outcome.map_or_else(
                            || Outcome::never_made().told(&call.id),
                            |known| known.told(&call.id),
                        )
                    });
                    let results: Vec<_> = results.collect();
                    if !results.is_empty() {
                        messages.push(Message::Results(results));
                    }
                }
            }
        }
        messages
    }

    /// The calls of the last reply, and how many replies in a row made the same, since the model was told anything else.
    pub(super) fn in_a_row(&self) -> (usize, &[ToolUse]) {
        let mut replies = self.entries.iter().rev().map_while(|entry| match entry {
            Entry::Said { said, .. } => Some(said.calls.as_slice()),
            Entry::Heard(_) => None,
        });
        let Some(last) = replies.next() else { return (0, &[]) };
        (1 + replies.take_while(|calls| are_same(calls, last)).count(), last)
    }
}

fn are_same(some: &[ToolUse], others: &[ToolUse]) -> bool {
    let what = |call: &ToolUse| (call.name.clone(), call.arguments.clone());
    some.len() == others.len() && some.iter().zip(others).all(|(one, other)| what(one) == what(other))
}

/// A step as it was before its secrets were covered, as far as that is known.
fn uncovered(step: Step, whose: Whose, before: &State, turn: &Turn) -> Step {
    match step {
        Step::Heard { attempt, .. } if whose == Whose::Own && before.heard_in.is_empty() => {
            Step::Heard { attempt, prompt: turn.opening.clone() }
        }
        Step::Said(said) => Step::Said(without_masked_thoughts(said)),
        Step::Replied { reply, said } => Step::Replied { reply, said: without_masked_thoughts(said) },
        step @ (Step::Heard { .. } | Step::Told { .. }) => step,
    }
}

/// A signed thought that was changed is refused by the model's server; without it, text and calls speak.
fn without_masked_thoughts(said: Said) -> Said {
    if said.raw.to_string().contains(MASK) { Said { raw: serde_json::Value::Null, ..said } } else { said }
}
