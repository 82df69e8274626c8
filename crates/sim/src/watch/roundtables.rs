//! Roundtables go on until they are closed or wait for a person, and each of their effects comes when it may.

use std::collections::{BTreeMap, BTreeSet};

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::{Event, Matter, Purpose, Reply, Roundtable};
use adjourn_core::{RoundtableId, Run, RunId, Stream};
use adjourn_kernel::Kernel;
use adjourn_store::Store;

use super::Watch;
use super::deadlines::PATIENCE_MS;
use crate::mirror::{Mirror, RoundtableNews};
use crate::report::{Counts, Violation, ensure};

/// What was seen of roundtables so far.
#[derive(Default)]
pub(super) struct RoundtableWatch {
    /// Agents that are being prepared.
    preparing: BTreeMap<RoundtableId, Purpose>,
    /// Announced runs that are being created, and for which roundtable.
    creating: BTreeMap<RunId, RoundtableId>,
    /// Replies that were acknowledged and not yet found in the journal.
    acknowledged: Vec<(RoundtableId, Reply)>,
    /// Roundtables whose closing was acknowledged.
    closed: BTreeSet<RoundtableId>,
    /// Since when something should have happened.
    since: BTreeMap<Stalled, i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stalled {
    /// A roundtable should have gone on.
    Roundtable(RoundtableId),
    /// A run should have been canceled: its roundtable is closed.
    AbandonedRun(RunId),
}

impl RoundtableWatch {
    /// Nothing is being prepared or created any more.
    pub(super) fn crashed(&mut self) {
        self.preparing.clear();
        self.creating.clear();
        self.since.clear();
    }

    /// Something went wrong: whatever is late has its reason.
    pub(super) fn forget_late(&mut self) {
        self.since.clear();
    }

    fn is_busy(&self, roundtable: &Roundtable, mirror: &Mirror) -> bool {
        let id = roundtable.id();
        let round = roundtable.current();
        let mut at_work = round.iter().flat_map(|round| &round.activations);
        roundtable.pending().is_some()
            || self.preparing.contains_key(&id)
            || self.creating.values().any(|of| *of == id)
            || at_work.any(|activation| {
                let run = mirror.runs.get(&activation.run_id);
                activation.outcome.is_none() && run.is_some_and(|run| !run.status().is_terminal())
            })
    }

    pub(super) fn at_rest(
        &mut self,
        kernel: &Kernel<u64>,
        mirror: &Mirror,
        time_ms: i64,
    ) -> Result<(), Violation> {
        self.replies_are_kept(mirror)?;
        let idle = mirror.roundtables.active().filter(|roundtable| !self.is_busy(roundtable, mirror));
        let mut late: BTreeSet<_> = idle.map(|roundtable| Stalled::Roundtable(roundtable.id())).collect();
        let is_abandoned = |run: &&Run| {
            let roundtable = run.spec().roundtable.and_then(|id| mirror.roundtables.states.get(&id));
            roundtable.is_some_and(|roundtable| roundtable.status() == RoundtableStatus::Closed)
                && !run.status().is_terminal()
                && run.ending().is_none()
                && kernel.is_right(run.id())
        };
        late.extend(mirror.runs.values().filter(is_abandoned).map(|run| Stalled::AbandonedRun(run.id())));
        self.since.retain(|one, _| late.contains(one));
        for one in late {
            let since = *self.since.entry(one).or_insert(time_ms);
            ensure(time_ms - since < PATIENCE_MS, rule(one), || {
                format!("{one:?} is late by {} ms", time_ms - since)
            })?;
        }
        Ok(())
    }

    fn replies_are_kept(&mut self, mirror: &Mirror) -> Result<(), Violation> {
        for (id, reply) in self.acknowledged.drain(..) {
            let roundtable = mirror.roundtables.states.get(&id);
            let kept = roundtable
                .and_then(|roundtable| roundtable.interaction(reply.interaction_id)?.resolution.as_ref())
                .is_some_and(|by| by.by == reply.by || (reply.key.is_some() && by.key == reply.key));
            ensure(kept, "a reply that was accepted is never lost", || {
                format!("question {} of {id}: {reply:?}", reply.interaction_id)
            })?;
        }
        Ok(())
    }

    /// What holds when every roundtable is closed.
    pub(super) fn at_the_end(&mut self, mirror: &Mirror, store: &dyn Store) -> Result<(), Violation> {
        self.replies_are_kept(mirror)?;
        for (id, roundtable) in &mirror.roundtables.states {
            ensure(roundtable.status() == RoundtableStatus::Closed, GOES_ON, || id.to_string())?;
            let folded = adjourn_kernel::load::<Roundtable>(store, *id);
            ensure(
                folded.is_ok_and(|folded| folded.as_ref() == Some(roundtable)),
                "the state is the fold of its events",
                || id.to_string(),
            )?;
        }
        let open = store.open_interactions(None, usize::MAX).unwrap_or_default();
        let open = open.iter().find(|open| open.stream.roundtable().is_some());
        ensure(open.is_none(), "no question outlives its roundtable", || format!("{open:?}"))?;
        let lost = self.closed.iter().find(|id| !mirror.roundtables.states.contains_key(id));
        ensure(lost.is_none(), "a roundtable that was closed stays closed", || format!("{lost:?}"))
    }
}

impl Watch {
    /// The kernel wants an agent prepared.
    pub(crate) fn prepare_wanted(
        &mut self,
        roundtable: &Roundtable,
        purpose: &Purpose,
        mirror: &Mirror,
    ) -> Result<(), Violation> {
        let id = roundtable.id();
        let before = self.roundtables.preparing.insert(id, purpose.clone());
        ensure(before.is_none(), "agents of a roundtable are prepared one after the other", || {
            format!("{purpose:?} of {id} while {before:?} is")
        })?;
        let round = mirror.roundtables.states.get(&id).and_then(Roundtable::current);
        let is_needed =
            round.is_some_and(|round| round.step == purpose.step() && round.at_work(purpose).is_none());
        ensure(is_needed, "an agent is prepared that is needed and not at work", || {
            format!("{purpose:?} of {id}")
        })
    }

