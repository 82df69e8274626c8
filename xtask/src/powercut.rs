//! `cargo xtask powercut`: power cuts and failing disks. The tests run the short form; the full one takes an hour or so.

use anyhow::Result;

use crate::cargo;

/// The variable that has the tests try every state.
const FULL: &str = "ADJOURN_POWERCUT_FULL";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// A crash after every single write, and not only around each sync, in more ways each
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let variables: &[(&str, &str)] = if options.full { &[(FULL, "1")] } else { &[] };
    // With their output: it says how many states were tried.
    let shown = ["--", "--nocapture"];
    let store = ["test", "--package", "adjourn-powercut", "--test", "it"];
    let runtime = ["test", "--package", "adjourn-runtime", "--test", "it", "powercut::"];
    cargo::run_with(variables, &[&store[..], &shown].concat())?;
    cargo::run_with(variables, &[&runtime[..], &shown].concat())
}
