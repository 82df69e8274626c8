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

/// A request to the background owner of a data directory to end, and what became of it.
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

    /// Whether the owner that was told has ended and `owner` took its place.
    pub(crate) fn is_replaced_by(&self, owner: &str) -> bool {
        self.told.is_some_and(|told| background_owner(owner).is_some_and(|pid| pid != told))
    }

    /// Tells the owner, as the lock describes it, to end; whether it is worth to look again.
    pub(crate) fn asks(&mut self, owner: &str) -> bool {
        if owner == UNNAMED {
            return self.began.elapsed() < NAMES_ITSELF_WITHIN;
        }
        let Some(pid) = background_owner(owner) else { return false };
        if self.began.elapsed() > ENDS_WITHIN {
            return false;
        }
        if self.told == Some(pid) {
            return true;
        }
        // What waits, also for a slot or an engine, is in the journal, and the next owner sees to it. A journal that cannot be
        // read is no reason to keep those out who look what is wrong with it.
        let has_turns = self.has_turns().unwrap_or(false);
        if has_turns || !runs_background(pid) {
            return false;
        }
        if kill_process(pid, Signal::TERM).is_ok() {
            self.told = Some(pid);
        }
        true
    }

    fn has_turns(&self) -> Result<bool, adjourn_store::Error> {
        let running = RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() };
        Ok(!SqliteStore::open_reader(&self.global.data)?.runs(&running, 1)?.is_empty())
    }
}

/// The process id of an owner, as the lock describes it, if it is one in the background. The program may have any name.
pub(crate) fn background_owner(owner: &str) -> Option<Pid> {
    let (pid, rest) = owner.strip_prefix("process ")?.split_once(" (")?;
    let (command, _) = rest.split_once(") since ")?;
    let pid = Pid::from_raw(pid.parse().ok()?)?;
    command.ends_with(" background").then_some(pid)
}

/// Whether a process is a background owner by its command line. The lock file is a file that others may have written, and no
/// foreign process is ended because of what it says. Where command lines cannot be read, the lock file is believed.
fn runs_background(pid: Pid) -> bool {
    match std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())) {
        Ok(line) => line.split(|byte| *byte == 0).skip(1).any(|word| word == b"background"),
        Err(_) => !std::path::Path::new("/proc/self/cmdline").exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::background_owner;

    #[test]
    fn only_an_owner_in_the_background_is_told_to_end() {
        for program in ["adjourn", "adjourn-1.2", "my tool"] {
            let pid = background_owner(&format!(
                "process 17 ({program} background) since 2026-01-01T00:00:00.000Z"
            ));
            assert_eq!(pid.map(|pid| pid.as_raw_nonzero().get()), Some(17), "{program}");
        }
        for other in
            ["process 17 (adjourn serve) since x", "process 17 (adjourn run) since x", "", "process x"]
        {
            assert_eq!(background_owner(other), None, "{other}");
        }
    }

    #[test]
    fn a_foreign_process_that_a_lock_file_names_is_not_ended() {
        let own = rustix::process::getpid();
        assert!(!super::runs_background(own), "the process of this test is no background owner");
    }
}
