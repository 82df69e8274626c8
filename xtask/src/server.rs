//! A server of its own in a folder of its own, for what has to be tried from outside.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use crate::repo;

/// A server in a folder that goes with it.
pub(crate) struct Server {
    process: Child,
    /// Where it listens: `http://127.0.0.1:…`.
    pub(crate) url: String,
    /// Where its configuration and its data are.
    pub(crate) folder: PathBuf,
}

/// What a server needs.
pub(crate) struct Setup<'a> {
    /// The `adjourn` to start.
    pub(crate) binary: &'a Path,
    /// What its folder is called.
    pub(crate) name: &'a str,
    /// Its `adjourn.toml`.
    pub(crate) config: &'a str,
    /// What `serve` is told besides where to listen.
    pub(crate) args: &'a [&'a str],
}

impl Server {
    pub(crate) fn start(setup: &Setup<'_>) -> Result<Self> {
        // On the disk that the repository is on: where temporary files go, a sync may cost nothing.
        let folder = repo::root().join(format!("target/{}-{}", setup.name, std::process::id()));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("adjourn.toml"), setup.config)?;
        let mut process = Command::new(setup.binary)
            // Named, and so trusted.
            .args(["--config", "adjourn.toml", "serve", "--listen", "127.0.0.1:0"])
            .args(setup.args)
            .current_dir(&folder)
            .env_remove("ADJOURN_DATA")
            .env_remove("ADJOURN_TOKENS")
            .stderr(Stdio::piped())
            .spawn()?;
        let errors = process.stderr.take().context("stderr was asked for")?;
        let mut server = Self { process, url: String::new(), folder };
        let mut lines = BufReader::new(errors).lines();
        let address = lines.find_map(|line| Some(line.ok()?.split_once("http://")?.1.to_owned()));
        server.url = format!("http://{}", address.context("the server did not say where it listens")?);
        // Whoever does not read on would block the server one day.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What it leaves is removed: it may as well be killed.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
