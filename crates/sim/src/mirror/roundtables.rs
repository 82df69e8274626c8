//! Roundtables as the journal has them, and what has to hold for each of their entries.

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::machines::{RoundStep, RoundtableStatus};
use adjourn_core::roundtable::{Ask, Event, Position, Purpose, Roundtable, Synthesis};
use adjourn_core::{
    EndCause, Entry, Event as RunEvent, Record, RoundtableId, Run, RunId, RunStatus, Timestamp,
};
use serde::de::DeserializeOwned;

use super::{News, bad_event};
use crate::report::{Violation, ensure};

/// The roundtables as the journal has them.
#[derive(Default)]
pub(crate) struct RoundtableMirror {
    pub(crate) states: BTreeMap<RoundtableId, Roundtable>,
    /// Announced runs that a handler said it cannot create, since the last crash: a report that was not committed then may
    /// come back with it.
    pub(crate) given_up: BTreeSet<RunId>,
    /// Runs that a person wanted canceled.
    pub(crate) canceled_by_person: BTreeSet<RunId>,
    /// Counts commits.
    commit: u64,
    announced: BTreeMap<RunId, Announced>,
    /// The commit in which each run ended.
    ended_in: BTreeMap<RunId, u64>,
    /// Runs whose words, or whose loss, were recorded.
    heard: BTreeSet<RunId>,
    /// The last frame of each stream.
    frames: BTreeMap<RoundtableId, u64>,
}

/// A run that a roundtable announced.
struct Announced {
    roundtable: RoundtableId,
    purpose: Purpose,
    commit: u64,
}

/// One entry of a roundtable's journal that is new.
pub(crate) struct RoundtableNews {
    pub(crate) id: RoundtableId,
    pub(crate) at: Timestamp,
    pub(crate) events: Vec<Event>,
}

impl RoundtableMirror {
    /// What is read from now on became durable together.
    pub(super) fn begin_commit(&mut self) {
        self.commit += 1;
    }

    /// Whether the roundtable of a run may still need it.
    pub(crate) fn needs(&self, run: &Run) -> bool {
        run.spec().roundtable.and_then(|id| self.states.get(&id)).is_some_and(is_active)
    }

    /// The active roundtables.
    pub(crate) fn active(&self) -> impl Iterator<Item = &Roundtable> {
        self.states.values().filter(|roundtable| is_active(roundtable))
    }