    /// The kernel is told about an agent that it wanted prepared.
    pub(crate) fn prepared(&mut self, id: RoundtableId) {
        self.roundtables.preparing.remove(&id);
    }

    /// The kernel wants an announced run created.
    pub(crate) fn creation_wanted(
        &mut self,
        roundtable: &Roundtable,
        run_id: RunId,
        mirror: &Mirror,
    ) -> Result<(), Violation> {
        let id = roundtable.id();
        let found = || format!("{run_id} of {id}");
        let durable = mirror.roundtables.states.get(&id);
        let activation = durable.and_then(|durable| durable.current()?.activation(run_id));
        ensure(
            activation.is_some(),
            "a run of a roundtable is created when its announcement is durable",
            found,
        )?;
        let is_first = self.roundtables.creating.insert(run_id, id).is_none();
        let is_there = mirror.runs.contains_key(&run_id);
        ensure(is_first && !is_there, "an activation is created once", found)
    }

    /// The kernel is told what came of a creation.
    pub(crate) fn created(&mut self, run_id: RunId) {
        self.roundtables.creating.remove(&run_id);
    }

    /// Whether something is being prepared or created for roundtables.
    pub(crate) fn handlers_are_idle(&self) -> bool {
        self.roundtables.preparing.is_empty() && self.roundtables.creating.is_empty()
    }

    /// The kernel wants what was kept for a roundtable removed.
    pub(crate) fn forget_wanted(&self, id: RoundtableId, mirror: &Mirror) -> Result<(), Violation> {
        let status = mirror.roundtables.states.get(&id).map(Roundtable::status);
        ensure(
            status == Some(RoundtableStatus::Closed),
            "a roundtable is forgotten when its closing is durable",
            || format!("{id} is {status:?}"),
        )
    }

    pub(crate) fn roundtable_reply_acknowledged(&mut self, id: RoundtableId, reply: &Reply) {
        self.roundtables.acknowledged.push((id, reply.clone()));
    }

    pub(crate) fn closing_acknowledged(&mut self, id: RoundtableId) {
        self.roundtables.closed.insert(id);
    }

    /// What a commit brought to a roundtable.
    pub(crate) fn roundtable_committed(
        &mut self,
        news: &RoundtableNews,
        mirror: &Mirror,
        store: &dyn Store,
        counts: &mut Counts,
    ) -> Result<(), Violation> {
        ensure(news.at <= self.kernel_time, "nothing happens before its time", || {
            format!("{} at {}, and it is {}", news.id, news.at, self.kernel_time)
        })?;
        for event in &news.events {
            if let Some(what) = counted(event) {
                counts.add(what);
            }
        }
        let Some(roundtable) = mirror.roundtables.states.get(&news.id) else { return Ok(()) };
        let row = store.roundtable(news.id).ok().flatten();
        ensure(row.as_ref() == Some(&roundtable.row()), "the row says what the roundtable says", || {
            format!("{row:?} of {}", news.id)
        })
    }
}

const GOES_ON: &str = "every roundtable goes on, is closed or waits for a person";

fn rule(late: Stalled) -> &'static str {
    match late {
        Stalled::Roundtable(_) => GOES_ON,
        Stalled::AbandonedRun(_) => "no run of a closed roundtable goes on",
    }
}

/// What an event counts as, where it shows how much a seed tries.
fn counted(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::Opened(_) => "roundtables",
        Event::RoundOpened { .. } => "rounds",
        Event::ActivationStarted { .. } => "agents that were announced",
        Event::ResumeFellBack { .. } => "agents that lost their conversation",
        Event::FacilitatorLost { .. } => "facilitators that got lost",
        Event::AnswerRecorded { .. } => "answers at roundtables",
        Event::ParticipantMissing { .. } => "participants that got lost",
        Event::RoundRecorded { .. } => "rounds that were recorded",
        Event::ArtifactCreated(_) => "artifacts",
        Event::ArtifactChanged { person: None, .. } => "artifacts that a facilitator changed",
        Event::ArtifactChanged { person: Some(_), .. } => "artifacts that a person changed",
        Event::ConflictOpened(_) => "conflicts",
        Event::QuestionOpened(_) => "open questions",
        Event::InteractionOpened { matter: Matter::Checkpoint, .. } => "checkpoints",
        Event::InteractionOpened { matter: Matter::Escalation(_), .. } => "escalations",
        Event::FocusRecorded { .. }
        | Event::ResponsesCollected
        | Event::SynthesisRecorded { .. }
        | Event::ConflictResolved { .. }
        | Event::QuestionResolved { .. }
        | Event::TopicChanged { .. }
        | Event::NextDecided(_)
        | Event::EscalationRequested(_)
        | Event::EscalationRaised(_)
        | Event::InteractionAnswered { .. }
        | Event::InteractionWithdrawn { .. }
        | Event::Closed(_)
        | Event::SetAside(_) => return None,
    })
}
