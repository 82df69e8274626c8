//! `cargo xtask test`: every test there is.

use std::process::Command;

use adjourn_testkit::agents::REQUIRE_VARIABLE;
use anyhow::{Result, ensure};

use crate::{agents, browser, cargo, mcp, mcp_servers, openapi, python, schemathesis};

/// The smallest: 23 MB, where all of them are 1.5 GB.
const USUAL_AGENT: &str = "gemini";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only the tests with this in their name
    filter: Option<String>,
    /// Fail where a test needs one of these agents and it is not installed: `all`, or some names. Without this, one
    /// agent is installed and required, and tests of the others are skipped where they are not there
    #[arg(long, value_name = "NAMES", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    agents: Option<String>,
    /// Passed on to the test binaries: `-- --nocapture`
    #[arg(last = true)]
    args: Vec<String>,
}

/// Plain `cargo test` and no other runner: it comes with the toolchain and runs doc tests too. Then what no test of a crate
/// can do.
pub(crate) fn run(options: &Options) -> Result<()> {
    require_c_compiler()?;
    let mut command = vec!["test", "--workspace", "--all-features"];
    command.extend(options.filter.as_deref());
    if !options.args.is_empty() {
        command.push("--");
        command.extend(options.args.iter().map(String::as_str));
    }
    let required = match &options.agents {
        Some(names) => Some(names.as_str()),
        None => usual_agent()?,
    };
    usual_servers()?;
    let required = required.map(|names| (REQUIRE_VARIABLE, names));
    cargo::run_with(required.as_slice(), &command)?;
    if options.filter.is_some() {
        return Ok(());
    }
    foreign_clients()
}

/// Clients that others wrote. Where what they run on is missing, they are left out, and that is said.
fn foreign_clients() -> Result<()> {
    match python::is_there() {
        true => {
            mcp::run()?;
            schemathesis::run()?;
        }
        false => {
            eprintln!("python3 is not installed, so the official MCP client and Schemathesis are left out");
        }
    }
    match python::is_there() && is_there("npm") {
        true => openapi::run()?,
        false => eprintln!("python3 or npm is not installed, so no client is generated from the description"),
    }
    match browser::browser().is_some() && is_there("npm") && is_there("curl") {
        true => browser::run(),
        false => {
            eprintln!("chromium, npm or curl is not installed, so streams are not followed by a browser");
            Ok(())
        }
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Installs the agent that the tests are never without. Where there is no npm, they skip what needs an agent, and say so.
fn usual_agent() -> Result<Option<&'static str>> {
    if !is_there("npm") {
        eprintln!("npm is not installed, so tests that need a real agent are skipped");
        return Ok(None);
    }
    agents::run(&agents::Options::one(USUAL_AGENT))?;
    Ok(Some(USUAL_AGENT))
}

/// Installs the tool servers that nobody here wrote. Where what they run on is missing, what needs them is skipped.
fn usual_servers() -> Result<()> {
    if is_there("npm") && python::is_there() {
        return mcp_servers::run(&mcp_servers::Options::default());
    }
    eprintln!("npm or python3 is not installed, so tests that need real tool servers are skipped");
    Ok(())
}

/// SQLite is compiled in. Without a compiler that fails deep inside a build script, in words that help nobody.
fn require_c_compiler() -> Result<()> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    ensure!(
        is_there(&compiler),
        "no C compiler: `{compiler}` does not start. SQLite is built from source; on Debian and Ubuntu: \
         apt-get install build-essential"
    );
    Ok(())
}
