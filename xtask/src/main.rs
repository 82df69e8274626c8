//! The project's own chores, one file per verb: `cargo xtask test`, `docs`, `bench`, `ledger`, `agents`, `mcp-servers`,
//! `recordings`, `schemathesis`, `openapi`, `mcp`, `browser`, `sim`, `torture`, `powercut`, `fuzz`, `macos`, `ci`.
//!
//! Whatever has to be done to this repository is a verb here, so that a person and a build server do the same. Nothing
//! of it is shipped.

mod agents;
mod bench;
mod browser;
mod cargo;
mod ci;
mod docs;
mod duplicates;
mod fuzz;
mod install;
mod ledger;
mod licences;
mod macos;
mod mcp;
mod mcp_servers;
mod metadata;
mod openapi;
mod powercut;
mod purity;
mod python;
mod recordings;
mod repo;
mod schemathesis;
mod server;
mod sim;
mod test;
#[cfg(test)]
mod tidy;
mod torture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "The project's own chores")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run every test of the workspace, doc tests included
    Test(test::Options),
    /// Write the generated documents, or check that they are up to date
    Docs(docs::Options),
    /// Run a benchmark, or list what there is
    Bench(bench::Options),
    /// Show which scenarios of docs/scenarios.md have a test
    Ledger(ledger::Options),
    /// Install the real agents that the tests drive, and say where they are
    Agents(agents::Options),
    /// Install the real MCP servers that the tests call, and say where they are
    McpServers(mcp_servers::Options),
    /// Run the simulator for as long as asked, or one seed again
    Sim(sim::Options),
    /// Kill a working Adjourn a hundred times, and look whether anything is missing
    Torture(torture::Options),
    /// Cut the power at every write and sync of a run, and have every call of a commit fail
    Powercut(powercut::Options),
    /// Feed everything that reads foreign bytes by libFuzzer
    Fuzz(fuzz::Options),
    /// Check that the workspace compiles for macOS
    Macos,
    /// Hold the server against its own description
    Schemathesis,
    /// Lint the description of the server, and use the server with a client that is generated from it
    Openapi,
    /// Record the runs that the example skills carry again, with real agents and a scripted model
    Recordings(recordings::Options),
    /// Drive Adjourn with the client of the official MCP SDK
    Mcp,
    /// Let a browser and curl follow streams while the server is ended under them
    Browser,
    /// Run all that a change has to pass
    Ci,
}

fn main() -> ExitCode {
    if fuzz::is_compiler() {
        return fuzz::compile().unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        });
    }
    let result = match Cli::parse().verb {
        Verb::Test(options) => test::run(&options),
        Verb::Docs(options) => docs::run(&options),
        Verb::Bench(options) => bench::run(&options),
        Verb::Ledger(options) => ledger::run(&options),
        Verb::Agents(options) => agents::run(&options),
        Verb::McpServers(options) => mcp_servers::run(&options),
        Verb::Sim(options) => sim::run(&options),
        Verb::Torture(options) => torture::run(&options),
        Verb::Powercut(options) => powercut::run(&options),
        Verb::Fuzz(options) => fuzz::run(&options),
        Verb::Macos => macos::run(),
        Verb::Schemathesis => schemathesis::run(),
        Verb::Openapi => openapi::run(),
        Verb::Recordings(options) => recordings::run(&options),
        Verb::Mcp => mcp::run(),
        Verb::Browser => browser::run(),
        Verb::Ci => ci::run(),
    };
    // Not returned from `main`, which would print a backtrace where `RUST_BACKTRACE` is set: these are for people.
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
