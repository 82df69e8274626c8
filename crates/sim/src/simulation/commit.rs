//! Commits: written, synced, settled, and what can go wrong with each.

use adjourn_core::roundtable::Event as RoundtableEvent;
use adjourn_core::{Command, Event, Item, Record};
use adjourn_store::Error;
use std::sync::Arc;

use super::{Inside, Simulation, Ticket};
use crate::bug::Bug;
use crate::mirror::entry_of;
use crate::report::Step;

/// A batch on its way to the disk.
pub(super) struct Committing {
    items: Arc<[Item]>,
    fate: Fate,
}

/// What becomes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It becomes durable.
    Synced,
    /// It fails before anything is written.
    FailsAtOnce,
    /// It is written, and nothing of it is there after the sync failed.
    FailsToSync,
    /// It is written, its sync fails, and so does putting the log right: it is there after a crash, or not.
    Unresolved,
    /// It is refused, because an earlier one is still unresolved: it may be the same.
    NotTried,
}

impl Simulation {
    /// Takes the next batch from the kernel.
    pub(super) fn submit(&mut self) -> Step {
        let Some(kernel) = &self.kernel else { return Ok(()) };
        if kernel.is_committing() || kernel.open_len() == 0 {
            // Decisions that change nothing are told without a commit.
            return Ok(());
        }
        self.boundary("crash before a batch is taken")?;
        let Some(items) = self.kernel.as_mut().and_then(adjourn_kernel::Kernel::submit) else {
            return Ok(());
        };
        self.boundary("crash before a batch is written")?;
        self.start_early(&items)?;
        let fate = self.draw_fate();
        let fate = self.put_right_first(fate);
        let items = self.plant_gap(items);
        let items = self.plant_double_answer(items);
        self.counts.add("commits");
        let is_slow =
            !self.is_calm && self.plan.faults.slow > 0 && self.random.once_in(self.plan.faults.slow);
        let delay = if is_slow { 3000 } else { 1 + self.draw_delay(4) };
        self.committing = Some(Committing { items, fate });
        match fate {
            Fate::FailsAtOnce | Fate::NotTried => self.inside(0, Inside::Synced),
            Fate::Synced | Fate::FailsToSync | Fate::Unresolved => self.inside(delay, Inside::Written),
        }
        Ok(())
    }

    fn draw_fate(&mut self) -> Fate {
        if self.plan.bug == Some(Bug::BringsRefusedBack) && !self.is_calm && self.random.once_in(4) {
            return Fate::FailsToSync;
        }
        let often = self.plan.faults.commit;
        if self.is_disk_full() {
            return Fate::FailsAtOnce;
        }
        if self.is_calm || often == 0 || !self.random.once_in(often) {
            return Fate::Synced;
        }
        if self.random.once_in(2) {
            self.counts.add("fault: a commit fails at once");
            Fate::FailsAtOnce
        } else if self.random.once_in(3) {
            self.counts.add("fault: a sync fails, and the log cannot be put right");
            Fate::Unresolved
        } else {
            self.counts.add("fault: a sync fails");
            Fate::FailsToSync
        }
    }

    /// While the log is not put right, every commit is refused.
    fn put_right_first(&mut self, fate: Fate) -> Fate {
        if self.left_behind.is_none() || self.plan.bug == Some(Bug::BringsRefusedBack) {
            return fate;
        }
        if self.is_calm || self.random.once_in(3) {
            self.left_behind = None;
            return fate;
        }
        Fate::NotTried
    }

    pub(super) fn written(&mut self) -> Step {
        let Some(committing) = &self.committing else { return Ok(()) };
        // It is written over.
        self.left_behind = None;
        self.watch.written_again(&committing.items);
        self.disk.write(&committing.items);
        self.boundary("crash between write and sync")?;
        let delay = self.draw_delay(4);
        self.inside(delay, Inside::Synced);
        Ok(())
    }

    pub(super) fn synced(&mut self) -> Step {
        let Some(committing) = self.committing.take() else { return Ok(()) };
        let Committing { items, fate } = committing;
        let outcome = match fate {
            Fate::Synced => self.disk.sync(),
            Fate::FailsAtOnce | Fate::FailsToSync => {
                self.disk.discard();
                self.watch.commit_failed();
                self.watch.refused(&items);
                if fate == Fate::FailsToSync && self.plan.bug == Some(Bug::BringsRefusedBack) {
                    self.left_behind = Some(items);
                }
                Err(Self::failed())
            }
            Fate::Unresolved => {
                self.disk.discard();
                self.watch.commit_failed();
                self.left_behind = Some(items);
                Err(Self::unresolved())
            }
            Fate::NotTried => {
                self.watch.commit_failed();
                Err(Self::unresolved())
            }
        };
        self.log(|| format!("  committed: {}", told(&outcome)));
        self.boundary("crash between sync and settle")?;
        self.notice()?;
        let now = self.now();
        if let Some(kernel) = &mut self.kernel {
            self.watch.saw_time(now.wall);
            kernel.look(now);
            kernel.settle(outcome);
        }
        self.boundary("crash before anybody is told")
    }