    /// Takes note of the entry of a run, after everything that became durable with it was read.
    pub(super) fn run_changed(&mut self, news: &News, runs: &BTreeMap<RunId, Run>) -> Result<(), Violation> {
        let run_id = news.run_id;
        let Some(run) = runs.get(&run_id) else { return Ok(()) };
        let Some(id) = run.spec().roundtable else { return Ok(()) };
        if run.status().is_terminal() {
            self.ended_in.entry(run_id).or_insert(self.commit);
        }
        for event in &news.events {
            match event {
                RunEvent::Created(_) => {
                    let announced = self.announced.get(&run_id);
                    let is_announced =
                        announced.is_some_and(|one| one.roundtable == id && one.commit < self.commit);
                    ensure(
                        is_announced,
                        "a run of a roundtable is announced durably before it is created",
                        || format!("{run_id} of {id}"),
                    )?;
                }
                RunEvent::EndRequested(EndCause::Canceled(_))
                | RunEvent::StatusChanged { to: RunStatus::Canceled, .. } => {
                    let is_closed = self.states.get(&id).is_some_and(|roundtable| !is_active(roundtable));
                    let is_wanted = is_closed || self.canceled_by_person.contains(&run_id);
                    ensure(
                        is_wanted,
                        "a run is canceled by a person, or because its roundtable is closed",
                        || format!("{run_id} of {id}"),
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads one entry.
    pub(super) fn read(
        &mut self,
        id: RoundtableId,
        entry: &Entry,
        runs: &BTreeMap<RunId, Run>,
    ) -> Result<RoundtableNews, Violation> {
        let record = Record::<Event>::of(entry)
            .map_err(|bad| Violation::new("an entry can be read", bad.to_string()))?;
        for event in &record.events {
            self.add(id, entry.at, event, runs)?;
        }
        self.check_frames(id, entry, &record)?;
        Ok(RoundtableNews { id, at: entry.at, events: record.events })
    }

    fn add(
        &mut self,
        id: RoundtableId,
        at: Timestamp,
        event: &Event,
        runs: &BTreeMap<RunId, Run>,
    ) -> Result<(), Violation> {
        let Some(roundtable) = self.states.get(&id) else {
            let roundtable = Roundtable::opened(id, at, event).map_err(|bad| bad_event(&bad))?;
            self.states.insert(id, roundtable);
            return Ok(());
        };
        ensure(is_active(roundtable), "nothing happens to a roundtable that is closed", || {
            format!("{id}: {event:?}")
        })?;
        let found = || format!("{id}: {event:?}");
        match event {
            Event::ActivationStarted { purpose, run_id, .. } => {
                let is_new = !self.announced.contains_key(run_id) && !runs.contains_key(run_id);
                ensure(is_new, "a run plays one part", found)?;
                let is_alone = roundtable.current().is_some_and(|round| round.at_work(purpose).is_none());
                ensure(is_alone, "one run at most is at work for a purpose of a round", found)?;
                let announced = Announced { roundtable: id, purpose: purpose.clone(), commit: self.commit };
                self.announced.insert(*run_id, announced);
            }
            Event::FocusRecorded { run_id, asked } => {
                let ask: Ask = self.heard(id, *run_id, &Purpose::Ask, runs)?;
                ensure(ask.question == asked.question, SAME, found)?;
            }
            Event::AnswerRecorded { role, run_id, said } => {
                let purpose = Purpose::Answer(role.clone());
                let position: Position = self.heard(id, *run_id, &purpose, runs)?;
                ensure(position == *said, SAME, found)?;
            }
            Event::SynthesisRecorded { run_id, synthesis } => {
                let drawn: Synthesis = self.heard(id, *run_id, &Purpose::Synthesis, runs)?;
                ensure(drawn == *synthesis, SAME, found)?;
            }
            Event::FacilitatorLost { run_id, .. } | Event::ParticipantMissing { run_id, .. } => {
                self.is_lost(roundtable, *run_id, at, runs)?;
                ensure(self.heard.insert(*run_id), ONCE, found)?;
            }
            Event::ResponsesCollected => {
                let is_complete = roundtable.current().is_some_and(|round| round.awaited().next().is_none());
                ensure(is_complete, COMPLETE, found)?;
            }
            Event::RoundRecorded { .. } => {
                let is_complete = roundtable.current().is_some_and(|round| {
                    round.step == RoundStep::Artifacts
                        && round.synthesis.is_some()
                        && round.awaited().next().is_none()
                        && round.activations.iter().all(|activation| activation.outcome.is_some())
                });
                ensure(is_complete, COMPLETE, found)?;
            }
            Event::InteractionOpened { .. } => {
                ensure(roundtable.pending().is_none(), "a roundtable asks one question at a time", found)?;
            }
            Event::Opened(_)
            | Event::RoundOpened { .. }
            | Event::ResumeFellBack { .. }
            | Event::ArtifactCreated(_)
            | Event::ArtifactChanged { .. }
            | Event::ConflictOpened(_)
            | Event::ConflictResolved { .. }
            | Event::QuestionOpened(_)
            | Event::QuestionResolved { .. }
            | Event::TopicChanged { .. }
            | Event::NextDecided(_)
            | Event::EscalationRequested(_)
            | Event::EscalationRaised(_)
            | Event::InteractionAnswered { .. }
            | Event::InteractionWithdrawn { .. }
            | Event::Closed(_)
            | Event::SetAside(_) => {}
        }
        match self.states.get_mut(&id) {
            Some(roundtable) => roundtable.apply(at, event).map_err(|bad| bad_event(&bad)),
            None => Ok(()),
        }
    }

    /// What a run said that is recorded now, for the first time, after its end became durable.
    fn heard<T: DeserializeOwned>(
        &mut self,
        id: RoundtableId,
        run_id: RunId,
        purpose: &Purpose,
        runs: &BTreeMap<RunId, Run>,
    ) -> Result<T, Violation> {
        let found = || format!("{run_id} of {id}");
        let announced = self.announced.get(&run_id);
        let is_announced = announced.is_some_and(|one| one.roundtable == id && one.purpose == *purpose);
        ensure(is_announced, "a roundtable hears the runs that it announced", found)?;
        ensure(self.heard.insert(run_id), ONCE, found)?;
        ensure(self.has_ended(run_id), "a run is heard when its end is durable", found)?;
        let run = runs.get(&run_id).filter(|run| run.status() == RunStatus::Succeeded);
        let said = run.and_then(Run::result).cloned().map(serde_json::from_value);
        let said = said.transpose().ok().flatten();
        said.ok_or_else(|| Violation::new(SAME, format!("{run_id} of {id} said nothing of the kind")))
    }

    /// A run is lost that ended without saying anything of use, or that was never there.
    fn is_lost(
        &self,
        roundtable: &Roundtable,
        run_id: RunId,
        at: Timestamp,
        runs: &BTreeMap<RunId, Run>,
    ) -> Result<(), Violation> {
        let found = || format!("{run_id} of {}", roundtable.id());
        let Some(run) = runs.get(&run_id) else {
            return ensure(
                self.given_up.contains(&run_id),
                "a run is lost that ended, or that cannot be created",
                found,
            );
        };
        ensure(self.has_ended(run_id), "a run is lost that ended, or that cannot be created", found)?;
        let heard = roundtable.hear(run);
        let is_of_use = heard
            .filter(|command| command.heard_run().is_some())
            .is_some_and(|command| roundtable.decide(&command, at).is_ok());
        ensure(!is_of_use, "no answer is lost", found)
    }

    /// Whether the end of a run was durable before the commit that is being read.
    fn has_ended(&self, run_id: RunId) -> bool {
        self.ended_in.get(&run_id).is_some_and(|commit| *commit < self.commit)
    }

    fn check_frames(
        &mut self,
        id: RoundtableId,
        entry: &Entry,
        record: &Record<Event>,
    ) -> Result<(), Violation> {
        let Some(roundtable) = self.states.get(&id) else { return Ok(()) };
        let last = self.frames.entry(id).or_default();
        for frame in record.frames(roundtable, entry) {
            ensure(frame.seq == *last + 1, "frames are numbered without gaps", || {
                format!("{id}: frame {} follows frame {last}", frame.seq)
            })?;
            *last = frame.seq;
        }
        ensure(*last == entry.last_frame, "an entry knows its last frame", || {
            format!("{id}: {} and not {last}", entry.last_frame)
        })
    }
}

const SAME: &str = "a roundtable records what its run said";
const ONCE: &str = "each run of a roundtable is heard once";
const COMPLETE: &str = "a round is recorded after its synthesis and all of its answers or losses";

fn is_active(roundtable: &Roundtable) -> bool {
    roundtable.status() == RoundtableStatus::Active
}
