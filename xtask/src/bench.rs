//! `cargo xtask bench`: the benchmarks, built for release.

use anyhow::{Result, bail};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Which one; without a name they are listed
    name: Option<String>,
    /// Passed on to the benchmark
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// A benchmark is an example of the crate it measures, so that it is compiled, and kept compiling, with its tests.
struct Bench {
    name: &'static str,
    package: &'static str,
    example: &'static str,
    measures: &'static str,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "journal",
        package: "adjourn-store",
        example: "bench_journal",
        measures: "events per second of the journal beside a bare loop, reading back, and lists",
    },
    Bench {
        name: "waiting",
        package: "adjourn-runtime",
        example: "bench_waiting",
        measures: "time and memory from a kill to the first reply, with many runs that wait",
    },
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let Some(name) = &options.name else {
        for bench in BENCHES {
            println!("{:<12}{}", bench.name, bench.measures);
        }
        return Ok(());
    };
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == *name) else {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.name).collect();
        bail!("there is no benchmark `{name}`; there is {}", known.join(", "));
    };
    let mut command = vec!["run", "--release", "--package", bench.package, "--example", bench.example, "--"];
    command.extend(options.args.iter().map(String::as_str));
    cargo::run(&command)
}
