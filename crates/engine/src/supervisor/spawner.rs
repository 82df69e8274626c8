//! One thread that starts all processes.
//!
//! Linux sends the parent-death signal when the *thread* that started a process ends, not when its process does. The
//! threads of an async runtime come and go; this one stays as long as we do.

use std::io;
use std::sync::{OnceLock, mpsc};
use std::thread;

use tokio::process::Command;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::child::Supervised;

type Job = Box<dyn FnOnce() + Send>;

/// Without a bound: each sender waits for its answer, so there are never more jobs than turns that begin.
static JOBS: OnceLock<mpsc::Sender<Job>> = OnceLock::new();

pub(super) async fn spawn(mut command: Command) -> io::Result<Supervised> {
    let runtime = Handle::current();
    let (answer, answered) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _entered = runtime.enter();
        // If nobody waits any more, what was started is dropped here, and so told to end.
        let _ = answer.send(command.spawn().and_then(Supervised::new));
    });
    JOBS.get_or_init(start_thread).send(job).map_err(|_| gone())?;
    answered.await.map_err(|_| gone())?
}

/// If the thread cannot be started its receiver is dropped, and every job is refused.
fn start_thread() -> mpsc::Sender<Job> {
    let (jobs, todo) = mpsc::channel::<Job>();
    let _ = thread::Builder::new().name("adjourn-spawner".to_owned()).spawn(move || {
        for job in todo {
            job();
        }
    });
    jobs
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts processes is gone")
}
