//! Making room: an owner in the background that has no turn going on ends for somebody who has to own the data directory itself.

use std::time::{Duration, Instant};

use adjourn_core::RunStatus;
use adjourn_store::{RunFilter, SqliteStore, Store, UNNAMED_OWNER as UNNAMED};
use rustix::process::{Pid, Signal, kill_process};

use crate::data::Global;

/// How often it is looked whether it is gone.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long it may take to end. Nothing keeps it but what it began just then.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// How long an owner may take to write down who it is, once it has the lock.
const NAMES_ITSELF_WITHIN: Duration = Duration::from_secs(1);

/// The wish that the owner ends.
pub(crate) struct MakeRoom<'g> {
    global: &'g Global,
    began: Instant,
    /// Who was told already: told twice, it would cut off what it began just then.
    told: Option<Pid>,
}

impl<'g> MakeRoom<'g> {
    pub(crate) fn new(global: &'g Global) -> Self {
        Self { global, began: Instant::now(), told: None }
    }

    /// Whether anybody was told to end.
    pub(crate) fn is_told(&self) -> bool {
        self.told.is_some()
    }

    /// Tells the owner, as the lock describes it, to end; whether it is worth to look again.
    pub(crate) fn asks(&mut self, owner: &str) -> bool {
        if owner == UNNAMED {
            return self.began.elapsed() < NAMES_ITSELF_WITHIN;
        }
        let Some(pid) = in_background(owner) else { return false };
        if self.began.elapsed() > ENDS_WITHIN {
            return false;
        }
        if self.told == Some(pid) {
            return true;
        }
        // What waits, also for a slot or an engine, is in the journal, and the next owner sees to it. A journal that cannot be
        // read is no reason to keep those out who look what is wrong with it.
        let has_turns = self.has_turns().unwrap_or(false);
        if !has_turns && kill_process(pid, Signal::TERM).is_ok() {
            self.told = Some(pid);
        }
        !has_turns
    }

    fn has_turns(&self) -> Result<bool, adjourn_store::Error> {
        let running = RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() };
        Ok(!SqliteStore::open_reader(&self.global.data)?.runs(&running, 1)?.is_empty())
    }
}

/// The owner's number, if it is one in the background.
fn in_background(owner: &str) -> Option<Pid> {
    let (pid, _) = owner.strip_prefix("process ")?.split_once(" (adjourn background) ")?;
    Pid::from_raw(pid.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::in_background;

    #[test]
    fn only_an_owner_in_the_background_is_told_to_end() {
        let pid = in_background("process 17 (adjourn background) since 2026-01-01T00:00:00.000Z");
        assert_eq!(pid.map(|pid| pid.as_raw_nonzero().get()), Some(17));
        for other in
            ["process 17 (adjourn serve) since x", "process 17 (adjourn run) since x", "", "process x"]
        {
            assert_eq!(in_background(other), None, "{other}");
        }
    }
}
