//! What a store keeps, as ordered maps: every list is the walk along one of them.

use std::collections::BTreeMap;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::open_key;
use adjourn_core::{
    Change, ClaimKey, ContractRow, ContractStatus, Entry, ExecutionId, Holder, InteractionId, Item, NoticeId,
    OpenInteraction, RoundtableId, RoundtableRow, RunId, RunRow, RunStatus, StreamId, Timestamp, create_key,
    successor_key,
};
use adjourn_store::{
    After, Conflict, KeptBecause, OpenCursor, Outcome, Pending, Removal, RoundtableFilter, RunFilter, Settled,
};

/// Entries and rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    /// The position of the last event there ever was.
    head: u64,
    /// By the position of their last event.
    entries: BTreeMap<u64, Entry>,
    /// The positions of the entries of each stream.
    streams: BTreeMap<StreamId, Vec<u64>>,
    runs: BTreeMap<RunId, RunRow>,
    roundtables: BTreeMap<RoundtableId, RoundtableRow>,
    open: BTreeMap<(StreamId, InteractionId), OpenInteraction>,
    open_by_age: BTreeMap<OpenCursor, ()>,
    deadlines: BTreeMap<(Timestamp, StreamId, InteractionId), ()>,
    contracts: BTreeMap<ExecutionId, ContractRow>,
    claims: BTreeMap<ClaimKey, Holder>,
    notices: BTreeMap<NoticeId, Pending>,
}

/// An item that its maker got wrong is a mistake of ours, whatever the data.
pub(super) fn assert_well_formed(item: &Item) {
    assert!(item.events > 0, "an item has events");
    for change in &item.changes {
        let row = match change {
            Change::Run(row) => StreamId::Run(row.run_id),
            Change::Roundtable(row) => StreamId::Roundtable(row.roundtable_id),
            Change::InteractionOpened(_)
            | Change::InteractionClosed(..)
            | Change::Contract(_)
            | Change::Claimed(_)
            | Change::Released(_)
            | Change::Notice(_)
            | Change::SetAside(_) => continue,
        };
        assert_eq!(row, item.stream, "an item has its own row");
    }
}

impl Tables {
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    pub(super) fn last_position(&self, stream: StreamId) -> u64 {
        self.streams.get(&stream).and_then(|positions| positions.last().copied()).unwrap_or(0)
    }

    /// Takes each item that can be taken, in order.
    pub(super) fn commit_all(&mut self, batch: &[Item]) -> Vec<Outcome> {
        batch.iter().map(|item| self.commit(item)).collect()
    }

    /// Takes an item with everything it carries, or nothing of it.
    fn commit(&mut self, item: &Item) -> Outcome {
        let last = self.entries.get(&self.last_position(item.stream));
        let actual = last.map_or(0, |entry| entry.seq);
        if actual != item.expected_seq {
            return Outcome::Refused(Conflict::Seq { actual });
        }
        if let Some(conflict) = self.claim_conflict(item) {
            return Outcome::Refused(conflict);
        }
        let position = self.head() + u64::from(item.events);
        let entry = Entry {
            stream: item.stream,
            position,
            seq: actual + u64::from(item.events),
            at: item.at,
            events: item.events,
            last_frame: item.last_frame,
            payload: item.payload.clone(),
        };
        self.head = position;
        self.entries.insert(position, entry);
        self.streams.entry(item.stream).or_default().push(position);
        for change in &item.changes {
            self.change(change);
        }
        Outcome::Accepted { position }
    }

