//! Runs and the journal they are committed to, in memory.
//!
//! Every commit is written as JSON and read back, so whatever is tested here is tested through the stored form.

#![allow(clippy::unwrap_used, reason = "what cannot go on has failed its test")]

use std::collections::BTreeMap;

use adjourn_core::fcmp::Header;
use adjourn_core::{
    Boot, Change, ClaimKey, Command, ContractRow, Entry, Event, ExecutionId, Frame, Holder, InteractionId,
    Item, Known, OpenInteraction, Record, Refusal, Run, RunId, RunRow, Stream, StreamId, Timestamp, item,
};

/// What a store keeps: entries by stream, and the rows that can be looked up.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Journal {
    pub(crate) entries: BTreeMap<RunId, Vec<Entry>>,
    pub(crate) claims: BTreeMap<ClaimKey, Holder>,
    pub(crate) rows: BTreeMap<RunId, RunRow>,
    pub(crate) open: BTreeMap<(StreamId, InteractionId), OpenInteraction>,
    pub(crate) contracts: BTreeMap<ExecutionId, ContractRow>,
    /// Events of all streams so far.
    pub(crate) position: u64,
}

impl Journal {
    /// Commits an item as a whole, or not at all where it wants a key that somebody else holds.
    fn commit(&mut self, run: RunId, item: Item) -> Option<Entry> {
        let mut claims = self.claims.clone();
        for change in &item.changes {
            match change {
                Change::Released(key) => _ = claims.remove(key),
                Change::Claimed(claim) => {
                    let before = claims.insert(claim.key.clone(), claim.holder.clone());
                    if before.is_some_and(|before| before != claim.holder) {
                        return None;
                    }
                }
                Change::Run(_)
                | Change::Roundtable(_)
                | Change::InteractionOpened(_)
                | Change::InteractionClosed(..)
                | Change::Contract(_)
                | Change::Notice(_)
                | Change::SetAside(_) => {}
            }
        }
        self.claims = claims;
        for change in item.changes {
            self.look_up(change);
        }
        let stream = self.entries.entry(run).or_default();
        let seq = stream.last().map_or(0, |entry| entry.seq);
        assert_eq!(item.expected_seq, seq, "an item is decided on the last state");
        self.position += u64::from(item.events);
        let entry = Entry {
            stream: item.stream,
            position: self.position,
            seq: seq + u64::from(item.events),
            at: item.at,
            events: item.events,
            last_frame: item.last_frame,
            payload: item.payload,
        };
        stream.push(entry.clone());
        Some(entry)
    }

    fn look_up(&mut self, change: Change) {
        match change {
            Change::Run(row) => _ = self.rows.insert(row.run_id, row),
            Change::InteractionOpened(open) => {
                _ = self.open.insert((open.stream, open.interaction_id), open);
            }
            Change::InteractionClosed(run, id) => _ = self.open.remove(&(run, id)),
            Change::Contract(row) => _ = self.contracts.insert(row.execution_id, row),
            Change::SetAside(stream) => self.open.retain(|(other, _), _| *other != stream),
            Change::Roundtable(_) | Change::Claimed(_) | Change::Released(_) | Change::Notice(_) => {}
        }
    }
}

/// What a command that was accepted came to.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) before: Option<Run>,
    pub(crate) after: Run,
    pub(crate) events: Vec<Event>,
    pub(crate) frames: Vec<Frame>,
}

/// Why a command changed nothing.
#[derive(Debug)]
pub(crate) enum Unchanged {
    Refused(Refusal),
    /// It was decided without knowing who holds what, and the journal did not take it.
    Conflict,
}

/// What a command is decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Whoever decides knows who holds the keys.
    Full,
    /// It was looked up too early: nobody is known to hold anything.
    Blind,
}

/// Runs, their journal and the time.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) journal: Journal,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) now: Timestamp,
    /// The boot of the machine as the clock has it.
    pub(crate) boot: Option<Boot>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            journal: Journal::default(),
            runs: BTreeMap::new(),
            now: Timestamp::from_millis(1_700_000_000_000),
            boot: None,
        }
    }

    pub(crate) fn run(&self, id: RunId) -> &Run {
        &self.runs[&id]
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, seconds: u32) {
        self.now = self.now.plus_seconds(seconds);
    }

    /// Decides a command and commits what follows.
    pub(crate) fn command(
        &mut self,
        id: RunId,
        command: &Command,
        sight: Sight,
    ) -> Result<Accepted, Unchanged> {
        let before = self.runs.get(&id).cloned();
        let known = self.known(before.as_ref(), command, sight);
        let decided = match &before {
            Some(run) => run.decide(command, &known),
            None => Run::create(id, command, &known),
        }
        .map_err(Unchanged::Refused)?;
        let mut frames = Vec::new();
        if !decided.events.is_empty() {
            let claims = Run::claims(command, id);
            let item = item(before.as_ref(), claims, &decided.events, &decided.state);
            let entry = self.journal.commit(id, item).ok_or(Unchanged::Conflict)?;
            let record = Record::<Event>::of(&entry).unwrap();
            assert_eq!(record.events, decided.events, "an event reads back as it was");
            let folded = Run::fold_on(id, before.clone(), &entry).unwrap();
            assert_eq!(folded, decided.state, "the state is the fold of its events");
            frames = record.frames(header(&folded), &entry);
            self.runs.insert(id, folded);
        } else {
            assert_eq!(before.as_ref(), Some(&decided.state), "without an event nothing changes");
        }
        Ok(Accepted { before, after: decided.state, events: decided.events, frames })
    }

    pub(crate) fn known(&self, run: Option<&Run>, command: &Command, sight: Sight) -> Known {
        let wanted = match sight {
            Sight::Full => Run::wants(run, command),
            Sight::Blind => Vec::new(),
        };
        let held = wanted
            .into_iter()
            .filter_map(|key| Some((key.clone(), self.journal.claims.get(&key)?.clone())))
            .collect();
        Known { now: self.now, boot: self.boot, held }
    }
}

fn header(run: &Run) -> Header<'_> {
    Header { run_id: run.id(), engine: &run.spec().engine }
}

/// All frames of a run, rendered from its journal at once.
pub(crate) fn stream(world: &World, id: RunId) -> Vec<Frame> {
    let run = world.run(id);
    world.journal.entries[&id]
        .iter()
        .flat_map(|entry| Record::<Event>::of(entry).unwrap().frames(header(run), entry))
        .collect()
}
