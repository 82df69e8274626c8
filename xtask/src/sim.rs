//! `cargo xtask sim`: the simulator, built for release.

use anyhow::Result;

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Passed on to the simulator
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Built for release, because it is for nights: ten times as many seeds in the same time.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = vec!["run", "--release", "--package", "adjourn-sim", "--"];
    command.extend(options.args.iter().map(String::as_str));
    cargo::run(&command)
}
