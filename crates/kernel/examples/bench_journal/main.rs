//! What the journal costs: `cargo xtask bench journal`, or
//! `cargo run --release -p adjourn-store --example bench_journal -- [--runs N] [--events N]`.

mod bare;
mod figures;
mod journal;
mod listing;
mod paused;
mod suite;
mod writing;

use suite::Options;

fn main() {
    let options = Options::from_arguments(std::env::args().skip(1)).unwrap_or_else(|problem| {
        eprintln!("{problem}\nusage: bench_journal [--runs N] [--events N]");
        std::process::exit(2);
    });
    suite::run(&options);
}
