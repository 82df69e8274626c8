//! What the journal says, read as anybody would read it, and checked event by event.

mod roundtables;

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::fcmp::{FrameType, Header};
use adjourn_core::{
    Action, ContractDetail, ContractStatus, Entry, Event, ExecutionId, InteractionId, Item, Machine, Record,
    Run, RunId, RunMachine, RunStatus, Stream, StreamId, Subject, Timestamp, TurnReason,
};
use adjourn_store::Store;

pub(crate) use self::roundtables::{RoundtableMirror, RoundtableNews};
use crate::report::{Violation, ensure};

/// The runs and roundtables as the journal has them.
#[derive(Default)]
pub(crate) struct Mirror {
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) roundtables: RoundtableMirror,
    /// Runs that a prune removed: what they were is still known here.
    pub(crate) removed: BTreeSet<RunId>,
    /// Everything up to here was read.
    position: u64,
    /// The last frame of each stream.
    frames: BTreeMap<RunId, u64>,
    /// Streams whose terminal frame was seen.
    ended: BTreeSet<RunId>,
    /// Answers that a turn was given.
    given: BTreeSet<(RunId, InteractionId)>,
    needs_approval: BTreeSet<ExecutionId>,
    approved: BTreeSet<ExecutionId>,
    dispatched: BTreeSet<ExecutionId>,
}

/// One entry of the journal that is new.
pub(crate) struct News {
    pub(crate) run_id: RunId,
    pub(crate) at: Timestamp,
    pub(crate) events: Vec<Event>,
    /// The run before it.
    pub(crate) before: Option<RunStatus>,
    /// A turn was started in a process that had stayed, and with it the slot.
    pub(crate) kept_its_slot: bool,
}

impl Mirror {
    /// Reads what is new.
    pub(crate) fn catch_up(
        &mut self,
        store: &dyn Store,
    ) -> Result<(Vec<News>, Vec<RoundtableNews>), Violation> {
        let entries = store
            .read_all(self.position, usize::MAX)
            .map_err(|error| Violation::new("the journal can be read", error.to_string()))?;
        self.roundtables.begin_commit();
        let (mut of_runs, mut of_roundtables) = (Vec::new(), Vec::new());
        for entry in &entries {
            ensure(
                entry.position == self.position + u64::from(entry.events),
                "positions have no gaps",
                || format!("{} events end at {} after {}", entry.events, entry.position, self.position),
            )?;
            self.position = entry.position;
            match entry.stream {
                StreamId::Run(run_id) => of_runs.push(self.read(run_id, entry)?),
                StreamId::Roundtable(id) => {
                    of_roundtables.push(self.roundtables.read(id, entry, &self.runs)?);
                }
            }
        }
        for news in &of_runs {
            self.roundtables.run_changed(news, &self.runs)?;
        }
        Ok((of_runs, of_roundtables))
    }

    /// Whether everything that was read is still there.
    pub(crate) fn is_prefix_of(&self, store: &dyn Store) -> Result<(), Violation> {
        let head = store.head().unwrap_or(0);
        ensure(head >= self.position, "what was acknowledged survives a crash", || {
            format!("the journal ended at {} and ends at {head} after the crash", self.position)
        })
    }

    /// What a run would be with one more item.
    pub(crate) fn after(&self, run_id: RunId, item: &Item) -> Option<Run> {
        Run::fold_on(run_id, self.runs.get(&run_id).cloned(), &entry_of(item)).ok()
    }

    fn read(&mut self, run_id: RunId, entry: &Entry) -> Result<News, Violation> {
        let record = Record::<Event>::of(entry)
            .map_err(|bad| Violation::new("an entry can be read", bad.to_string()))?;
        let before = self.runs.get(&run_id).map(Run::status);
        let mut kept_its_slot = false;
        for event in &record.events {
            let stays = self.runs.get(&run_id).is_some_and(|run| run.process().is_some());
            kept_its_slot |= stays && matches!(event, Event::TurnStarted { .. });
            self.add(run_id, entry.at, event)?;
        }
        self.check_frames(run_id, entry, &record)?;
        self.check_waiting(run_id)?;
        Ok(News { run_id, at: entry.at, events: record.events, before, kept_its_slot })
    }

