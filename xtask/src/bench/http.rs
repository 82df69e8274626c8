//! `cargo xtask bench http`: a server of its own in a folder of its own, and what `adjourn bench --server` says of it.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::server::{Server, Setup};
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
    let skills = repo::root().join("crates/cli/bench");
    let config = format!("skills = [\"{}\"]\n[slots]\ntotal = {SLOTS}\n", skills.display());
    for load in [
        &["--runs", "2000", "--concurrency", "1"][..],
        &["--runs", "20000", "--concurrency", "256"],
        &["--subscribers", "5000", "--runs", "500", "--changes-per-second", "50", "--seconds", "30"],
    ] {
        // A server for each, so that the memory of one is not that of another.
        let server =
            Server::start(&Setup { binary: &binary, name: "bench-http", config: &config, args: &[] })?;
        let status = Command::new(&binary).args(["bench", "--server", &server.url]).args(load).status()?;
        ensure!(status.success(), "`adjourn bench --server {} {}` failed", server.url, load.join(" "));
    }
    Ok(())
}
