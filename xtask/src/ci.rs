//! `cargo xtask ci`: all that a change has to pass.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::{cargo, docs, duplicates, ledger, licences, macos, metadata, purity};

/// A step and how to take it.
type Step = (&'static str, fn() -> Result<()>);

const STEPS: &[Step] = &[
    ("format", || cargo::run(&["fmt", "--all", "--check"])),
    ("lints", || {
        let lint = ["clippy", "--workspace", "--all-targets", "--all-features", "--locked"];
        cargo::run(&[&lint[..], &["--", "--deny", "warnings"]].concat())
    }),
    ("API documentation", || {
        let deny_warnings = [("RUSTDOCFLAGS", "--deny warnings")];
        cargo::run_with(&deny_warnings, &["doc", "--workspace", "--no-deps", "--all-features", "--locked"])
    }),
    ("macOS", macos::run_if_possible),
    // The command of the README, literally: what passes here passes for whoever follows it.
    ("tests", || cargo::run(&["xtask", "test"])),
    ("documents", docs::check),
    ("ledger", || ledger::run(&ledger::Options::default())),
    ("licences", || licences::check(&metadata::packages()?)),
    ("duplicate versions", || duplicates::check(&metadata::packages()?)),
    ("core purity", purity::check),
    // A workspace of its own, whose lock file no other step reads.
    ("lock of fuzz", || {
        let manifest = ["--manifest-path", "fuzz/Cargo.toml"];
        cargo::output(&[&["metadata", "--format-version", "1", "--locked"][..], &manifest].concat()).map(drop)
    }),
];

/// Takes each step, stops at the first that fails, and sums up.
pub(crate) fn run() -> Result<()> {
    let mut taken = Vec::new();
    for (index, (name, step)) in STEPS.iter().enumerate() {
        println!("\n== {} of {}: {name}", index + 1, STEPS.len());
        let began = Instant::now();
        let result = step();
        taken.push((name, result.is_ok(), began.elapsed()));
        if result.is_err() {
            sum_up(&taken);
            return result.with_context(|| format!("step `{name}`"));
        }
        println!("== {name}: {}", seconds(began.elapsed()));
    }
    sum_up(&taken);
    Ok(())
}

fn sum_up(taken: &[(&&str, bool, Duration)]) {
    println!("\n== summary");
    for (name, passed, time) in taken {
        println!("{:<20}{:<8}{:>9}", name, if *passed { "passed" } else { "FAILED" }, seconds(*time));
    }
    for (name, _) in &STEPS[taken.len()..] {
        println!("{name:<20}not run");
    }
    let total = taken.iter().map(|(_, _, time)| *time).sum();
    println!("{:<28}{:>9}", "total", seconds(total));
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
