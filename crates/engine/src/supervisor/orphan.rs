//! What an Adjourn that died has left behind.

use std::time::Duration;

use adjourn_core::Process;
use rustix::process::Signal;
use tokio::time::{Instant, sleep};

use super::{END_MAX, process};

/// How long killed processes may take to vanish. Only the kernel can delay that, in a disk or network call.
const KILLED_MAX: Duration = Duration::from_secs(5);

/// How often it is looked whether they are gone.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Waits for the supervisor of a turn that was cut off to end, and with it all that is left of the turn; kills what does not
/// end. It noticed by itself that Adjourn was gone.
///
/// True when it is gone, also when it already was: a process with the same number that started at another time is a
/// stranger, and left alone. False when it could not be ended in time; nothing else may then use its conversation.
///
/// Where processes cannot be told apart (see [`Process::started`]) nothing is ended, and it counts as gone when nobody
/// has its number.
pub async fn end_orphan(orphan: Process) -> bool {
    if !process::CAN_BE_TOLD_APART {
        return !process::is_taken(orphan.pid);
    }
    gone_within(END_MAX, orphan).await || kill_tree(orphan).await
}

/// How often it is looked whether a supervisor was stopped.
const LOOK_FOR_STOPPED: Duration = Duration::from_secs(1);

/// Waits until a supervisor is stopped, as a program without a sandbox can do to it: it then notices nothing any more.
pub(crate) async fn stopped(supervisor: Process) {
    while !process::is_stopped(supervisor) {
        sleep(LOOK_FOR_STOPPED).await;
    }
}

/// Kills everything below `root`, then `root`; true when all is gone.
///
/// In this order, because what is below would otherwise become somebody else's child, and could not be found again.
pub(super) async fn kill_tree(root: Process) -> bool {
    let until = Instant::now() + KILLED_MAX;
    while process::lives(root) && Instant::now() < until {
        let below = process::descendants(root.pid);
        if below.is_empty() {
            break;
        }
        for process in below {
            process::signal(process, Signal::KILL);
        }
        sleep(LOOK_AGAIN).await;
    }
    process::signal(root, Signal::KILL);
    gone_within(KILLED_MAX, root).await
}

/// Kills what is left in the session of a supervisor that was itself killed a moment ago.
///
/// Not for recovery: later the number may have become a stranger's.
pub(super) async fn kill_session(supervisor: Process) {
    let until = Instant::now() + KILLED_MAX;
    while Instant::now() < until {
        let left = process::left_in_session(supervisor.pid);
        if left.is_empty() {
            return;
        }
        for process in left {
            process::signal(process, Signal::KILL);
        }
        sleep(LOOK_AGAIN).await;
    }
}

async fn gone_within(limit: Duration, process: Process) -> bool {
    let until = Instant::now() + limit;
    while process::lives(process) {
        if Instant::now() >= until {
            return false;
        }
        sleep(LOOK_AGAIN).await;
    }
    true
}
