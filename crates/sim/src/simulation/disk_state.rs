//! A disk that fills up: first below its reserve, which the kernel is told, and sometimes to the end, so that commits fail.

use adjourn_kernel::{DiskSpace, Room};

use super::{Inside, Simulation, Todo};
use crate::bug::Bug;

/// What is left of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiskState {
    /// More than its reserve.
    Roomy,
    /// Less than its reserve, and enough for what goes on.
    BelowReserve,
    /// Nothing.
    Full,
}

impl DiskState {
    fn room(self) -> Room {
        match self {
            Self::Roomy => Room::Enough,
            Self::BelowReserve => Room::BelowReserve(DiskSpace { free_bytes: 1, reserve_bytes: 2 }),
            Self::Full => Room::BelowReserve(DiskSpace { free_bytes: 0, reserve_bytes: 2 }),
        }
    }
}

impl Simulation {
    /// Lets the disk fill up by chance, and has somebody make room a while later.
    pub(super) fn fill_disk(&mut self) {
        let often = self.plan.faults.disk;
        if often == 0 || self.disk_state != DiskState::Roomy || !self.random.once_in(often) {
            return;
        }
        self.counts.add("fault: the disk falls below its reserve");
        self.disk_changes(DiskState::BelowReserve);
        let mut delay = 10_000 + self.draw_delay(60_000);
        if self.random.once_in(2) {
            self.later(delay, Todo::DiskChanges(DiskState::Full));
            delay += self.draw_delay(30_000);
        }
        self.later(delay, Todo::DiskChanges(DiskState::Roomy));
    }

    pub(super) fn disk_changes(&mut self, state: DiskState) {
        // After the faults have stopped, room that was made stays.
        self.disk_state = if self.is_calm { DiskState::Roomy } else { state };
        if state == DiskState::Full {
            self.counts.add("fault: the disk is full");
        }
        // It is looked at about once a second.
        let delay = self.draw_delay(1000);
        self.inside(delay, Inside::DiskLooked);
    }

    pub(super) fn is_disk_full(&self) -> bool {
        self.disk_state == DiskState::Full
    }

    /// Tells the kernel how much room there is.
    pub(super) fn tell_room(&mut self) {
        let room = self.disk_state.room();
        self.watch.told_room(room, self.time_ms);
        let is_kept_from_it = match room {
            Room::Enough => self.plan.bug == Some(Bug::ForgetsThatThereIsRoom),
            Room::BelowReserve(_) => self.plan.bug == Some(Bug::FillsTheDisk),
        };
        if let Some(kernel) = &mut self.kernel
            && !is_kept_from_it
        {
            kernel.set_room(room);
        }
    }
}
