//! The data directory, and what is said of it before a command.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use adjourn_core::{RunId, Timestamp};
use adjourn_engine::ShellVariables;
use adjourn_kernel::{Clock, SystemClock};
use adjourn_runtime::config::{Config, ConfigFile};
use adjourn_runtime::workspace::{Workspace, WorkspaceError, Workspaces};
use adjourn_store::{Error, LOCK_FILE, SqliteStore};
use anyhow::{Context, anyhow};
use clap::Args;

use crate::background;
use crate::exit::wrong_use;
use crate::make_room::{LOOK_EVERY, MakeRoom, background_owner};
use crate::remembered_config;
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

/// Where the configuration comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfigSource {
    /// It was named with `--config`.
    Named,
    /// The data directory was last used with it.
    Remembered,
    /// It is beside the data directory.
    Beside,
}

impl ConfigSource {
    /// For people.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Named => "named with --config",
            Self::Remembered => "the data directory was last used with it",
            Self::Beside => "found beside the data directory",
        }
    }

    /// For programs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Remembered => "remembered",
            Self::Beside => "beside",
        }
    }
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

    /// Does something with the journal as its owner, without anything being driven. An owner in the background that only waits
    /// makes room for that, and there is another one afterwards if there is still something to wait for.
    pub(crate) fn alone<T>(&self, work: impl FnOnce(&SqliteStore) -> anyhow::Result<T>) -> anyhow::Result<T> {
        self.check_there()?;
        let mut room = MakeRoom::new(self);
        let store = loop {
            match SqliteStore::open(&self.data) {
                Err(Error::Owned { owner, .. }) if room.asks(&owner) => std::thread::sleep(LOOK_EVERY),
                Err(error @ Error::Owned { .. }) => {
                    return Err(anyhow!("{error}\nwait until it is done, or end it: this is done alone"));
                }
                opened => break opened?,
            }
        };
        let done = work(&store);
        let is_left = room.is_told() && adjourn_runtime::can_go_on(&store).unwrap_or(true);
        drop(store);
        if is_left {
            background::take_over_later(self)
                .context("nobody waits here any more for what was waited for")?;
        }
        done
    }

    /// Whether a configuration is named that the data directory was not last used with.
    pub(crate) fn names_other_config(&self) -> bool {
        let named = self.config.as_ref().and_then(|named| std::path::absolute(named).ok());
        named.is_some_and(|named| remembered_config::read(&self.data).as_ref() != Some(&named))
    }

    /// Whether the configuration file was changed since an owner in the background wrote itself into the lock.
    pub(crate) fn config_changed_under_background_owner(&self) -> bool {
        let beside = || ConfigFile::path_beside(&self.data);
        let named = self.config.clone().or_else(|| remembered_config::read(&self.data));
        let changed_at =
            std::fs::metadata(named.unwrap_or_else(beside)).map(|file| (file.ctime(), file.ctime_nsec()));
        let lock = std::fs::metadata(self.data.join(LOCK_FILE));
        let lock = lock.map(|file| (file.mtime(), file.mtime_nsec()));
        let is_background = background_owner(&adjourn_store::owner(&self.data)).is_some();
        is_background
            && changed_at.is_ok_and(|changed_at| lock.is_ok_and(|started_at| changed_at > started_at))
    }

    /// The configuration file that counts: the one that is named, else the one that the data directory was last used with, else
    /// the one beside it.
    pub(crate) fn config_file(&self) -> anyhow::Result<Option<(ConfigFile, ConfigSource)>> {
        if let Some(named) = &self.config {
            return Ok(Some((ConfigFile::open(named).map_err(wrong_use)?, ConfigSource::Named)));
        }
        if let Some(path) = remembered_config::read(&self.data) {
            if !path.exists() {
                return Err(wrong_use(format!(
                    "the configuration {0}, which {1} was last used with, is not there any more\nput it back, or name \
                     another with --config FILE, which is remembered instead; {1}/{2} has the path",
                    path.display(),
                    self.data.display(),
                    remembered_config::FILE,
                )));
            }
            return Ok(Some((ConfigFile::open(&path).map_err(wrong_use)?, ConfigSource::Remembered)));
        }
        let found = ConfigFile::beside(&self.data).map_err(wrong_use)?;
        Ok(found.map(|file| (file, ConfigSource::Beside)))
    }

    /// The configuration, for what starts nothing of it. Nothing is said about it.
    pub(crate) fn config_without_trust(&self) -> anyhow::Result<Config> {
        match self.config_file()? {
            Some((file, _)) => file.config().map_err(wrong_use),
            None => Config::load(None, &self.data).map_err(wrong_use),
        }
    }

    /// The configuration. One that was found, not named, has to be [trusted](trust) where it runs something. Settings that are
    /// probably mistakes are printed as warnings.
    pub(crate) fn config(&self) -> anyhow::Result<Config> {
        let config = match self.config_file()? {
            Some((file, source)) => {
                let config = file.config().map_err(wrong_use)?;
                match source {
                    ConfigSource::Named => {}
                    ConfigSource::Remembered | ConfigSource::Beside => trust::check(&file, !self.json)?,
                }
                config
            }
            None => Config::load(None, &self.data).map_err(wrong_use)?,
        };
        for warning in &config.warnings {
            let warning = clean(&warning.to_string());
            anstream::eprintln!("{} {warning}", style::styled(style::ODD, "warning:"));
        }
        Ok(config)
    }

    /// Has the data directory, which is there, remember the configuration that was named, so that later commands need not name
    /// it. What it runs is trusted like that of a file that a person allowed, until it changes.
    pub(crate) fn remember_config(&self) {
        let Some(named) = &self.config else { return };
        let remembered = remembered_config::write(&self.data, named).map_err(anyhow::Error::from);
        if let Err(error) = remembered.and_then(|()| trust::remember_named(named)) {
            let problem = clean(&format!("{error:#}"));
            anstream::eprintln!(
                "{} the configuration is not remembered, name it each time: {problem}",
                style::styled(style::ODD, "warning:")
            );
        }
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

    /// The variables of this shell that the configured engines may pass on, for an owner on this machine; none for a server.
    pub(crate) fn shell(&self) -> Option<ShellVariables> {
        if self.server.is_some() {
            return None;
        }
        // Only names are taken from it, and the owner has its own.
        let config = self.config_without_trust().unwrap_or_default();
        let names = config.engine_names();
        let engines: Vec<_> = names.into_iter().filter_map(|name| config.engine(name)).collect();
        let passes = |name: &str| engines.iter().any(|engine| engine.passes(name));
        Some(ShellVariables::new(std::env::vars_os(), passes))
    }

    /// A command as a person would type it here.
    pub(crate) fn command(&self, rest: &str) -> String {
        let by_environment =
            |name: &str, value: &Path| std::env::var_os(name).is_some_and(|set| Path::new(&set) == value);
        let mut words = vec!["adjourn".to_owned()];
        match &self.server {
            Some(url) if by_environment(SERVER_VARIABLE, Path::new(url)) => {}
            Some(url) => words.extend(["--server".to_owned(), quoted(url)]),
            None => {
                if self.data != Path::new(DATA_DEFAULT) && !by_environment("ADJOURN_DATA", &self.data) {
                    words.extend(["--data".to_owned(), quoted(&self.data.display().to_string())]);
                }
                if let Some(named) = self.config.as_ref().filter(|_| self.names_other_config()) {
                    words.extend(["--config".to_owned(), quoted(&named.display().to_string())]);
                }
            }
        }
        words.push(rest.to_owned());
        words.join(" ")
    }
}

/// What time it is.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
