//! `cargo xtask bench http`: a server of its own in a folder of its own, and what `adjourn bench --server` says of it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{cargo, repo};

/// Turns at the same time: as many as there are clients, so that nobody waits for a slot.
const SLOTS: u32 = 256;

pub(super) fn run(args: &[String]) -> Result<()> {
    ensure!(
        args.is_empty(),
        "`bench http` takes nothing more: use `adjourn bench --server` for other figures"
    );
    cargo::run(&["build", "--release", "--package", "adjourn"])?;
    let binary = repo::root().join("target/release/adjourn");
    for load in [
        &["--runs", "2000", "--concurrency", "1"][..],
        &["--runs", "20000", "--concurrency", "256"],
        &["--subscribers", "5000", "--runs", "500", "--changes-per-second", "50", "--seconds", "30"],
    ] {
        // A server for each, so that the memory of one is not that of another.
        let server = Server::start(&binary)?;
        let status = Command::new(&binary).args(["bench", "--server", &server.url]).args(load).status()?;
        ensure!(status.success(), "`adjourn bench --server {} {}` failed", server.url, load.join(" "));
    }
    Ok(())
}

/// A server in a folder that goes with it.
struct Server {
    process: Child,
    url: String,
    folder: PathBuf,
}

impl Server {
    fn start(binary: &Path) -> Result<Self> {
        // On the disk that the repository is on: where temporary files go, a sync may cost nothing.
        let folder = repo::root().join(format!("target/bench-http-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let skills = repo::root().join("crates/cli/bench");
        let config = format!("skills = [\"{}\"]\n[slots]\ntotal = {SLOTS}\n", skills.display());
        std::fs::write(folder.join("adjourn.toml"), config)?;
        let mut process = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .current_dir(&folder)
            .env_remove("ADJOURN_DATA")
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