    fn add(&mut self, run_id: RunId, at: Timestamp, event: &Event) -> Result<(), Violation> {
        let Some(run) = self.runs.get_mut(&run_id) else {
            let run = Run::created(run_id, at, event).map_err(|bad| bad_event(&bad))?;
            self.runs.insert(run_id, run);
            return Ok(());
        };
        let is_over = run.status().is_terminal() && !matches!(event, Event::ContractSettled { .. });
        ensure(!is_over, "nothing happens to a run that ended", || format!("{run_id}: {event:?}"))?;
        match event {
            Event::StatusChanged { from, to, trigger, error } => {
                let is_edge = RunMachine::edge(*from, *trigger).is_ok_and(|edge| edge.to == *to);
                ensure(
                    is_edge && *from == run.status(),
                    "a status changes along an edge of its table",
                    || format!("{run_id} is {}: {event:?}", run.status()),
                )?;
                ensure(error.is_some() == (*to == RunStatus::Failed), "a failed run has a code", || {
                    format!("{run_id}: {event:?}")
                })?;
            }
            Event::InteractionExpired { id, .. } => {
                let deadline = run.interaction(*id).and_then(|interaction| interaction.deadline_at);
                ensure(deadline.is_some_and(|deadline| deadline <= at), "no question expires early", || {
                    format!("question {id} of {run_id} expires at {at}, and its deadline is {deadline:?}")
                })?;
            }
            Event::InteractionOpened { subject: Subject::Approval(call), .. } => {
                self.needs_approval.insert(*call);
                self.approved.remove(call);
            }
            Event::InteractionAnswered { id, action: Some(Action::Approve), .. } => {
                let subject = run.interaction(*id).map(|interaction| interaction.subject);
                self.approved.extend(subject.and_then(Subject::execution_id));
            }
            Event::TurnStarted { answers, reason, .. } => {
                let goes_on = *reason == TurnReason::GoOn;
                let before: Vec<_> = run.turn_answers().map(|answer| answer.interaction_id).collect();
                let keeps_all = before.iter().all(|id| answers.contains(id));
                ensure(!goes_on || keeps_all, "a turn that goes on is given its answers again", || {
                    format!("{run_id} was given {before:?}: {event:?}")
                })?;
                for id in answers {
                    let is_new = self.given.insert((run_id, *id));
                    let is_again = goes_on && before.contains(id);
                    ensure(is_new || is_again, "an answer is given to one turn", || {
                        format!("answer {id} of {run_id} is given to another turn: {event:?}")
                    })?;
                }
            }
            Event::ContractChanged { id, detail: Some(ContractDetail::Dispatched), .. } => {
                ensure(self.dispatched.insert(*id), "a call is dispatched once", || id.to_string())?;
                let is_allowed = !self.needs_approval.contains(id) || self.approved.contains(id);
                ensure(is_allowed, "a call that needs approval is dispatched after a yes", || {
                    id.to_string()
                })?;
            }
            Event::ContractChanged { id, detail: Some(ContractDetail::Paused(_)), .. } => {
                self.dispatched.remove(id);
            }
            _ => {}
        }
        run.apply(at, event).map_err(|bad| bad_event(&bad))
    }

    /// Whatever waits for a person has a question that a person can find, and only one.
    fn check_waiting(&self, run_id: RunId) -> Result<(), Violation> {
        // A person may answer a question by canceling the run, which ends when its process has.
        let Some(run) = self.runs.get(&run_id).filter(|run| run.ending().is_none()) else { return Ok(()) };
        for contract in run.contracts().filter(|contract| contract.status == ContractStatus::Waiting) {
            let id = contract.spec.execution_id;
            let open = run.open_interactions().filter(|open| open.subject.execution_id() == Some(id)).count();
            let expected = usize::from(!contract.is_cleared());
            ensure(open == expected, "a contract that waits has exactly one open question", || {
                format!("{id} of {run_id} has {open}")
            })?;
        }
        Ok(())
    }

    /// Nobody is ever told that something did not happen that did.
    pub(crate) fn check_effects(
        &self,
        mut effects: impl Iterator<Item = ExecutionId>,
    ) -> Result<(), Violation> {
        let contract = |id| self.runs.values().find_map(|run| run.contract(id));
        effects.try_for_each(|id| {
            let is_known = contract(id).is_none_or(adjourn_core::Contract::holds_its_key);
            ensure(is_known, "no result is lost: what happened is done, or in doubt", || {
                format!("{:?}", contract(id))
            })
        })
    }

    fn check_frames(
        &mut self,
        run_id: RunId,
        entry: &Entry,
        record: &Record<Event>,
    ) -> Result<(), Violation> {
        let engine = self.runs.get(&run_id).map_or("", |run| run.spec().engine.as_str());
        let last = self.frames.entry(run_id).or_default();
        for frame in record.frames(Header { run_id, engine }, entry) {
            ensure(frame.seq == *last + 1, "frames are numbered without gaps", || {
                format!("{run_id}: frame {} follows frame {last}", frame.seq)
            })?;
            *last = frame.seq;
            ensure(!self.ended.contains(&run_id), "the terminal frame is the last one", || {
                format!("{run_id}: {:?} follows it", frame.kind)
            })?;
            if frame.kind == FrameType::StateChanged && !frame.data["terminal"].is_null() {
                self.ended.insert(run_id);
            }
        }
        ensure(*last == entry.last_frame, "an entry knows its last frame", || {
            format!("{run_id}: {} and not {last}", entry.last_frame)
        })
    }

    /// What holds for every run at the end.
    pub(crate) fn check_ends(&self) -> Result<(), Violation> {
        for run in self.runs.values() {
            ensure(self.ended.contains(&run.id()), "a run has one terminal frame", || run.id().to_string())?;
            let is_over = run.contracts().all(|contract| contract.status.is_terminal())
                && run.open_interactions().next().is_none();
            ensure(is_over, "nothing outlives its run", || format!("{run:?}"))?;
        }
        Ok(())
    }
}

fn bad_event(bad: &adjourn_core::BadEvent) -> Violation {
    Violation::new("events follow from the ones before them", bad.to_string())
}

/// An item as the entry that it becomes, as far as reading its payload needs it.
pub(crate) fn entry_of(item: &Item) -> Entry {
    Entry {
        stream: item.stream,
        position: 0,
        seq: item.expected_seq + u64::from(item.events),
        at: item.at,
        events: item.events,
        last_frame: item.last_frame,
        payload: item.payload.clone(),
    }
}
