//! The benchmark runs, with a little of everything, so that it cannot rot.

#[path = "../../examples/bench_journal/bare.rs"]
mod bare;
#[path = "../../examples/bench_journal/figures.rs"]
mod figures;
#[path = "../../examples/bench_journal/journal.rs"]
mod journal;
#[path = "../../examples/bench_journal/listing.rs"]
mod listing;
#[path = "../../examples/bench_journal/paused.rs"]
mod paused;
#[path = "../../examples/bench_journal/suite.rs"]
mod suite;
#[path = "../../examples/bench_journal/writing.rs"]
mod writing;

use suite::Options;

#[test]
fn the_benchmark_of_the_journal_runs() {
    let arguments = ["--runs", "400", "--events", "2_000"].map(str::to_owned);
    suite::run(&Options { rounds: 1, ..Options::from_arguments(arguments.into_iter()).unwrap() });
}

#[test]
fn the_benchmark_names_an_argument_it_does_not_know() {
    let parse =
        |arguments: &[&str]| Options::from_arguments(arguments.iter().map(ToString::to_string)).unwrap_err();
    assert_eq!(parse(&["--rums", "4"]), "`--rums` is not an option");
    assert_eq!(parse(&["--runs"]), "`--runs` takes a number");
}
