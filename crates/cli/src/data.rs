//! The data directory, and what is said of it before a command.

use std::path::{Path, PathBuf};

use adjourn_core::{RunId, Timestamp};
use adjourn_runtime::config::{Config, ConfigFile};
use adjourn_runtime::workspace::{Workspace, WorkspaceError, Workspaces};
use adjourn_runtime::{Clock, SystemClock};
use adjourn_store::{Error, SqliteStore};
use anyhow::{Context, anyhow};
use clap::Args;

use crate::exit::wrong_use;
use crate::style;
use crate::text::{clean, quoted};
use crate::trust;

/// Where data lives when nobody says otherwise.
pub(crate) const DATA_DEFAULT: &str = ".adjourn";

/// The variable that names a server.
const SERVER_VARIABLE: &str = "ADJOURN_SERVER";

/// What can be said before any command, and after most.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Where runs are kept
    #[arg(long, value_name = "DIR", env = "ADJOURN_DATA", default_value = DATA_DEFAULT)]
    pub(crate) data: PathBuf,

    /// A server to talk to, instead of a data directory; its token is in $ADJOURN_TOKEN
    #[arg(long, value_name = "URL", env = SERVER_VARIABLE, global = true)]
    pub(crate) server: Option<String>,

    /// The configuration, instead of adjourn.toml beside the data directory
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,

    /// Print JSON on stdout, for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

impl Global {
    /// Complains where nothing was ever run: what is not there is not made by looking at it.
    pub(crate) fn check_there(&self) -> anyhow::Result<()> {
        if self.server.is_some() || self.data.exists() {
            return Ok(());
        }
        Err(anyhow!(
            "there is no data directory {}: nothing was run here yet\n`adjourn run` makes one; \
             --data or $ADJOURN_DATA names another",
            self.data.display()
        ))
    }

    /// The journal as its owner, without anything being driven.
    pub(crate) fn owner(&self) -> anyhow::Result<SqliteStore> {
        self.check_there()?;
        SqliteStore::open(&self.data).map_err(|error| match error {
            Error::Owned { .. } => anyhow!("{error}\nwait until it is done, or end it: this is done alone"),
            error => error.into(),
        })
    }

    /// The configuration, for what starts nothing of it. Nothing is said about it.
    pub(crate) fn config_without_trust(&self) -> anyhow::Result<Config> {
        Config::load(self.config.as_deref(), &self.data).map_err(wrong_use)
    }

    /// The configuration. One that was found, not named, has to be [trusted](trust) where it runs something. Settings that are
    /// probably mistakes are printed as warnings.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let found = match &self.config {
            Some(_) => None,
            None => ConfigFile::beside(&self.data).map_err(wrong_use)?,
        };
        let config = match found {
            Some(file) => {
                let config = file.config().map_err(wrong_use)?;
                trust::check(&file, !self.json)?;
                config
            }
            None => self.config_without_trust()?,
        };
        for warning in &config.warnings {
            let warning = clean(&warning.to_string());
            anstream::eprintln!("{} {warning}", style::styled(style::ODD, "warning:"));
        }
        Ok(config)
    }

    /// Takes from other users what they could read of the data directory, and says so if that was anything.
    pub(crate) fn protect_data(&self, say: impl FnOnce(&str)) -> anyhow::Result<()> {
        let put_right = adjourn_store::protect(&self.data)
            .with_context(|| format!("cannot set the modes of {}", self.data.display()))?;
        if !put_right.is_empty() {
            let names: Vec<_> = put_right.iter().map(|path| path.display().to_string()).collect();
            say(&clean(&format!("other users could read this, and cannot any more: {}", names.join(", "))));
        }
        Ok(())
    }

    /// The data directory, so that agents find it wherever they work.
    pub(crate) fn absolute_data(&self) -> PathBuf {
        self.data.canonicalize().unwrap_or_else(|_| self.data.clone())
    }

    /// The folders of a run, if they are on this machine.
    pub(crate) fn workspace(&self, run_id: RunId) -> Option<Result<Workspace, WorkspaceError>> {
        self.server.is_none().then(|| Workspaces::new(&self.absolute_data()).open(run_id))
    }

    /// A command as a person would type it here.
    pub(crate) fn command(&self, rest: &str) -> String {
        let by_environment =
            |name: &str, value: &Path| std::env::var_os(name).is_some_and(|set| Path::new(&set) == value);
        match &self.server {
            Some(url) if by_environment(SERVER_VARIABLE, Path::new(url)) => format!("adjourn {rest}"),
            Some(url) => format!("adjourn --server {} {rest}", quoted(url)),
            None if self.data == Path::new(DATA_DEFAULT) || by_environment("ADJOURN_DATA", &self.data) => {
                format!("adjourn {rest}")
            }
            None => format!("adjourn --data {} {rest}", quoted(&self.data.display().to_string())),
        }
    }
}

/// What time it is.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
