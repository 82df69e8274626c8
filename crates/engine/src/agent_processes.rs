//! Which processes belong to agents: the question behind every door that is for people only.
//!
//! An engine [registers](AgentProcesses::register) the supervisor of each agent that it starts. Everything below a registered
//! supervisor is the agent of that run, whatever it did to its name, group or session: the supervisor adopts what its agent
//! leaves behind. Everything else that this process started (tool servers, a supervisor in the moment before it is
//! registered) belongs to no run, but is no person either.
//!
//! A process is told by its number and start time, so that a number which was given away again says nothing. There is
//! nothing to unregister: an entry counts for as long as the kernel knows that very process.
//!
//! All of this reads `/proc`. Elsewhere than on Linux the answer is [`Lineage::Unknown`].

mod proc_files;
mod sockets;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use adjourn_core::{Process, RunId};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout_at};

pub use proc_files::process_with_id;
use proc_files::{parent_of, process_of};
use sockets::Snapshots;

/// Refused attempts that may wait to be written down. More at once say nothing new.
const ATTEMPTS_MAX: usize = 256;

/// How long an agent may be at work before its supervisor is registered. It takes microseconds, unless the machine is very
/// busy.
const REGISTERED_WITHIN: Duration = Duration::from_secs(2);

/// Parents that are looked at. A chain of processes this long is no person's shell.
const ANCESTORS_MAX: usize = 256;

/// Whose process something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lineage {
    /// It was not started by this process, nor by anything that this process started.
    NotOurs,
    /// It belongs to the agent of this run.
    Agent(RunId),
    /// This process started it, directly or not, but it belongs to no run that is known: a tool server, or an agent that is
    /// just being started.
    Unregistered,
    /// Cannot be found out. Treat it like an agent.
    Unknown,
}

/// Something that an agent tried and was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedAttempt {
    /// The run that the agent works for.
    pub run_id: RunId,
    /// What it tried, in words for people.
    pub what: String,
}

/// The agents that this process started. Cheap to clone; all clones are the same registry.
#[derive(Debug, Clone)]
pub struct AgentProcesses(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    supervisors: Mutex<Vec<(Process, RunId)>>,
    /// Told of each supervisor that is registered.
    registrations: Notify,
    snapshots: Snapshots,
    attempts: mpsc::Sender<RefusedAttempt>,
    unread_attempts: Mutex<Option<mpsc::Receiver<RefusedAttempt>>>,
}

impl Default for AgentProcesses {
    fn default() -> Self {
        let (attempts, unread) = mpsc::channel(ATTEMPTS_MAX);
        Self(Arc::new(Shared {
            supervisors: Mutex::default(),
            registrations: Notify::new(),
            snapshots: Snapshots::default(),
            attempts,
            unread_attempts: Mutex::new(Some(unread)),
        }))
    }
}

impl AgentProcesses {
    /// Everything below `supervisor` is the agent of `run_id` from now on, for as long as that process is there.
    pub fn register(&self, run_id: RunId, supervisor: Process) {
        self.supervisors().push((supervisor, run_id));
        self.0.registrations.notify_waiters();
    }

    /// Whose process this is.
    pub fn lineage_of_process(&self, pid: u32) -> Lineage {
        if !cfg!(target_os = "linux") {
            return Lineage::Unknown;
        }
        let registered = self.registered();
        let own = std::process::id();
        let mut at = pid;
        for _ in 0..ANCESTORS_MAX {
            let Some((process, parent)) = parent_of(at) else { return Lineage::Unknown };
            if let Some([run_id, ..]) = registered.get(&process).map(Vec::as_slice) {
                return Lineage::Agent(*run_id);
            }
            match parent {
                _ if at == own && pid != own => return Lineage::Unregistered,
                0 => return Lineage::NotOurs,
                parent => at = parent,
            }
        }
        Lineage::Unknown
    }

    /// Whose socket this is: the one that the kernel lists under this inode, of a process of the user `uid`.
    ///
    /// It reads the open files of many processes, so it takes some milliseconds while agents run. Callers at the same time
    /// share one look.
    pub async fn lineage_of_socket(&self, inode: u64, uid: u32) -> Lineage {
        self.0.snapshots.lineage(self, inode, uid).await
    }

    /// Whose socket this is, by a look at the processes below this one only: cheaper, but a socket that is in none of them is
    /// [not ours](Lineage::NotOurs), wherever it may be. An agent that was just started is waited for until it is registered.
    pub async fn lineage_of_agent_socket(&self, inode: u64) -> Lineage {
        let deadline = Instant::now() + REGISTERED_WITHIN;
        loop {
            // Before the look, so that nothing is missed in between.
            let registered = self.0.registrations.notified();
            match self.0.snapshots.agent_lineage(self, inode).await {
                Lineage::Unregistered => {}
                known @ (Lineage::Agent(_) | Lineage::NotOurs | Lineage::Unknown) => return known,
            }
            if timeout_at(deadline, registered).await.is_err() {
                return Lineage::Unregistered;
            }
        }
    }

    /// Whether a socket belongs to a process below a supervisor of this run.
    pub async fn owns_socket(&self, run_id: RunId, inode: u64) -> bool {
        self.0.snapshots.is_of(self, run_id, inode).await
    }

    /// Has a refused attempt written down in the journal of the run whose agent made it.
    pub fn report(&self, attempt: RefusedAttempt) {
        // One of very many is left out: the journal takes no more than the first few anyway.
        let _ = self.0.attempts.try_send(attempt);
    }

    /// The refused attempts, for the one who writes them down; none if somebody else has them already.
    pub fn refused_attempts(&self) -> Option<mpsc::Receiver<RefusedAttempt>> {
        self.0.unread_attempts.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    #[cfg(test)]
    fn count(&self) -> usize {
        self.supervisors().len()
    }

    fn supervisors(&self) -> MutexGuard<'_, Vec<(Process, RunId)>> {
        // Nothing panics while it holds the list; if something did, it would still be a list.
        self.0.supervisors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The runs of each supervisor. It is one, unless somebody plays the agent of several.
    fn registered(&self) -> HashMap<Process, Vec<RunId>> {
        let mut registered: HashMap<Process, Vec<RunId>> = HashMap::new();
        let mut supervisors = self.supervisors();
        // Those that are gone are forgotten. Where processes cannot be told apart none of them is found.
        supervisors.retain(|(process, _)| process_of(process.pid) == Some(*process));
        for (process, run_id) in supervisors.iter() {
            registered.entry(*process).or_default().push(*run_id);
        }
        registered
    }
}

#[cfg(test)]
mod tests;
