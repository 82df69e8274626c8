//! An owner in the background: it has no port, and ends by itself when nothing can go on without a person.

use std::path::{Path, PathBuf};
use std::time::Duration;

use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use tracing::warn;

use crate::serve::connection::Connections;
use crate::serve::drain::{Ending, drained};
use crate::serve::error::Error;
use crate::serve::listen::Socket;
use crate::serve::{ended, serving_socket};
use crate::webhooks::Webhooks;

/// How long nothing has to go on, and nobody be connected, before the owner ends. Whoever started it is about to ask something
/// of it, and the next command of a script finds it.
const IDLE_FOR: Duration = Duration::from_secs(1);

/// How often it is looked whether the data directory is still there.
const LOOK_EVERY: Duration = Duration::from_secs(2);

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
    let webhooks = config.webhooks.as_ref().and_then(|webhooks| {
        // Whoever started a run meant the run. What cannot be told from here stays in the journal.
        let refused = |error| warn!(%error, "webhooks are left to the next owner");
        Webhooks::new(webhooks).map_err(refused).ok()
    });
    let (service, threads) = Service::open(&data_dir, config)?;
    let told = ending.now.child_token();
    let telling = match webhooks {
        Some(_) => Telling::Here,
        None => Telling::Elsewhere,
    };
    let deliveries = webhooks.map(|webhooks| tokio::spawn(webhooks.deliver(service.clone(), told.clone())));
    while !ending.soon.is_cancelled() && !ending.now.is_cancelled() {
        let doors = ending.now.child_token();
        let socket = Socket::bind(&data_dir)?;
        let (serving, connections) = serving_socket(service.clone(), socket, doors.clone())?;
        let over = async {
            tokio::select! {
                idle = idle(&service, telling, &connections) => idle,
                () = drained(&service, &ending, grace) => Ok(()),
                () = removed(&data_dir) => Ok(()),
            }
        };
        let (served, over) = tokio::join!(serving, async {
            let over = over.await;
            doors.cancel();
            over
        });
        served?;
        over?;
        // Something may have come in just before the doors were closed, from somebody who is gone by now.
        if !data_dir.is_dir() || !service.journal().can_go_on()? {
            break;
        }
    }
    told.cancel();
    if let Some(deliveries) = deliveries {
        // One that panicked told nothing more, and what it did not is in the journal.
        let _ = deliveries.await;
    }
    drop(service);
    ended(threads).await;
    Ok(())
}

/// Waits until somebody removed the data directory: nobody will ever see what an owner does then.
async fn removed(data_dir: &Path) {
    while data_dir.is_dir() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Who tells others what happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// This owner.
    Here,
    /// Nobody, or the next one.
    Elsewhere,
}

/// Waits until nothing has been able to go on for a while, and nobody was there.
async fn idle(service: &Service, telling: Telling, connections: &Connections) -> Result<(), Error> {
    let mut commits = service.journal().watch();
    loop {
        commits.mark_unchanged();
        let journal = service.journal();
        let looked = tokio::task::spawn_blocking(move || -> Result<_, adjourn_store::Error> {
            let is_untold = telling == Telling::Here && journal.has_untried_notice()?;
            Ok((journal.can_go_on()?, is_untold))
        });
        let (can_go_on, is_untold) = looked.await.map_err(std::io::Error::other)??;
        let changed = match can_go_on {
            true => Ok(commits.changed().await),
            false => tokio::time::timeout(IDLE_FOR, commits.changed()).await,
        };
        match changed {
            Ok(Ok(())) => {}
            // That something was told, or that somebody who watched is gone, is no commit.
            Err(_) if is_untold || connections.are_open() => {}
            Ok(Err(_)) | Err(_) => return Ok(()),
        }
    }
}
