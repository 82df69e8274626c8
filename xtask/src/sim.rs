//! `cargo xtask sim`: the simulator, for as long as asked. The tests run two thousand seeds of it.

use anyhow::Result;

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Passed on: --seeds N, --from S, --minutes M, or --seed S --trace
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = vec!["run", "--release", "--package", "adjourn-sim", "--"];
    command.extend(options.args.iter().map(String::as_str));
    cargo::run(&command)
}
