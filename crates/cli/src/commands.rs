//! The command line: the options that every command takes, and one module for each command.

mod bench;
mod statechart;

use clap::{Args, Parser, Subcommand};

/// Runs agent work that has to stop and ask.
///
/// Adjourn starts an agent, lets it work, and when the agent needs a person it waits without holding anything. When the
/// answer comes, the work goes on where it stopped.
#[derive(Debug, Parser)]
#[command(name = "adjourn", version, propagate_version = false, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// What can be said before or after any command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print JSON on stdout, for programs
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(bench::Options),
    Statechart(statechart::Statechart),
}

/// Runs the command that was asked for. Wrong use that clap cannot see comes back as a [`clap::Error`].
pub(crate) fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {
        Command::Bench(options) => bench::run(&options, cli.global.json),
        Command::Statechart(command) => command.run(&cli.global),
    }
}
