//! `cargo xtask bench`: the benchmarks, built for release.

mod http;

use anyhow::{Context, Result, bail};

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
        package: "adjourn-kernel",
        example: "bench_journal",
        measures: "events per second of the journal beside a bare loop, reading back, and lists",
    },
    Bench {
        name: "waiting",
        package: "adjourn-runtime",
        example: "bench_waiting",
        measures: "time and memory from a kill to the first reply, with many runs that wait",
    },
    Bench {
        name: "agents",
        package: "adjourn-runtime",
        example: "bench_agents",
        measures: "runs of a trivial agent beside a bare start of it, with the sandbox and without",
    },
];

pub(crate) fn run(options: &Options) -> Result<()> {
    let Some(name) = &options.name else {
        for bench in BENCHES {
            println!("{:<12}{}", bench.name, bench.measures);
        }
        println!("{RUNS:<12}runs that pause once, beside the bare loop of the journal in the same minute");
        println!(
            "{HTTP:<12}runs that pause once over HTTP, with one client and with many, and many subscribers"
        );
        return Ok(());
    };
    match name.as_str() {
        RUNS => return runs(&options.args),
        HTTP => return http::run(&options.args),
        _ => {}
    }
    let Some(bench) = BENCHES.iter().find(|bench| bench.name == *name) else {
        let known: Vec<_> = BENCHES.iter().map(|bench| bench.name).chain([RUNS, HTTP]).collect();
        bail!("there is no benchmark `{name}`; there is {}", known.join(", "));
    };
    let mut command = vec!["run", "--release", "--package", bench.package, "--example", bench.example, "--"];
    command.extend(options.args.iter().map(String::as_str));
    cargo::run(&command)
}

/// The benchmark of whole runs, which is a command of the binary.
const RUNS: &str = "runs";

/// The benchmark of the server, which is a command of the binary too.
const HTTP: &str = "http";

/// Measures whole runs, and beside them what SQLite alone can do with the same statements.
fn runs(args: &[String]) -> Result<()> {
    let bare = cargo::output(&[
        "run",
        "--release",
        "--package",
        "adjourn-kernel",
        "--example",
        "bench_journal",
        "--",
        "--runs",
        "1000",
        "--events",
        "400000",
    ])?;
    let line = bare.lines().find(|line| line.starts_with("commits of 256, bare loop"));
    let line = line.context("the benchmark of the journal has no bare loop")?;
    println!("{line}");
    let bare: f64 = line
        .split_whitespace()
        .zip(line.split_whitespace().skip(1))
        .find_map(|(number, unit)| if unit.starts_with("events/s") { number.parse().ok() } else { None })
        .context("the bare loop has no speed")?;
    for concurrency in ["1", "256"] {
        let runs = if concurrency == "1" { "2000" } else { "40000" };
        let mut command = vec!["run", "--release", "--package", "adjourn", "--", "--json", "bench"];
        command.extend(["--concurrency", concurrency, "--runs", runs]);
        command.extend(args.iter().map(String::as_str));
        let figures: serde_json::Value = serde_json::from_str(&cargo::output(&command)?)?;
        let number = |key: &str| figures[key].as_f64().unwrap_or(0.0);
        println!(
            "{concurrency:>3} at a time: {:.0} runs/s ({:.2} of the bare loop), reply to done p50 {:.1} ms, p99 {:.1} ms, \
             {:.2} syncs per run, {:.0} MB, {:.0} bytes per run",
            number("runs_per_second"),
            number("runs_per_second") * number("events_per_run") / bare,
            number("reply_to_done_p50_us") / 1000.0,
            number("reply_to_done_p99_us") / 1000.0,
            number("commits_per_run"),
            number("peak_rss_bytes") / 1e6,
            number("disk_bytes_per_run"),
        );
    }
    Ok(())
}
