//! Who gets a slot: the highest priority first, then the skills in turn, then whoever waits longest.
//!
//! A slot is not a counter. Who holds one is computed from the states of the runs, so that none can leak.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

use adjourn_core::{Run, RunId, RunRow, RunStatus};

use super::Denied;

/// How many turns may go on at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slots {
    /// In all.
    pub total: usize,
    /// Of one engine, where fewer than in all.
    pub engine: BTreeMap<String, usize>,
    /// How many new runs may wait for a slot.
    pub queue_max: usize,
}

impl Default for Slots {
    fn default() -> Self {
        Self { total: 4, engine: BTreeMap::new(), queue_max: 10_000 }
    }
}

/// How the slots are used at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotUse {
    /// How many there are, how many of them are held, and how many runs wait for one.
    pub total: EngineSlots,
    /// The same for each engine that has a limit of its own, or a run that holds a slot or waits.
    pub engine: BTreeMap<String, EngineSlots>,
    /// How many new runs may wait.
    pub queue_max: usize,
}

/// How the slots of one engine, or of all, are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineSlots {
    /// How many there are; none where only those of all engines are limited.
    pub limit: Option<usize>,
    /// How many are held, or kept for a run that is being put right after a restart.
    pub held: usize,
    /// How many runs wait for one.
    pub waiting: usize,
}

impl EngineSlots {
    /// How many are free; none where there is no limit. After a restart with fewer slots, more may be held than there are.
    pub fn free(&self) -> Option<usize> {
        self.limit.map(|limit| limit.saturating_sub(self.held))
    }
}

/// Gives out slots.
pub struct Scheduler {
    slots: Slots,
    /// Who holds a slot, and of which engine.
    holding: HashMap<RunId, String>,
    /// How many slots of each engine are held or kept.
    held_of: HashMap<String, usize>,
    /// Who waits for a slot, the highest priority first.
    levels: BTreeMap<Reverse<i32>, Level>,
    /// Where each of them stands.
    places: HashMap<RunId, Place>,
    /// Runs that wait for their turn and have their slot: their process stayed, or it was kept for them.
    ready: VecDeque<RunId>,
    /// Runs that a slot is kept for while it is found out what a restart left of them, and of which engine.
    reserved: HashMap<RunId, String>,
    /// Queued runs whose engine is not there, and where they stand once it is. They hold no slot, and nobody waits for them.
    blocked: BTreeMap<RunId, Place>,
    /// Where runs stood that left the queue for something that is not durable yet: a full disk costs nobody the place.
    stood: HashMap<RunId, Place>,
    arrivals: u64,
}

struct Place {
    priority: i32,
    skill: String,
    engine: String,
    arrival: u64,
}

/// Where in the queue a run comes that waits and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// To its end.
    New,
    /// To where it stood: what it left for never became durable.
    Again,
}

/// The runs of one priority.
#[derive(Default)]
struct Level {
    /// Whose turn it is: the skill that was served goes to the end.
    rotation: VecDeque<String>,
    lines: HashMap<String, Line>,
}

/// The runs of one skill, by engine, in the order of their arrival.
type Line = HashMap<String, BTreeMap<u64, RunId>>;

impl Scheduler {
    pub(super) fn new(slots: Slots) -> Self {
        Self {
            slots,
            holding: HashMap::new(),
            held_of: HashMap::new(),
            levels: BTreeMap::new(),
            places: HashMap::new(),
            ready: VecDeque::new(),
            reserved: HashMap::new(),
            blocked: BTreeMap::new(),
            stood: HashMap::new(),
            arrivals: 0,
        }
    }

    /// How many slots are held.
    pub fn held(&self) -> usize {
        self.holding.len()
    }

    /// How many runs wait for one, or for their engine.
    pub fn waiting(&self) -> usize {
        self.in_line() + self.blocked.len()
    }

    /// How many runs wait for a slot. One that waits for its engine takes nobody's place.
    pub fn in_line(&self) -> usize {
        self.places.len() + self.reserved.len()
    }