    /// Reads what is new in the journal.
    pub(super) fn notice(&mut self) -> Result<(), crate::report::Violation> {
        let visible = self.disk.visible();
        let (news, of_roundtables) = self.mirror.catch_up(visible.as_ref())?;
        self.watch.committed(&news, &self.mirror, self.time_ms, &mut self.counts)?;
        for one in &news {
            self.log(|| format!("  journal: {} {:?}", one.run_id, one.events));
            self.notice_questions(one);
        }
        for one in &of_roundtables {
            self.log(|| format!("  journal: {} {:?}", one.id, one.events));
            self.watch.roundtable_committed(one, &self.mirror, visible.as_ref(), &mut self.counts)?;
            self.notice_roundtable(one);
        }
        Ok(())
    }

    /// [`Bug::SkipsFrame`].
    fn plant_gap(&mut self, items: Arc<[Item]>) -> Arc<[Item]> {
        if self.plan.bug != Some(Bug::SkipsFrame) || !self.random.once_in(4) {
            return items;
        }
        let skip = |item: &Item| {
            let Ok(mut record) = Record::<Event>::of(&entry_of(item)) else { return item.clone() };
            record.place.frame += 1;
            let payload = serde_json::to_vec(&record).expect("a record is plain data");
            Item { payload, last_frame: item.last_frame + 1, ..item.clone() }
        };
        items.iter().map(skip).collect()
    }

    /// [`Bug::RecordsAnswerTwice`].
    fn plant_double_answer(&self, items: Arc<[Item]>) -> Arc<[Item]> {
        if self.plan.bug != Some(Bug::RecordsAnswerTwice) {
            return items;
        }
        let twice = |item: &Item| {
            let Ok(mut record) = Record::<RoundtableEvent>::of(&entry_of(item)) else { return item.clone() };
            let is_answer = |event: &RoundtableEvent| matches!(event, RoundtableEvent::AnswerRecorded { .. });
            let Some(place) = record.events.iter().position(is_answer) else { return item.clone() };
            record.events.insert(place, record.events[place].clone());
            let payload = serde_json::to_vec(&record).expect("a record is plain data");
            Item { payload, events: item.events + 1, ..item.clone() }
        };
        items.iter().map(twice).collect()
    }

    /// [`Bug::StartsBeforeCommit`].
    fn start_early(&mut self, items: &[Item]) -> Step {
        if self.plan.bug != Some(Bug::StartsBeforeCommit) {
            return Ok(());
        }
        for item in items {
            let Ok(record) = Record::<Event>::of(&entry_of(item)) else { continue };
            let starts = record.events.iter().any(|event| matches!(event, Event::TurnStarted { .. }));
            let adjourn_core::StreamId::Run(run_id) = item.stream else { continue };
            if starts && let Some(run) = self.mirror.after(run_id, item) {
                self.carry_out(adjourn_kernel::Effect::StartTurn(Arc::new(run)))?;
            }
        }
        Ok(())
    }

    /// [`Bug::LosesReply`]: the answer is told, and nothing happens.
    pub(super) fn lies_about(&mut self, ticket: &Ticket) -> bool {
        if self.plan.bug != Some(Bug::LosesReply) || !matches!(ticket.command, Command::Reply(_)) {
            return false;
        }
        let open = match (&ticket.command, self.mirror.runs.get(&ticket.run_id)) {
            (Command::Reply(reply), Some(run)) => {
                run.interaction(reply.interaction_id).is_some_and(adjourn_core::Interaction::is_open)
            }
            _ => false,
        };
        if open && self.random.once_in(2) {
            self.watch.reply_acknowledged(ticket);
            return true;
        }
        false
    }
}

fn told(outcome: &Result<Vec<adjourn_store::Outcome>, Error>) -> String {
    match outcome {
        Ok(outcomes) => format!("{outcomes:?}"),
        Err(error) => error.to_string(),
    }
}
