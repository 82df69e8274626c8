//! Whom a command talks to.
//!
//! A server that was named; else the owner of the data directory; else the command becomes the owner itself, or starts one.
//! Owners come and go: two commands that start at once both want to be it, and the one that is too late talks to the
//! other. So it is looked until one of these is so.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use adjourn_runtime::Service;
use adjourn_server::{Door, SOCKET_FILE, Server, connect_socket};
use adjourn_store::Error;
use anyhow::anyhow;
use tokio_util::sync::CancellationToken;

use super::owner::Owner;
use super::remote::Remote;
use super::transport::Transport;
use crate::background;
use crate::data::Global;

/// How long an owner may be there without answering: it opens its journal first and its socket then, and closes them the
/// other way round.
const OWNER_ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// How often it is looked meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a command is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Look only. Nothing is driven, and the owner is not asked.
    Reads,
    /// Work, here if nobody else owns the data directory.
    Works,
    /// Leave work to somebody who stays.
    Leaves,
}

pub(super) async fn find(global: &Global, role: Role) -> anyhow::Result<Transport> {
    if let Some(url) = &global.server {
        return Ok(Transport::Url(Remote::new(url)?));
    }
    match role {
        Role::Reads => reading(global),
        Role::Works => working(global).await,
        Role::Leaves => match answering(&global.data).await {
            Some(socket) => Ok(Transport::Socket(socket)),
            None => {
                background::start(global).await?;
                Ok(Transport::Socket(global.data.join(SOCKET_FILE)))
            }
        },
    }
}

fn reading(global: &Global) -> anyhow::Result<Transport> {
    global.check_there()?;
    let service = Service::open_reader(&global.data)?;
    let server = Server::new(service, CancellationToken::new());
    Ok(Transport::Reading(server.router(Door::Socket)))
}

async fn working(global: &Global) -> anyhow::Result<Transport> {
    let began = Instant::now();
    let mut config = None;
    loop {
        if let Some(socket) = answering(&global.data).await {
            return Ok(Transport::Socket(socket));
        }
        let config = match &mut config {
            Some(config) => config,
            none => {
                let config = global.config()?;
                global.protect_data(|said| anstream::eprintln!("{said}"))?;
                none.insert(config)
            }
        };
        match Owner::open(&global.data, config.clone()) {
            Ok(owner) => return Ok(Transport::Here(Box::new(owner))),
            Err(error @ Error::Owned { .. }) if began.elapsed() > OWNER_ANSWERS_WITHIN => {
                return Err(anyhow!("{error}\nand it does not answer: wait until it is done, or end it"));
            }
            Err(Error::Owned { .. }) => tokio::time::sleep(LOOK_EVERY).await,
            Err(error) => return Err(error.into()),
        }
    }
}

/// The socket of a data directory, if somebody answers there.
pub(crate) async fn answering(data_dir: &Path) -> Option<PathBuf> {
    let socket = data_dir.join(SOCKET_FILE);
    connect_socket(&socket).await.ok().map(|_| socket)
}
