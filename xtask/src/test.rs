//! `cargo xtask test`: every test there is.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Passed on to `cargo test`: a name to filter by, `-- --nocapture`, …
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Plain `cargo test` and no other runner: it comes with the toolchain and runs doc tests too.
pub(crate) fn run(options: &Options) -> Result<()> {
    require_c_compiler()?;
    let all = ["test", "--workspace", "--all-features"].map(str::to_owned);
    cargo::run(&[&all[..], &options.args[..]].concat())
}

/// SQLite is compiled in. Without a compiler that fails deep inside a build script, in words that help nobody.
fn require_c_compiler() -> Result<()> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let found = Command::new(&compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    ensure!(
        found,
        "no C compiler: `{compiler}` does not start. SQLite is built from source; on Debian and Ubuntu: \
         apt-get install build-essential"
    );
    Ok(())
}
