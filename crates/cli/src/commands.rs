//! The command line: the options that every command takes, and one module for each command.

mod background;
mod bench;
mod cancel;
mod config;
mod doctor;
mod engines;
mod events;
mod files;
mod inbox;
mod mcp;
mod prune;
mod ps;
mod reply;
mod rerun;
mod roundtable;
mod run;
mod serve;
mod settle;
mod show;
mod skills;
mod statechart;
mod token;
mod trace;

use std::future::Future;
use std::path::PathBuf;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, value_parser};

pub(crate) use self::roundtable::ask_roundtable;
use crate::data::Global;
use crate::exit::Exit;

/// The id of `--data` behind a command.
const DATA_BEHIND: &str = "data_behind";

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

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunCommand),
    Ps(ps::Ps),
    Show(show::Show),
    Inbox(inbox::Inbox),
    Reply(reply::Reply),
    Cancel(cancel::Cancel),
    Rerun(rerun::Rerun),
    Trace(trace::Trace),
    Settle(settle::Settle),
    Events(events::Events),
    Files(files::Files),
    Roundtable(roundtable::Roundtable),
    Serve(serve::Serve),
    Background(background::Background),
    Mcp(mcp::Mcp),
    Token(token::Token),
    Engines(engines::Engines),
    Skills(skills::Skills),
    Config(config::Config),
    Prune(prune::Prune),
    Doctor(doctor::Doctor),
    Bench(bench::Options),
    Statechart(statechart::Statechart),
}

impl Cli {
    /// What was typed; ends the process with a complaint where that cannot be understood.
    pub(crate) fn read() -> Self {
        let mut command = Self::command().mut_subcommands(|command| match command.get_name() {
            "roundtable" | "config" => command.mut_subcommands(with_data_behind),
            _ => with_data_behind(command),
        });
        let matches = command.get_matches_mut();
        let mut cli = match Self::from_arg_matches(&matches) {
            Ok(cli) => cli,
            Err(error) => error.format(&mut command).exit(),
        };
        // A command may have commands of its own: the directory stands behind the last.
        let mut innermost = &matches;
        while let Some((_, inner)) = innermost.subcommand() {
            innermost = inner;
            if let Ok(Some(data)) = inner.try_get_one::<PathBuf>(DATA_BEHIND) {
                cli.global.data.clone_from(data);
            }
        }
        cli
    }
}

fn with_data_behind(command: clap::Command) -> clap::Command {
    match command.get_name() {
        // Here `--data` is the answer, and the directory is named in front of the command.
        "reply" => command,
        _ => command.arg(data_behind()),
    }
}

fn data_behind() -> Arg {
    Arg::new(DATA_BEHIND)
        .long("data")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help("Where runs are kept [default: $ADJOURN_DATA, else .adjourn]")
}

/// Runs the command that was asked for. Wrong use that clap cannot see comes back as a [`clap::Error`].
pub(crate) fn run(cli: Cli) -> anyhow::Result<Exit> {
    let Cli { global, command } = cli;
    hide_memory(&global)?;
    match command {
        Command::Run(command) => drive(command.run(&global)),
        Command::Ps(command) => drive(command.run(&global)),
        Command::Show(command) => drive(command.run(&global)),
        Command::Inbox(command) => drive(command.run(&global)),
        Command::Reply(command) => drive(command.run(&global)),
        Command::Cancel(command) => drive(command.run(&global)),
        Command::Rerun(command) => drive(command.run(&global)),
        Command::Trace(command) => drive(command.run(&global)),
        Command::Settle(command) => drive(command.run(&global)),
        Command::Events(command) => drive(command.run(&global)),
        Command::Files(command) => drive(command.run(&global)),
        Command::Roundtable(command) => drive(command.run(&global)),
        Command::Serve(command) => drive(command.run(&global)),
        Command::Background(command) => drive(command.run(&global)),
        Command::Mcp(command) => drive(command.run(&global)),
        Command::Token(command) => command.run(&global),
        Command::Engines(command) => drive(command.run(&global)),
        Command::Skills(command) => command.run(&global),
        Command::Config(command) => command.run(&global),
        Command::Prune(command) => command.run(&global),
        Command::Doctor(command) => command.run(&global),
        Command::Bench(options) => bench::run(&options, &global).map(|()| Exit::Done),
        Command::Statechart(command) => command.run(&global),
    }
}

/// Keeps other processes of this user, agents among them, from reading this one's environment and memory: keys and tokens are
/// there. Root can still read them. A debugger of the same user cannot attach any more, and a crash leaves no core dump.
///
/// A client of a server that has no token has nothing to hide, and a server tells whose it is by its open files.
fn hide_memory(global: &Global) -> anyhow::Result<()> {
    if global.server.is_some() && std::env::var_os("ADJOURN_TOKEN").is_none() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| anyhow::anyhow!("cannot keep the memory of this process private: {error}"))?;
    }
    Ok(())
}

/// Threads for work that waits: for the disk, or for a name server. Four connections read the journal, so many more would
/// mostly wait for each other, and the allocator keeps what a thread frees for that thread: with 256 clients there were 170
/// threads, and the server had 102 MB, growing, instead of 79 MB. Twice the webhooks that are told at the same time, so that
/// a name server that does not answer leaves half of them to the disk.
const BLOCKING_THREADS_MAX: usize = 32;

/// Runs a command that has to wait for something.
fn drive(command: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.max_blocking_threads(BLOCKING_THREADS_MAX).enable_all().build()?;
    let exit = runtime.block_on(command);
    // A read from stdin or a prompt may still be waiting, and nobody waits for those.
    runtime.shutdown_background();
    exit
}
