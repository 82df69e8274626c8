//! Strays: processes of a program whose supervisor was killed before it could end them.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::process;

/// How long killed processes may take to vanish. Only the kernel can delay that, in a disk or network call.
const KILLED_MAX: Duration = Duration::from_secs(5);

const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Kills all descendants of this process that are not below one of `kept`, and waits until they have ended.
pub(super) fn end(kept: &[Pid]) {
    let until = Instant::now() + KILLED_MAX;
    let is_kept = |pid: u32| process::pid(pid).is_some_and(|pid| kept.contains(&pid));
    while Instant::now() < until {
        let strays = process::descendants_except(std::process::id(), is_kept);
        if strays.is_empty() {
            return;
        }
        for stray in strays {
            process::signal(stray, Signal::KILL);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