    /// The first claim of an item that somebody else has, in the order in which its claims count.
    fn claim_conflict(&self, item: &Item) -> Option<Conflict> {
        let mut changed: BTreeMap<&ClaimKey, Option<&Holder>> = BTreeMap::new();
        for change in &item.changes {
            match change {
                Change::Released(key) => _ = changed.insert(key, None),
                Change::Claimed(claim) => {
                    let current = changed.get(&claim.key).copied();
                    let holder = current.unwrap_or_else(|| self.claims.get(&claim.key));
                    if let Some(holder) = holder.filter(|holder| **holder != claim.holder) {
                        return Some(Conflict::Claimed { key: claim.key.clone(), holder: holder.clone() });
                    }
                    changed.insert(&claim.key, Some(&claim.holder));
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
        None
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Run(row) => _ = self.runs.insert(row.run_id, row.clone()),
            Change::Roundtable(row) => _ = self.roundtables.insert(row.roundtable_id, row.clone()),
            Change::InteractionOpened(open) => {
                self.close(open.stream, open.interaction_id);
                self.open_by_age.insert(OpenCursor::after(open), ());
                if let Some(deadline) = open.deadline_at {
                    self.deadlines.insert((deadline, open.stream, open.interaction_id), ());
                }
                self.open.insert((open.stream, open.interaction_id), open.clone());
            }
            Change::InteractionClosed(stream, id) => self.close(*stream, *id),
            Change::Contract(row) => _ = self.contracts.insert(row.execution_id, *row),
            Change::Claimed(claim) => _ = self.claims.insert(claim.key.clone(), claim.holder.clone()),
            Change::Released(key) => _ = self.claims.remove(key),
            Change::SetAside(stream) => self.set_aside(*stream),
            Change::Notice(notice) => {
                let pending = Pending { notice: notice.clone(), due_at: notice.at, attempts: 0 };
                self.notices.insert(notice.id, pending);
            }
        }
    }

    /// Closes the questions of a stream and the contracts of a run that were under way.
    fn set_aside(&mut self, stream: StreamId) {
        let open: Vec<_> = self.open.keys().filter(|(other, _)| *other == stream).copied().collect();
        for (stream, id) in open {
            self.close(stream, id);
        }
        for row in self.contracts.values_mut() {
            if StreamId::Run(row.run_id) == stream && !row.status.is_terminal() {
                row.status = ContractStatus::Cancelled;
            }
        }
    }

    fn close(&mut self, stream: StreamId, id: InteractionId) {
        let Some(open) = self.open.remove(&(stream, id)) else { return };
        self.open_by_age.remove(&OpenCursor::after(&open));
        if let Some(deadline) = open.deadline_at {
            self.deadlines.remove(&(deadline, stream, id));
        }
    }

    /// Makes the last entry of a stream unreadable.
    pub(super) fn damage(&mut self, stream: StreamId) {
        let last = self.last_position(stream);
        if let Some(entry) = self.entries.get_mut(&last) {
            entry.payload.truncate(entry.payload.len() / 2);
        }
    }

    pub(super) fn read(&self, stream: StreamId, after: After, limit: usize) -> Vec<Entry> {
        let positions = self.streams.get(&stream).map_or(&[][..], Vec::as_slice);
        let is_before = |position: &&u64| {
            self.entries.get(position).is_some_and(|entry| match after {
                After::Seq(seq) => entry.seq <= seq,
                After::Frame(frame) => entry.last_frame <= frame,
            })
        };
        let rest = positions.iter().skip_while(is_before).take(limit);
        rest.filter_map(|position| self.entries.get(position)).cloned().collect()
    }

    pub(super) fn read_all(&self, position: u64, limit: usize) -> Vec<Entry> {
        let Some(first) = position.checked_add(1) else { return Vec::new() };
        self.entries.range(first..).take(limit).map(|(_, entry)| entry.clone()).collect()
    }

    pub(super) fn run(&self, id: RunId) -> Option<RunRow> {
        self.runs.get(&id).cloned()
    }

    pub(super) fn runs(&self, filter: &RunFilter, limit: usize) -> Vec<RunRow> {
        let is_listed = |row: &&RunRow| {
            filter.status.is_none_or(|status| row.status == status)
                && (filter.skill.is_none() || row.skill == filter.skill)
                && filter.label.as_ref().is_none_or(|(key, value)| row.labels.get(key) == Some(value))
                && filter.before.is_none_or(|before| row.run_id < before)
        };
        self.runs.values().rev().filter(is_listed).take(limit).cloned().collect()
    }

    pub(super) fn run_counts(&self) -> Vec<(RunStatus, u64)> {
        let count = |status| self.runs.values().filter(|row| row.status == status).count() as u64;
        RunStatus::ALL.iter().map(|&status| (status, count(status))).collect()
    }

    pub(super) fn roundtable_counts(&self) -> Vec<(RoundtableStatus, u64)> {
        let count = |status| self.roundtables.values().filter(|row| row.status == status).count() as u64;
        RoundtableStatus::ALL.iter().map(|&status| (status, count(status))).collect()
    }

    pub(super) fn roundtable(&self, id: RoundtableId) -> Option<RoundtableRow> {
        self.roundtables.get(&id).cloned()
    }

    pub(super) fn roundtables(&self, filter: &RoundtableFilter, limit: usize) -> Vec<RoundtableRow> {
        let is_listed = |row: &&RoundtableRow| {
            filter.status.is_none_or(|status| row.status == status)
                && filter.before.is_none_or(|before| row.roundtable_id < before)
        };
        self.roundtables.values().rev().filter(is_listed).take(limit).cloned().collect()
    }

    pub(super) fn open_interactions(&self, after: Option<OpenCursor>, limit: usize) -> Vec<OpenInteraction> {
        let by_age = self.open_by_age.keys().filter(|cursor| after.is_none_or(|after| **cursor > after));
        by_age
            .filter_map(|cursor| self.open.get(&(cursor.stream, cursor.interaction_id)))
            .take(limit)
            .cloned()
            .collect()
    }

    pub(super) fn deadlines(&self, limit: usize) -> Vec<OpenInteraction> {
        let first = self.deadlines.keys().take(limit);
        first.filter_map(|(_, stream, id)| self.open.get(&(*stream, *id))).cloned().collect()
    }

    pub(super) fn contract(&self, id: ExecutionId) -> Option<ContractRow> {
        self.contracts.get(&id).copied()
    }

    /// Removes a run that has ended, unless something needs it.
    pub(super) fn remove(&mut self, id: RunId) -> Removal {
        let Some(row) = self.runs.get(&id) else { return Removal::NotThere };
        if !row.status.is_terminal() {
            return Removal::Kept(KeptBecause::NotEnded);
        }
        if self.contracts.values().any(|row| row.run_id == id && row.unknown) {
            return Removal::Kept(KeptBecause::CallInDoubt);
        }
        let successor = self.claims.get(&successor_key(id)).and_then(|holder| holder.stream.run());
        if let Some(successor) = successor.filter(|successor| self.runs.contains_key(successor)) {
            return Removal::Kept(KeptBecause::ContinuedBy(successor));
        }
        self.remove_whatever_needs_it(id);
        Removal::Removed
    }

    /// Removes a roundtable that is closed.
    pub(super) fn remove_roundtable(&mut self, id: RoundtableId) -> Removal {
        match self.roundtables.get(&id) {
            None => return Removal::NotThere,
            Some(row) if row.status != RoundtableStatus::Closed => {
                return Removal::Kept(KeptBecause::NotEnded);
            }
            Some(_) => {}
        }
        for position in self.streams.remove(&id.into()).unwrap_or_default() {
            self.entries.remove(&position);
        }
        self.roundtables.remove(&id);
        self.notices.retain(|notice, _| notice.stream != id.into());
        self.claims.retain(|key, _| key.scope != adjourn_core::roundtable_scope(id));
        Removal::Removed
    }

    /// Removes a run without looking whether something needs it: what a planted bug does.
    pub(super) fn remove_whatever_needs_it(&mut self, id: RunId) {
        for position in self.streams.remove(&id.into()).unwrap_or_default() {
            self.entries.remove(&position);
        }
        self.runs.remove(&id);
        self.contracts.retain(|_, row| row.run_id != id);
        self.notices.retain(|notice, _| notice.stream != id.into());
        let is_of_chain = |key: &ClaimKey| key.scope.starts_with("run:");
        self.claims.retain(|key, holder| holder.stream != id.into() || !is_of_chain(key));
        self.claims.remove(&successor_key(id));
    }

    /// Forgets the keys that removed runs were created with, of runs whose id was made before.
    pub(super) fn forget_keys(&mut self, made_before: Timestamp) -> u64 {
        let scopes = [create_key("").scope, open_key("").scope];
        let is_old = |key: &ClaimKey, holder: &Holder| {
            let (is_there, bits) = match holder.stream {
                StreamId::Run(id) => (self.runs.contains_key(&id), id.bits()),
                StreamId::Roundtable(id) => (self.roundtables.contains_key(&id), id.bits()),
            };
            let made_at = i64::try_from(bits >> 80).unwrap_or(i64::MAX);
            scopes.contains(&key.scope) && !is_there && made_at < made_before.millis()
        };
        let before = self.claims.len();
        let old: Vec<_> = self.claims.iter().filter(|(key, holder)| is_old(key, holder)).collect();
        let old: Vec<ClaimKey> = old.into_iter().map(|(key, _)| key.clone()).collect();
        for key in old {
            self.claims.remove(&key);
        }
        (before - self.claims.len()) as u64
    }

    pub(super) fn notices(&self, limit: usize) -> Vec<Pending> {
        let mut first: BTreeMap<StreamId, &Pending> = BTreeMap::new();
        for (id, pending) in &self.notices {
            first.entry(id.stream).or_insert(pending);
        }
        let mut due: Vec<_> = first.into_values().cloned().collect();
        due.sort_by_key(|pending| (pending.due_at, pending.notice.id));
        due.truncate(limit);
        due
    }

    pub(super) fn settle_notice(&mut self, settled: Settled) {
        match settled {
            Settled::Done(id) => _ = self.notices.remove(&id),
            Settled::Again(id, due_at) => {
                if let Some(pending) = self.notices.get_mut(&id) {
                    pending.due_at = due_at;
                    pending.attempts += 1;
                }
            }
        }
    }

    pub(super) fn holder(&self, key: &ClaimKey) -> Option<Holder> {
        self.claims.get(key).cloned()
    }
}