    /// Whether a queued run is passed over because its engine is not there.
    pub fn is_blocked(&self, id: RunId) -> bool {
        self.blocked.contains_key(&id)
    }

    /// The runs that hold a slot.
    pub fn holders(&self) -> impl Iterator<Item = RunId> {
        self.holding.keys().copied()
    }

    /// How many slots of one engine are held.
    pub fn held_by(&self, engine: &str) -> usize {
        self.holding.values().filter(|held| *held == engine).count()
    }

    /// How many slots there are.
    pub fn limits(&self) -> &Slots {
        &self.slots
    }

    /// How the slots are used now.
    pub fn usage(&self) -> SlotUse {
        let mut engine: BTreeMap<String, EngineSlots> = BTreeMap::new();
        for (name, limit) in &self.slots.engine {
            engine.entry(name.clone()).or_default().limit = Some(*limit);
        }
        for (name, held) in &self.held_of {
            engine.entry(name.clone()).or_default().held = *held;
        }
        let lines = self.levels.values().flat_map(|level| level.lines.values());
        for (name, runs) in lines.flatten() {
            engine.entry(name.clone()).or_default().waiting += runs.len();
        }
        let total = EngineSlots {
            limit: Some(self.slots.total),
            held: self.holding.len() + self.reserved.len(),
            waiting: self.places.len(),
        };
        SlotUse { total, engine, queue_max: self.slots.queue_max }
    }

    /// How much is remembered.
    pub(super) fn len(&self) -> usize {
        let lines: usize = self.levels.values().map(|level| level.lines.len() + level.rotation.len()).sum();
        let queued = lines + self.places.len() + self.ready.len() + self.reserved.len() + self.stood.len();
        queued + self.blocked.len() + self.holding.len() + self.held_of.len()
    }

    /// Whether one more run on `engine` may be created.
    pub(super) fn admit(&self, engine: &str) -> Result<(), Denied> {
        let (waiting, queue_max) = (self.in_line(), self.slots.queue_max);
        // A run that finds a free slot does not wait, however many wait for slots of other engines.
        if waiting < queue_max || (self.has_room(engine) && !self.has_candidate()) {
            Ok(())
        } else {
            Err(Denied::QueueFull { waiting, queue_max })
        }
    }

    /// Whether a run that waits could have a slot now.
    fn has_candidate(&self) -> bool {
        !self.ready.is_empty() || self.levels.values().any(|level| self.first_of(level).is_some())
    }

    /// Takes note of a run as it is decided to be.
    pub(super) fn observe(&mut self, run: &Run, arrival: Arrival) {
        let id = run.id();
        let waits = run.status() == RunStatus::Queued && run.ending().is_none();
        if run.holds_slot() || !waits {
            self.unreserve(id);
            self.blocked.remove(&id);
        }
        if self.blocked.contains_key(&id) {
            return;
        }
        if run.holds_slot() {
            self.take(id, &run.spec().engine);
        } else {
            self.release(id);
        }
        match (waits, run.holds_slot() || self.reserved.contains_key(&id)) {
            (true, true) => {
                self.leave(id);
                if !self.ready.contains(&id) {
                    self.ready.push_back(id);
                }
            }
            (true, false) => {
                self.ready.retain(|ready| *ready != id);
                match self.stood.remove(&id) {
                    Some(place) if arrival == Arrival::Again => self.stand_again(id, place),
                    Some(_) | None => {
                        self.join(id, run.spec().priority, run.spec().skill.as_deref(), &run.spec().engine);
                    }
                }
            }
            (false, _) => {
                self.ready.retain(|ready| *ready != id);
                self.step_aside(id);
                if arrival == Arrival::Again {
                    self.stood.remove(&id);
                }
            }
        }
    }

    /// Lets a run wait that a restart found queued.
    pub(super) fn enqueue(&mut self, row: &RunRow) {
        self.join(row.run_id, row.priority, row.skill.as_deref(), &row.engine);
    }

