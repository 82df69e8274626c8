//! `cargo run -p adjourn-sim`: runs seeds for as long as asked, and replays the one that found something.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use adjourn_sim::{Counts, Medium, Plan, simulate, trace};
use clap::Parser;

#[derive(Parser)]
#[command(about = "Runs the real kernel and journal under a clock, crashes and races that a seed determines")]
struct Options {
    /// How many seeds to run
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Stop after so many minutes, whatever is left
    #[arg(long)]
    minutes: Option<u64>,
    /// Run this one only
    #[arg(long)]
    seed: Option<u64>,
    /// Print everything that happens
    #[arg(long)]
    trace: bool,
    /// Keep the journal in SQLite, in a temporary directory
    #[arg(long)]
    sqlite: bool,
    /// Go on after a seed that found something
    #[arg(long)]
    keep_going: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let medium = if options.sqlite { Medium::Sqlite } else { Medium::Memory };
    let plan = |seed| Plan { medium, ..Plan::seeded(seed) };
    if let Some(seed) = options.seed.filter(|_| options.trace) {
        let (result, log) = trace(&plan(seed));
        println!("{:#?}", plan(seed));
        println!("{}", log.join("\n"));
        return match result {
            Ok(outcome) => {
                print!("{}", outcome.counts);
                ExitCode::SUCCESS
            }
            Err(failure) => {
                println!("{failure}");
                ExitCode::FAILURE
            }
        };
    }
    let (from, count) = options.seed.map_or((options.from, options.seeds), |seed| (seed, 1));
    let until = options.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    run(from, count, until, &options, plan)
}

fn run(
    from: u64,
    count: u64,
    until: Option<Instant>,
    options: &Options,
    plan: impl Fn(u64) -> Plan,
) -> ExitCode {
    let began = Instant::now();
    let mut counts = Counts::default();
    let (mut ran, mut failed) = (0, 0);
    for seed in from..from.saturating_add(count) {
        if until.is_some_and(|until| until <= Instant::now()) {
            break;
        }
        ran += 1;
        match simulate(&plan(seed)) {
            Ok(outcome) => counts.merge(&outcome.counts),
            Err(failure) => {
                println!("seed {seed}\n{failure}");
                failed += 1;
                if !options.keep_going {
                    break;
                }
            }
        }
    }
    print!("{counts}");
    println!(
        "{ran} seeds from {from} in {:.1} s, {failed} of them found something",
        began.elapsed().as_secs_f64()
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
