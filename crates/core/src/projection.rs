//! From decisions to what is committed, and back.

use serde::{Deserialize, Serialize};

use crate::fcmp::{self, Frame, Header, Place};
use crate::run::{BadEvent, Create, Event, SetAside, create_key, damage_in_short, successor_key};
use crate::{Change, Claim, Entry, Holder, Item, OpenInteraction, Run, RunId, RunRow, StreamId};

/// The events of one entry, and where its first frame stands. What an entry's payload holds, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Frame, attempt and frames of the attempt before this entry.
    #[serde(rename = "p", with = "place_as_list")]
    pub place: Place,
    /// What happened.
    #[serde(rename = "e")]
    pub events: Vec<Event>,
}

/// A [`Record`] that is only written and so need not own its events.
#[derive(Serialize)]
struct RecordToWrite<'a> {
    #[serde(rename = "p", with = "place_as_list")]
    place: Place,
    #[serde(rename = "e")]
    events: &'a [Event],
}

/// A payload that is not a record.
#[derive(Debug, thiserror::Error)]
pub enum BadEntry {
    /// It cannot be read.
    #[error("entry {seq} of {stream} cannot be read: {source}")]
    Unreadable {
        /// The stream.
        stream: StreamId,
        /// The place of the entry's last event.
        seq: u64,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// It can, and does not follow.
    #[error(transparent)]
    Event(#[from] BadEvent),
    /// The same at a roundtable.
    #[error(transparent)]
    RoundtableEvent(#[from] crate::roundtable::BadEvent),
    /// The stream does not begin at its beginning.
    #[error("the first entry of {stream} is missing")]
    NoBeginning {
        /// The stream.
        stream: StreamId,
    },
    /// An entry before it is missing, or is there twice.
    #[error("entry {seq} of {stream} does not follow the one before it, which ends with {before}")]
    Gap {
        /// The stream.
        stream: StreamId,
        /// The place of the entry's last event.
        seq: u64,
        /// The place of the last event before it.
        before: u64,
    },
}

impl Record {
    /// Reads the payload of an entry.
    pub fn of(entry: &Entry) -> Result<Self, BadEntry> {
        serde_json::from_slice(&entry.payload).map_err(|source| BadEntry::Unreadable {
            stream: entry.stream,
            seq: entry.seq,
            source,
        })
    }

    /// The frames of an entry.
    pub fn frames(&self, header: Header<'_>, entry: &Entry) -> Vec<Frame> {
        fcmp::render(header, self.place, entry.at, &self.events)
    }
}

impl Run {
    /// The state that the entries of a run's stream add up to; none where there are none.
    pub fn fold<'a>(
        id: RunId,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Result<Option<Self>, BadEntry> {
        let mut run = None;
        for entry in entries {
            run = Some(Self::fold_on(id, run, entry)?);
        }
        Ok(run)
    }

    /// The state after one more entry.
    pub fn fold_on(id: RunId, mut run: Option<Self>, entry: &Entry) -> Result<Self, BadEntry> {
        fold_entry(id, &mut run, entry)?;
        run.ok_or(BadEntry::NoBeginning { stream: entry.stream })
    }
}

/// Adds one entry to the state before it.
fn fold_entry(id: RunId, run: &mut Option<Run>, entry: &Entry) -> Result<(), BadEntry> {
    let record = Record::of(entry)?;
    let stream = entry.stream;
    if let Some(Event::SetAside(set_aside)) = record.events.first() {
        *run = Some(Run::salvaged(run.take(), id, set_aside));
    }
    let before = run.as_ref().map_or(0, Run::seq);
    if before + u64::from(entry.events) != entry.seq {
        return Err(match before {
            0 => BadEntry::NoBeginning { stream },
            _ => BadEntry::Gap { stream, seq: entry.seq, before },
        });
    }
    let mut events = record.events.iter();
    if run.is_none() {
        let first = events.next().ok_or(BadEntry::NoBeginning { stream })?;
        *run = Some(Run::created(id, entry.at, first)?);
    }
    let Some(run) = run else { return Err(BadEntry::NoBeginning { stream }) };
    for event in events {
        run.apply(entry.at, event)?;
    }
    Ok(())
}

/// The fold of a run's stream, entry by entry, over parts that cannot be read.
#[derive(Debug)]
pub struct Folding {
    id: RunId,
    run: Option<Run>,
    /// The first entry that could not be read, unless the stream was set aside after it.
    damage: Option<BadEntry>,
    /// The place of the last event of the stream so far.
    seq: u64,
    /// The number of the last frame of the stream so far.
    frame: u64,
}

impl Folding {
    /// The fold of the empty stream.
    pub fn new(id: RunId) -> Self {
        Self { id, run: None, damage: None, seq: 0, frame: 0 }
    }

    /// Adds one entry. After one that cannot be read, others count only from [`Event::SetAside`] on.
    pub fn add(&mut self, entry: &Entry) {
        self.seq = self.seq.max(entry.seq);
        self.frame = self.frame.max(entry.last_frame);
        if self.damage.is_some() && !begins_again(entry) {
            return;
        }
        self.damage = fold_entry(self.id, &mut self.run, entry).err();
    }

    /// The place of the last event of the stream so far, readable or not.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What is wrong with the stream, if something is.
    pub fn damage(&self) -> Option<&BadEntry> {
        self.damage.as_ref()
    }

    /// The state, none where there are no entries; or the damage.
    pub fn finish(self) -> Result<Option<Run>, BadEntry> {
        match self.damage {
            None => Ok(self.run),
            Some(damage) => Err(damage),
        }
    }

    /// What can be said of a damaged run whose row is `row`, and where its stream stands.
    pub fn salvage(self, row: RunRow) -> (Run, SetAside) {
        let problem =
            self.damage.map_or_else(|| "an entry is missing".to_owned(), |damage| damage.to_string());
        let frame = self.frame.max(row.seq);
        let set_aside = SetAside { seq: self.seq, frame, row, problem: damage_in_short(&problem) };
        (Run::salvaged(self.run, self.id, &set_aside), set_aside)
    }
}

/// Whether an entry begins with [`Event::SetAside`].
fn begins_again(entry: &Entry) -> bool {
    Record::of(entry).is_ok_and(|record| matches!(record.events.first(), Some(Event::SetAside(_))))
}

/// What has to be committed so that the run `before` becomes `after` by `events`, and was created by `create`.
pub fn item(before: Option<&Run>, create: Option<&Create>, events: &[Event], after: &Run) -> Item {
    let record = RecordToWrite { place: before.map(Run::place).unwrap_or_default(), events };
    let payload = serde_json::to_vec(&record).expect("events are plain data, and plain data is JSON");
    let is_set_aside = events.iter().any(|event| matches!(event, Event::SetAside(_)));
    let mut changes: Vec<_> = is_set_aside.then(|| Change::SetAside(after.id().into())).into_iter().collect();
    changes.push(Change::Run(row(after)));
    changes.extend(create.into_iter().flat_map(|create| creation_claims(create, after.id())));
    changes.extend(interaction_changes(events, after));
    contract_changes(before, after, &mut changes);
    Item {
        stream: after.id().into(),
        expected_seq: before.map_or(0, Run::seq),
        at: after.updated_at(),
        events: u32::try_from(events.len()).expect("a command causes far fewer than four billion events"),
        last_frame: after.last_frame(),
        payload,
        changes,
    }
}

/// The rows that a run has in every list: what its whole stream says about them.
pub fn rows_of_run(run: &Run) -> Vec<Change> {
    let open = run.open_interactions().filter_map(|interaction| opened(run, interaction.interaction_id));
    let contracts = run.contracts().map(|contract| Change::Contract(contract.row(run.id())));
    std::iter::once(Change::Run(row(run))).chain(open).chain(contracts).collect()
}

fn creation_claims(create: &Create, run_id: RunId) -> impl Iterator<Item = Change> {
    let holder = move |digest| Holder { stream: run_id.into(), execution_id: None, digest };
    let key = create
        .key
        .iter()
        .map(move |key| Claim { key: create_key(&key.key), holder: holder(Some(key.digest.clone())) });
    let successor = create
        .spec
        .continues
        .iter()
        .map(move |continued| Claim { key: successor_key(continued.run_id), holder: holder(None) });
    key.chain(successor).map(Change::Claimed)
}

/// A question that was opened and closed at the same moment was never there to be looked up.
fn interaction_changes(events: &[Event], after: &Run) -> Vec<Change> {
    let mut changes = Vec::new();
    for event in events {
        match event {
            Event::InteractionOpened { id, .. } | Event::DeadlineMoved { id, .. } => {
                changes.extend(opened(after, *id));
            }
            Event::InteractionAnswered { id, .. }
            | Event::InteractionExpired { id, .. }
            | Event::InteractionWithdrawn { id, .. } => {
                changes.push(Change::InteractionClosed(after.id().into(), *id));
            }
            // Deadlines may have fallen away.
            Event::ProcessLost => {
                let open = after.open_interactions().map(|interaction| interaction.interaction_id);
                changes.extend(open.filter_map(|id| opened(after, id)));
            }
            Event::Created(_)
            | Event::StatusChanged { .. }
            | Event::TurnStarted { .. }
            | Event::Observed(_)
            | Event::RepairStarted { .. }
            | Event::Warned(_)
            | Event::ContractCreated(_)
            | Event::ContractChanged { .. }
            | Event::ContractSettled { .. }
            | Event::CallRefused(_)
            | Event::ToolsListed(_)
            | Event::ToolChanged { .. }
            | Event::EndRequested(_)
            | Event::TurnOver
            | Event::ResultRecorded(_)
            | Event::SetAside(_) => {}
        }
    }
    changes
}

fn opened(run: &Run, id: crate::InteractionId) -> Option<Change> {
    let interaction = run.interaction(id).filter(|interaction| interaction.is_open())?;
    Some(Change::InteractionOpened(OpenInteraction {
        stream: run.id().into(),
        interaction_id: id,
        question: interaction.question.clone(),
        created_at: interaction.created_at,
        deadline_at: interaction.deadline_at,
    }))
}

/// Keys are freed before others are claimed, so that an edit to the same call does not stand in its own way.
fn contract_changes(before: Option<&Run>, after: &Run, changes: &mut Vec<Change>) {
    let mut claimed = Vec::new();
    for contract in after.contracts() {
        let earlier = before.and_then(|run| run.contract(contract.spec.execution_id));
        if earlier.is_some_and(|earlier| earlier.updated_at == contract.updated_at && earlier == contract) {
            continue;
        }
        changes.push(Change::Contract(contract.row(after.id())));
        let held = earlier.is_some_and(crate::Contract::holds_its_key);
        match (held, contract.holds_its_key()) {
            (false, true) => claimed.push(Change::Claimed(contract.claim(after.id()))),
            (true, false) => changes.push(Change::Released(contract.spec.claim_key())),
            (true, true) | (false, false) => {}
        }
    }
    changes.extend(claimed);
}

fn row(run: &Run) -> RunRow {
    let spec = run.spec();
    RunRow {
        run_id: run.id(),
        status: run.status(),
        skill: spec.skill.clone(),
        engine: spec.engine.clone(),
        attempt_number: run.attempt_number(),
        priority: spec.priority,
        error_code: run.error().map(|error| error.code.to_string()),
        seq: run.last_frame(),
        created_at: run.created_at(),
        updated_at: run.updated_at(),
        labels: spec.labels.clone(),
    }
}

/// `[frame, attempt, local]`: three numbers that stand in every entry, without their names.
pub(crate) mod place_as_list {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Place;
    use super::count::checked;

    pub(crate) fn serialize<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
        (place.frame, place.attempt, place.local).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Place, D::Error> {
        let (frame, attempt, local) = Deserialize::deserialize(deserializer)?;
        Ok(Place { frame: checked(frame)?, attempt, local: checked(local)? })
    }
}

/// A number of events or frames that stands in an entry.
///
/// A damaged entry may hold any number. One that is so large that counting on would overflow is refused as unreadable.
pub(crate) mod count {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    /// More than a stream can have: a million events per second for a hundred thousand years.
    const COUNT_MAX: u64 = 1 << 62;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        checked(u64::deserialize(deserializer)?)
    }

    pub(crate) fn checked<E: Error>(count: u64) -> Result<u64, E> {
        if count > COUNT_MAX {
            return Err(E::custom(format!(
                "{count} is more than the events and frames that a stream can have"
            )));
        }
        Ok(count)
    }
}