    /// Has a run keep its slot that a restart found running.
    pub(super) fn hold(&mut self, row: &RunRow) {
        self.take(row.run_id, &row.engine);
    }

    /// Keeps the slot for a run that is [next](Self::next) and cannot start yet.
    pub(super) fn reserve(&mut self, id: RunId) {
        if let Some(place) = self.stood.get(&id)
            && !self.reserved.contains_key(&id)
        {
            *self.held_of.entry(place.engine.clone()).or_default() += 1;
            self.reserved.insert(id, place.engine.clone());
        }
    }

    /// The engine of a run that is queued and holds no slot.
    pub(super) fn engine_of_queued(&self, id: RunId) -> Option<&str> {
        let place = self.stood.get(&id).or_else(|| self.places.get(&id)).or_else(|| self.blocked.get(&id));
        place.filter(|_| !self.holding.contains_key(&id)).map(|place| place.engine.as_str())
    }

    /// Whether a slot is kept for a run.
    pub(super) fn is_reserved(&self, id: RunId) -> bool {
        self.reserved.contains_key(&id)
    }

    /// Passes a queued run over until its engine is there. The slot that was kept for it is free.
    pub(super) fn block(&mut self, id: RunId) {
        if self.holding.contains_key(&id) {
            return;
        }
        self.unreserve(id);
        self.ready.retain(|ready| *ready != id);
        let place = self.leave(id);
        if let Some(place) = self.stood.remove(&id).or(place) {
            self.blocked.insert(id, place);
        }
    }

    /// Lets the runs of an engine stand again where they stood.
    pub(super) fn unblock(&mut self, engine: &str) {
        let (freed, blocked) =
            std::mem::take(&mut self.blocked).into_iter().partition(|(_, place)| place.engine == engine);
        self.blocked = blocked;
        for (id, place) in BTreeMap::into_iter(freed) {
            self.stand(id, place);
        }
    }

    /// Up to `most` blocked runs after this one, and then from the first on.
    pub(super) fn blocked_after(&self, last: Option<RunId>, most: usize) -> Vec<RunId> {
        let later = self.blocked.keys().filter(|id| Some(**id) > last);
        let earlier = self.blocked.keys().filter(|id| Some(**id) <= last);
        later.chain(earlier).take(most).copied().collect()
    }

    /// Whether any run is passed over.
    pub(super) fn has_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Slots that were free may not be: whoever one is kept for goes back to where it stood.
    pub(super) fn take_back(&mut self) {
        let mut kept: Vec<_> = self.reserved.keys().copied().collect();
        // In an order that does not depend on where a map keeps them; who came first ends up first.
        kept.sort_by_key(|id| Reverse(self.stood.get(id).map(|place| place.arrival)));
        for id in kept {
            self.unreserve(id);
            self.ready.retain(|ready| *ready != id);
            if let Some(place) = self.stood.remove(&id) {
                self.stand_again(id, place);
            }
        }
    }

    /// Takes note of a run whose state is durable: one that left the queue will not come back to where it stood. One that a
    /// slot is kept for came into the queue after that state, and the place is where it stands now.
    pub(super) fn committed(&mut self, run: &Run) {
        if run.status() != RunStatus::Queued && !self.reserved.contains_key(&run.id()) {
            self.stood.remove(&run.id());
        }
    }

    /// Forgets a run.
    pub(super) fn forget(&mut self, id: RunId) {
        self.release(id);
        self.unreserve(id);
        self.ready.retain(|ready| *ready != id);
        self.leave(id);
        self.stood.remove(&id);
        self.blocked.remove(&id);
    }

    /// The next run that may start a turn, taken out of the queue.
    pub(super) fn next(&mut self) -> Option<RunId> {
        if let Some(id) = self.ready.pop_front() {
            return Some(id);
        }
        let id = self.levels.values().find_map(|level| self.first_of(level))?;
        self.served(id);
        self.step_aside(id);
        Some(id)
    }

