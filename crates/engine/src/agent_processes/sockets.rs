//! Which process holds a socket, by a look at everybody's open files.
//!
//! That an agent's processes do not list a socket proves little: it may be in a queue between two of them while we look. So a
//! socket is a person's where it is found in a process that is none of ours. Where it is found nowhere, it is only taken for a
//! person's if some process of that user does not show its files (an SSH server with a tunnel is such a one) and every process
//! of every agent does show them, with nothing hidden.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use adjourn_core::{Process, RunId};
use tokio::sync::Mutex;

use super::proc_files::{Hidden, Listed, Sockets, has_children, open_sockets, processes};
use super::{AgentProcesses, Lineage};

/// The last look at all processes, shared by those who asked before it began.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    of_all: Mutex<Option<(Instant, Arc<Snapshot>)>>,
    of_agents: Mutex<Option<(Instant, Arc<Snapshot>)>>,
}

/// The sockets of processes, at one moment.
#[derive(Debug, Default)]
struct Snapshot {
    /// Whose each is. Where several processes have it, an agent counts before a person.
    holders: HashMap<u64, Lineage>,
    /// The supervisor above the process that has it, where there is one.
    supervisors: HashMap<u64, Process>,
    /// A process below this one did not show its files, or may hide some.
    is_ours_hidden: bool,
    /// Users with a process, none of ours, that did not show its files.
    hidden_users: Vec<u32>,
    /// The sockets of this process itself, once somebody asks: it has one for each client, and is hardly ever one.
    own: OnceLock<HashSet<u64>>,
    /// Nothing was below this process: every socket is somebody else's.
    is_childless: bool,
    /// The list of processes could not be read.
    has_failed: bool,
}

impl Snapshot {
    /// Whether this process itself has the socket.
    fn is_own(&self, inode: u64) -> bool {
        let look = || open_sockets(std::process::id(), Hidden::DoNotCare).map(|found| found.inodes);
        self.own.get_or_init(|| look().unwrap_or_default().into_iter().collect()).contains(&inode)
    }
}

/// Which processes are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Those below this process.
    Ours,
    /// Those of all users that can be seen.
    All,
}

impl Snapshots {
    pub(super) async fn lineage(&self, agents: &AgentProcesses, inode: u64, uid: u32) -> Lineage {
        let snapshot = shared(&self.of_all, agents, Scope::All).await;
        match snapshot.holders.get(&inode) {
            None if snapshot.is_childless => Lineage::NotOurs,
            // What is being started has copies of this process's own sockets, until it is another program.
            Some(Lineage::Unregistered) | None if snapshot.is_own(inode) => Lineage::NotOurs,
            Some(lineage) => *lineage,
            None if snapshot.has_failed || snapshot.is_ours_hidden => Lineage::Unknown,
            None if snapshot.hidden_users.contains(&uid) => Lineage::NotOurs,
            None => Lineage::Unknown,
        }
    }

    pub(super) async fn agent_lineage(&self, agents: &AgentProcesses, inode: u64) -> Lineage {
        let snapshot = shared(&self.of_agents, agents, Scope::Ours).await;
        match snapshot.holders.get(&inode) {
            Some(lineage) => *lineage,
            None if snapshot.has_failed => Lineage::Unknown,
            None => Lineage::NotOurs,
        }
    }

    pub(super) async fn is_of(&self, agents: &AgentProcesses, run_id: RunId, inode: u64) -> bool {
        let snapshot = shared(&self.of_agents, agents, Scope::Ours).await;
        let Some(supervisor) = snapshot.supervisors.get(&inode) else { return false };
        agents.registered().get(supervisor).is_some_and(|runs| runs.contains(&run_id))
    }
}

/// A look that began after this was called: one that somebody else waits for, or a new one.
async fn shared(
    last: &Mutex<Option<(Instant, Arc<Snapshot>)>>,
    agents: &AgentProcesses,
    scope: Scope,
) -> Arc<Snapshot> {
    let asked = Instant::now();
    let mut last = last.lock().await;
    if let Some((began, snapshot)) = last.as_ref()
        && *began > asked
    {
        return snapshot.clone();
    }
    let (began, agents) = (Instant::now(), agents.clone());
    let looked = tokio::task::spawn_blocking(move || look(&agents, scope)).await;
    let snapshot = Arc::new(looked.unwrap_or_else(|_| Snapshot { has_failed: true, ..Snapshot::default() }));
    *last = Some((began, snapshot.clone()));
    snapshot
}

fn look(agents: &AgentProcesses, scope: Scope) -> Snapshot {
    let registered = agents.registered();
    if registered.is_empty() && !has_children() {
        return Snapshot { is_childless: true, ..Snapshot::default() };
    }
    let Ok(listed) = processes() else {
        return Snapshot { has_failed: true, ..Snapshot::default() };
    };
    let by_id: HashMap<u32, &Listed> = listed.iter().map(|one| (one.process.pid, one)).collect();
    let own = std::process::id();
    let lineage_of = |one: &Listed| {
        let mut at = one;
        loop {
            if let Some([run_id, ..]) = registered.get(&at.process).map(Vec::as_slice) {
                return (Lineage::Agent(*run_id), Some(at.process));
            }
            if at.process.pid == own {
                let is_itself = one.process.pid == own;
                return (if is_itself { Lineage::NotOurs } else { Lineage::Unregistered }, None);
            }
            match by_id.get(&at.parent) {
                // A list is read while processes come and go; one that is its own ancestor is not to be believed.
                Some(parent)
                    if parent.process.pid != at.process.pid && parent.process.pid != one.process.pid =>
                {
                    at = parent;
                }
                Some(_) | None => return (Lineage::NotOurs, None),
            }
        }
    };
    let mut snapshot = Snapshot::default();
    for one in &listed {
        let (lineage, supervisor) = lineage_of(one);
        let is_ours = lineage != Lineage::NotOurs;
        if !is_ours && (scope == Scope::Ours || one.process.pid == own) {
            continue;
        }
        // A supervisor is this program itself and need not show its files; it opens no socket of its own.
        let is_supervisor = registered.contains_key(&one.process);
        let look_for = if is_ours { Hidden::LookFor } else { Hidden::DoNotCare };
        match open_sockets(one.process.pid, look_for) {
            Some(Sockets { inodes, may_hide_some }) => {
                snapshot.is_ours_hidden |= is_ours && may_hide_some;
                for inode in inodes {
                    let holder = snapshot.holders.entry(inode).or_insert(lineage);
                    if is_ours {
                        *holder = lineage;
                        snapshot.supervisors.extend(supervisor.map(|supervisor| (inode, supervisor)));
                    }
                }
            }
            None if is_supervisor => {}
            None if is_ours => snapshot.is_ours_hidden = true,
            None => snapshot.hidden_users.push(one.uid),
        }
    }
    snapshot
}
