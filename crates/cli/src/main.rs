//! The binary `adjourn`: reads the command line, runs one command, and turns its end into an exit status.

mod commands;
mod output;

use std::process::ExitCode;

use clap::Parser;

use commands::Cli;

fn main() -> ExitCode {
    match commands::run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

/// Says what went wrong, and gives the exit status for it.
fn report(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        // Prints like every other complaint about the command line, and exits with 2.
        usage.exit();
    }
    anstream::eprintln!("error: {error:#}");
    ExitCode::FAILURE
}
