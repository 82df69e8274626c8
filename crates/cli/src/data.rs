//! Opens the data directory: for reading beside whoever works on it, or as its owner.

use std::path::{Path, PathBuf};

use adjourn_core::Timestamp;
use adjourn_runtime::config::Config;
use adjourn_runtime::{Clock, Service, SystemClock};
use adjourn_store::{Error, SqliteStore, Threads};
use anyhow::anyhow;
use clap::Args;

use crate::exit::wrong_use;
use crate::style;
use crate::text::quoted;

/// Where data lives when nobody says otherwise.
pub(crate) const DATA_DEFAULT: &str = ".adjourn";

/// What can be said before any command, and after most.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Where runs are kept
    #[arg(long, value_name = "DIR", env = "ADJOURN_DATA", default_value = DATA_DEFAULT)]
    pub(crate) data: PathBuf,

    /// The configuration, instead of adjourn.toml beside the data directory
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON on stdout, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Global {
    /// The journal, for reading: nothing is driven, and whoever owns the directory goes on.
    pub(crate) fn reader(&self) -> anyhow::Result<SqliteStore> {
        if !self.data.exists() {
            return Err(anyhow!(
                "there is no data directory {}: nothing was run here yet\n`adjourn run` makes one; \
                 --data or $ADJOURN_DATA names another",
                self.data.display()
            ));
        }
        Ok(SqliteStore::open_reader(&self.data)?)
    }

    /// The journal as its owner, without anything being driven.
    pub(crate) fn owner(&self) -> anyhow::Result<SqliteStore> {
        self.reader()?;
        SqliteStore::open(&self.data).map_err(owned)
    }

    /// The configuration. What was hardly meant like this is said.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let config = Config::load(self.config.as_deref(), &self.data).map_err(wrong_use)?;
        for warning in &config.warnings {
            anstream::eprintln!("{} {warning}", style::styled(style::ODD, "warning:"));
        }
        Ok(config)
    }

    /// The data directory at work, with this process as its owner.
    pub(crate) fn service(&self) -> anyhow::Result<(Service, Threads)> {
        Service::open(&self.data, self.config()?).map_err(owned)
    }

    /// [`service`](Self::service), where there has to be something already.
    pub(crate) fn existing_service(&self) -> anyhow::Result<(Service, Threads)> {
        self.reader()?;
        self.service()
    }

    /// The data directory, so that agents find it wherever they work.
    pub(crate) fn absolute_data(&self) -> PathBuf {
        self.data.canonicalize().unwrap_or_else(|_| self.data.clone())
    }

    /// How this directory is named in front of a command that is shown to a person.
    pub(crate) fn command(&self, rest: &str) -> String {
        let by_environment =
            std::env::var_os("ADJOURN_DATA").is_some_and(|data| Path::new(&data) == self.data);
        if by_environment || self.data == Path::new(DATA_DEFAULT) {
            return format!("adjourn {rest}");
        }
        format!("adjourn --data {} {rest}", quoted(&self.data.display().to_string()))
    }
}

fn owned(error: Error) -> anyhow::Error {
    match error {
        Error::Owned { .. } => anyhow!(
            "{error}\nwait until it is done, or use another with --data; if it is `adjourn serve`, talk to it over HTTP"
        ),
        error => error.into(),
    }
}

/// What time it is.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
