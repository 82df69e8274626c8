//! The binary `adjourn`: reads the command line, runs one command, and turns its end into an exit status.

mod answer;
mod attach;
mod background;
mod client;
mod commands;
mod contract;
mod data;
mod exit;
mod find;
mod frame;
mod live;
mod logs;
mod make_room;
mod output;
mod prompt;
mod question;
mod remembered_config;
mod result;
mod style;
mod table;
mod tail;
mod text;
mod trust;
mod usage;
mod without_walls;
mod wrap;

use std::process::ExitCode;

use adjourn_engine::supervisor;

fn main() -> ExitCode {
    // Before anything else is looked at: the launcher of agents is this binary as well, and takes no options of ours.
    if std::env::args_os().nth(1).is_some_and(|first| first == supervisor::SUBCOMMAND) {
        return supervisor::main();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == prompt::SUBCOMMAND) {
        return prompt::main();
    }
    match commands::run(commands::Cli::read()) {
        Ok(exit) => exit.into(),
        Err(error) => exit::report(&error),
    }
}