    /// The first run, in the order of the rotation, whose engine has a slot left.
    fn first_of(&self, level: &Level) -> Option<RunId> {
        level.rotation.iter().find_map(|skill| {
            let line = level.lines.get(skill)?;
            let firsts = line.iter().filter(|(engine, _)| self.has_room(engine));
            firsts.filter_map(|(_, runs)| runs.first_key_value()).min().map(|(_, id)| *id)
        })
    }

    fn has_room(&self, engine: &str) -> bool {
        let taken = self.holding.len() + self.reserved.len();
        let of_engine = self.held_of.get(engine).copied().unwrap_or(0);
        taken < self.slots.total && self.slots.engine.get(engine).is_none_or(|most| of_engine < *most)
    }

    fn served(&mut self, id: RunId) {
        let Some(Place { priority, skill, .. }) = self.places.get(&id) else { return };
        let Some(level) = self.levels.get_mut(&Reverse(*priority)) else { return };
        if let Some(index) = level.rotation.iter().position(|other| other == skill) {
            level.rotation.remove(index);
            level.rotation.push_back(skill.clone());
        }
    }

    fn join(&mut self, id: RunId, priority: i32, skill: Option<&str>, engine: &str) {
        if self.places.contains_key(&id) {
            return;
        }
        self.arrivals += 1;
        let arrival = self.arrivals;
        // Runs without a skill are one kind of work among the others.
        let skill = skill.unwrap_or_default().to_owned();
        self.stand(id, Place { priority, skill, engine: engine.to_owned(), arrival });
    }

    /// Puts a run back to where it stood, and its skill to where that was: first in turn.
    fn stand_again(&mut self, id: RunId, place: Place) {
        let (priority, skill) = (Reverse(place.priority), place.skill.clone());
        self.stand(id, place);
        if let Some(level) = self.levels.get_mut(&priority) {
            level.rotation.retain(|other| *other != skill);
            level.rotation.push_front(skill);
        }
    }

    fn stand(&mut self, id: RunId, place: Place) {
        let Place { priority, skill, engine, arrival } = &place;
        let level = self.levels.entry(Reverse(*priority)).or_default();
        if !level.lines.contains_key(skill) {
            level.rotation.push_back(skill.clone());
        }
        let line = level.lines.entry(skill.clone()).or_default();
        line.entry(engine.clone()).or_default().insert(*arrival, id);
        self.places.insert(id, place);
    }

    /// Takes a run out of the queue for as long as that is not durable.
    fn step_aside(&mut self, id: RunId) {
        if let Some(place) = self.leave(id) {
            self.stood.insert(id, place);
        }
    }

    /// Takes a run out of the queue, and says where it stood.
    fn leave(&mut self, id: RunId) -> Option<Place> {
        let place = self.places.remove(&id)?;
        let Place { priority, skill, engine, arrival } = &place;
        let level = self.levels.get_mut(&Reverse(*priority))?;
        let line = level.lines.get_mut(skill)?;
        if let Some(runs) = line.get_mut(engine) {
            runs.remove(arrival);
            if runs.is_empty() {
                line.remove(engine);
            }
        }
        if line.is_empty() {
            level.lines.remove(skill);
            level.rotation.retain(|other| other != skill);
        }
        if level.lines.is_empty() {
            self.levels.remove(&Reverse(*priority));
        }
        Some(place)
    }

    fn take(&mut self, id: RunId, engine: &str) {
        if self.holding.insert(id, engine.to_owned()).is_none() {
            *self.held_of.entry(engine.to_owned()).or_default() += 1;
        }
    }

    fn release(&mut self, id: RunId) {
        if let Some(engine) = self.holding.remove(&id) {
            self.one_less_of(&engine);
        }
    }

    fn unreserve(&mut self, id: RunId) {
        if let Some(engine) = self.reserved.remove(&id) {
            self.one_less_of(&engine);
        }
    }

    fn one_less_of(&mut self, engine: &str) {
        if let Some(held) = self.held_of.get_mut(engine) {
            *held -= 1;
            if *held == 0 {
                self.held_of.remove(engine);
            }
        }
    }
}
