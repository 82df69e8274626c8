//! Kills a working Adjourn again and again, and looks whether anything is missing: `cargo xtask torture`, or
//! `cargo run -p adjourn-runtime --example torture -- [--kills N] [--runs N] [--seed N]`.
//!
//! A worker process owns a data directory and keeps 32 runs going, each of which asks three times; agents are real
//! processes. It prints what it was told is durable. The process that started it kills it at random moments, starts it
//! again, and in the end holds what was printed against what the journal has.

mod check;
mod kill;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use adjourn_engine::supervisor;
use kill::Options;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    match arguments.peek().and_then(|first| first.to_str()) {
        Some(supervisor::SUBCOMMAND) => supervisor::main(),
        Some(worker::SUBCOMMAND) => {
            let rest: Vec<_> =
                arguments.skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
            worker::main(Path::new(&rest[0]), rest[1].parse().expect("the number of runs"));
            ExitCode::SUCCESS
        }
        Some(_) | None => {
            let options =
                Options::from_arguments(arguments.map(|argument| argument.to_string_lossy().into_owned()));
            match options.and_then(|options| kill::main(&options)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(problem) => {
                    eprintln!("{problem}");
                    ExitCode::FAILURE
                }
            }
        }
    }
}
