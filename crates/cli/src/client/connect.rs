//! Whom a command talks to.
//!
//! A server that was named; else the owner of the data directory; else an owner in the background, which is started, so that
//! nothing that happens to this command changes a turn that goes on. Owners come and go: two commands that start at once both
//! start one, and the one that is too late leaves it to the other.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use adjourn_runtime::Service;
use adjourn_runtime::config::Config;
use adjourn_server::{Door, SOCKET_FILE, Server, connect_socket};
use adjourn_store::Error;
use anyhow::anyhow;
use tokio_util::sync::CancellationToken;

use super::owner::Owner;
use super::remote::Remote;
use super::transport::Transport;
use crate::background;
use crate::data::Global;
use crate::exit::wrong_use;
use crate::make_room::MakeRoom;
use crate::style::{self, styled};
use crate::text::clean;

/// The variable that has a command own the data directory itself where nobody else does, for machines on which no process may
/// outlive the command.
const FOREGROUND_VARIABLE: &str = "ADJOURN_FOREGROUND";

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
    /// Work, and watch.
    Works,
    /// Leave work to somebody who stays.
    Leaves,
}

pub(super) async fn find(global: &Global, role: Role) -> anyhow::Result<Transport> {
    if let Some(url) = &global.server {
        return Ok(Transport::Url(Remote::new(url)?));
    }
    if role == Role::Reads {
        return reading(global);
    }
    if let Some(socket) = answering(&global.data).await
        && !ends_for_new_config(global).await
    {
        return Ok(Transport::Socket(socket));
    }
    // Whether it is trusted is asked here, where there may be a terminal.
    let config = global.config()?;
    global.protect_data(|said| anstream::eprintln!("{said}"))?;
    if role == Role::Works && is_in_foreground()? {
        return owning(global, &config).await;
    }
    match (background::start(global).await, role) {
        (Ok(()), _) => Ok(Transport::Socket(global.data.join(SOCKET_FILE))),
        (Err(error), Role::Leaves | Role::Reads) => Err(error),
        (Err(error), Role::Works) => {
            // What is wrong with the directory itself is said by whoever opens it.
            let owning = owning(global, &config).await?;
            anstream::eprintln!(
                "{} what is started here ends with this command: {}",
                styled(style::ODD, "warning:"),
                clean(&format!("{error:#}"))
            );
            Ok(owning)
        }
    }
}

/// Whether the command is to own the data directory itself.
fn is_in_foreground() -> anyhow::Result<bool> {
    match std::env::var_os(FOREGROUND_VARIABLE) {
        None => Ok(false),
        Some(value) if value == "1" => Ok(true),
        Some(value) if value == "0" || value.is_empty() => Ok(false),
        Some(value) => Err(wrong_use(format!(
            "{FOREGROUND_VARIABLE} is `{}`: it should be 1 or 0",
            value.to_string_lossy()
        ))),
    }
}

/// Whether the owner is gone, because the configuration that counts now is not the one that it was started with. An owner in the
/// background ends for that, unless a turn goes on: then a warning says that it keeps its configuration.
async fn ends_for_new_config(global: &Global) -> bool {
    let names_other = global.names_other_config();
    if names_other {
        global.remember_config();
    }
    if !names_other && !global.config_changed_under_background_owner() {
        return false;
    }
    let mut room = MakeRoom::new(global);
    loop {
        let owner = adjourn_store::owner(&global.data);
        // Another command that saw the change was faster, and its owner has the new configuration.
        if room.is_replaced_by(&owner) {
            return false;
        }
        if !room.asks(&owner) {
            break;
        }
        if answering(&global.data).await.is_none() {
            return true;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    anstream::eprintln!(
        "{} the owner of {} is at work, and keeps the configuration that it was started with until it ends",
        styled(style::ODD, "warning:"),
        clean(&global.data.display().to_string())
    );
    false
}

fn reading(global: &Global) -> anyhow::Result<Transport> {
    global.check_there()?;
    let service = Service::open_reader(&global.data, global.config_without_trust().ok())?;
    let server = Server::new(service, CancellationToken::new());
    Ok(Transport::Reading(server.router(Door::Socket)))
}

/// This process as the owner, or somebody who is it first.
async fn owning(global: &Global, config: &Config) -> anyhow::Result<Transport> {
    let began = Instant::now();
    loop {
        match Owner::open(&global.data, config.clone()) {
            Ok(owner) => {
                global.remember_config();
                return Ok(Transport::Here(Box::new(owner)));
            }
            Err(error @ Error::Owned { .. }) if began.elapsed() > OWNER_ANSWERS_WITHIN => {
                return Err(anyhow!("{error}\nand it does not answer: wait until it is done, or end it"));
            }
            Err(Error::Owned { .. }) => tokio::time::sleep(LOOK_EVERY).await,
            Err(error) => return Err(error.into()),
        }
        if let Some(socket) = answering(&global.data).await {
            return Ok(Transport::Socket(socket));
        }
    }
}

/// The socket of a data directory, if somebody answers there.
pub(crate) async fn answering(data_dir: &Path) -> Option<PathBuf> {
    let socket = data_dir.join(SOCKET_FILE);
    connect_socket(&socket).await.ok().map(|_| socket)
}
