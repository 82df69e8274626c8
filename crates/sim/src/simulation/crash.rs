//! Crashes: everything in memory is gone, and what the disk kept is where it begins again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use adjourn_kernel::{Kernel, Slots};

use super::{Simulation, Todo};
use crate::bug::Bug;
use crate::flaky::FlakyStore;
use crate::memory::Unsynced;
use crate::report::{Step, Violation};

impl Simulation {
    pub(super) fn crash(&mut self, unsynced: Unsynced) -> Result<(), Violation> {
        self.log(|| format!("crash: what was not synced is {unsynced:?}"));
        self.counts.add("crashes");
        self.kernel = None;
        self.committing = None;
        self.wakes_at_ms = None;
        self.failing_reads.store(0, Ordering::Relaxed);
        self.engines.crash();
        self.agenda.retain(|_, todo| !matches!(todo, Todo::Inside(_) | Todo::Wake));
        let lost = std::mem::take(&mut self.outstanding);
        let lost_by_roundtables = self.roundtables.crash();
        if let (Some(items), Unsynced::Kept) = (self.left_behind.take(), unsynced) {
            self.counts.add("crashes that brought an unresolved commit back");
            self.disk.write(&items);
            self.watch.commit_came_back(self.time_ms);
        }
        self.disk.crash(unsynced);
        self.watch.refused_stays_away(self.disk.durable().as_ref())?;
        self.mirror.is_prefix_of(self.disk.durable().as_ref())?;
        self.notice()?;
        self.watch.crashed(&self.mirror);
        self.mirror.roundtables.given_up.clear();
        for ticket in lost.into_values() {
            self.unheard(ticket);
        }
        for ticket in lost_by_roundtables {
            self.unheard_of_roundtable(ticket);
        }
        let delay = 50 + self.draw_delay(3000);
        self.later(delay, Todo::Restart);
        Ok(())
    }

    pub(super) fn restart(&mut self) -> Step {
        if self.kernel.is_some() {
            return Ok(());
        }
        self.prune()?;
        let store = FlakyStore::with(self.disk.visible(), self.failing_reads.clone(), self.plan.bug);
        let mut slots: Slots = self.plan.slots.clone();
        if self.plan.bug == Some(Bug::OneSlotTooMany) {
            slots.total += 1;
        }
        self.starts += 1;
        let now = self.now();
        match Kernel::with_warm_max(Arc::new(store), slots, now, self.plan.warm_max) {
            Ok(kernel) => {
                self.kernel = Some(kernel);
                self.watch.restarted(now.wall);
                self.tell_room();
            }
            Err(_) => self.later(500, Todo::Restart),
        }
        Ok(())
    }
}
