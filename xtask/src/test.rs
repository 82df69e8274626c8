//! `cargo xtask test`: every test there is.

use std::process::Command;

use adjourn_testkit::agents::REQUIRE_VARIABLE;
use anyhow::{Result, ensure};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the tests with this in their name
    filter: Option<String>,
    /// Fail where a test needs a real agent that is not installed, instead of skipping it: `all`, or some names
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    agents: Option<String>,
    /// Passed on to the test binaries: `-- --nocapture`
    #[arg(last = true)]
    args: Vec<String>,
}

/// Plain `cargo test` and no other runner: it comes with the toolchain and runs doc tests too.
pub(crate) fn run(options: &Options) -> Result<()> {
    require_c_compiler()?;
    let mut command = vec!["test", "--workspace", "--all-features"];
    command.extend(options.filter.as_deref());
    if !options.args.is_empty() {
        command.push("--");
        command.extend(options.args.iter().map(String::as_str));
    }
    let agents = options.agents.as_deref().map(|names| (REQUIRE_VARIABLE, names));
    cargo::run_with(agents.as_slice(), &command)
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
