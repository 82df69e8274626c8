//! `cargo xtask torture`: a real process that is killed again and again. The tests run a short form of it.

use anyhow::Result;

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Passed on: --kills N, --runs N, --seed N
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut command = vec!["run", "--release", "--package", "adjourn-runtime", "--example", "torture", "--"];
    command.extend(options.args.iter().map(String::as_str));
    cargo::run(&command)
}
