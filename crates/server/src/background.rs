//! An owner in the background: it has no port, and ends by itself when nothing can go on without a person.

use std::path::PathBuf;
use std::time::Duration;

use adjourn_core::RunStatus;
use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_store::{RunFilter, Store};

use crate::drain::{Ending, drained};
use crate::error::Error;
use crate::listen::Socket;
use crate::serve::{ended, serve_socket};

/// How long nothing has to go on before the owner ends. Whoever started it is about to ask something of it, and a person
/// who answers one question may answer the next.
const IDLE_FOR: Duration = Duration::from_secs(3);

/// What an owner in the background needs.
#[derive(Debug, Clone)]
pub struct Background {
    /// The data directory.
    pub data_dir: PathBuf,
    /// The configuration.
    pub config: Config,
    /// How long turns may take to finish when it is told to end.
    pub grace: Duration,
}

/// Owns a data directory, and answers on its socket, until nothing can go on by itself or it is told to end.
pub async fn run_until_idle(options: Background, ending: Ending) -> Result<(), Error> {
    let Background { data_dir, config, grace } = options;
    let (service, threads) = Service::open(&data_dir, config)?;
    while !ending.soon.is_cancelled() && !ending.now.is_cancelled() {
        let doors = ending.now.child_token();
        let over = async {
            tokio::select! {
                idle = idle(&service) => idle,
                () = drained(&service, &ending, grace) => Ok(()),
            }
        };
        let serving = serve_socket(service.clone(), Socket::bind(&data_dir)?, doors.clone());
        let (served, over) = tokio::join!(serving, async {
            let over = over.await;
            doors.cancel();
            over
        });
        served?;
        over?;
        // Something may have come in just before the doors were closed, from somebody who is gone by now.
        if !can_go_on(service.store().as_ref())? {
            break;
        }
    }
    drop(service);
    ended(threads).await;
    Ok(())
}

/// Waits until nothing has been able to go on for a while.
async fn idle(service: &Service) -> Result<(), Error> {
    let mut commits = service.store().watch();
    loop {
        commits.mark_unchanged();
        let store = service.store().clone();
        let can_go_on = tokio::task::spawn_blocking(move || can_go_on(store.as_ref())).await;
        let changed = match can_go_on.map_err(std::io::Error::other)?? {
            true => Ok(commits.changed().await),
            false => tokio::time::timeout(IDLE_FOR, commits.changed()).await,
        };
        match changed {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Ok(()),
        }
    }
}

/// Whether something in a journal goes on, or will, without a person: a run that works or waits for a slot, or a question
/// that is decided when its time is over.
pub fn can_go_on(store: &dyn Store) -> Result<bool, adjourn_store::Error> {
    for status in [RunStatus::Running, RunStatus::Queued] {
        let filter = RunFilter { status: Some(status), ..RunFilter::default() };
        if !store.runs(&filter, 1)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(!store.deadlines(1)?.is_empty())
}
