//! Masks bytes as they come.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::nfa::contiguous::NFA;
use aho_corasick::{Anchored, MatchKind};

use super::MASK;

/// An automaton that has a state for each beginning of each spelling.
pub(super) struct Patterns {
    automaton: NFA,
    start: StateID,
    /// How long the beginning is that a state stands for: this much of what was read may still become a secret.
    depths: HashMap<StateID, usize>,
}

impl Patterns {
    /// None if there are more than an automaton can have.
    pub(super) fn new(spellings: &BTreeSet<String>) -> Option<Self> {
        // The standard kind reports every spelling that ends at a byte, overlapping ones too.
        let automaton = NFA::builder().match_kind(MatchKind::Standard).build(spellings).ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let mut depths = HashMap::from([(start, 0)]);
        for spelling in spellings {
            let mut state = start;
            for (index, byte) in spelling.bytes().enumerate() {
                state = automaton.next_state(Anchored::No, state, byte);
                depths.insert(state, index + 1);
            }
        }
        Some(Self { automaton, start, depths })
    }

    fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    /// The length of the longest spelling that ends in `state`.
    fn ended(&self, state: StateID) -> Option<usize> {
        if !self.automaton.is_match(state) {
            return None;
        }
        let ended = (0..self.automaton.match_len(state)).map(|index| {
            let pattern = self.automaton.match_pattern(state, index);
            self.automaton.pattern_len(pattern)
        });
        ended.max()
    }

    fn depth(&self, state: StateID) -> usize {
        *self.depths.get(&state).expect("every state stands for the beginning of a spelling")
    }
}

/// Masks a stream of bytes, however it is cut.
///
/// It holds back only what may be the beginning of a secret, so at most the length of the longest one.
pub struct MaskStream {
    searching: Option<Searching>,
}

impl MaskStream {
    pub(super) fn new(patterns: Option<Arc<Patterns>>) -> Self {
        Self { searching: patterns.map(Searching::new) }
    }

    /// Takes the next bytes and returns those that are certain.
    #[must_use]
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        match &mut self.searching {
            None => bytes.to_vec(),
            Some(searching) => searching.push(bytes),
        }
    }

    /// The rest: no more bytes will come.
    #[must_use]
    pub fn finish(&mut self) -> Vec<u8> {
        self.searching.take().map(Searching::finish).unwrap_or_default()
    }
}

/// Positions are counted from the beginning of the stream.
struct Searching {
    patterns: Arc<Patterns>,
    state: StateID,
    /// What was read and not yet released.
    held: Vec<u8>,
    /// The position of the first held byte.
    released: usize,
    /// Where secrets are in what is held: in order, without overlaps.
    found: VecDeque<(usize, usize)>,
    /// The end of the secret whose mask was released last.
    covered: usize,
}

impl Searching {
    fn new(patterns: Arc<Patterns>) -> Self {
        let state = patterns.start;
        Self { patterns, state, held: Vec::new(), released: 0, found: VecDeque::new(), covered: 0 }
    }

    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut position = self.released + self.held.len();
        for byte in bytes {
            position += 1;
            self.state = self.patterns.next(self.state, *byte);
            if let Some(length) = self.patterns.ended(self.state) {
                self.add(position - length, position);
            }
        }
        self.held.extend(bytes);
        self.release(position - self.patterns.depth(self.state))
    }

    fn finish(mut self) -> Vec<u8> {
        self.release(self.released + self.held.len())
    }

    /// Secrets that overlap are one: the rest of the second would tell of it.
    fn add(&mut self, mut start: usize, end: usize) {
        while let Some((last_start, _)) = self.found.pop_back_if(|(_, last_end)| *last_end > start) {
            start = start.min(last_start);
        }
        if start < self.covered {
            self.covered = end;
        } else {
            self.found.push_back((start, end));
        }
    }

    fn release(&mut self, until: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(until - self.released);
        let mut at = self.released;
        while at < until {
            at = at.max(self.covered).min(until);
            let plain_end = self.found.front().map_or(until, |(start, _)| until.min(*start));
            out.extend(&self.held[at - self.released..plain_end.max(at) - self.released]);
            at = plain_end.max(at);
            if let Some((_, end)) = self.found.pop_front_if(|(start, _)| *start < until) {
                out.extend(MASK.as_bytes());
                self.covered = end;
            }
        }
        self.held.drain(..until - self.released);
        self.released = until;
        out
    }
}
