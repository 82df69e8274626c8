//! `cargo xtask fuzz`: everything that reads foreign bytes, fed by libFuzzer.
//!
//! The targets are in `crates/server/src/fuzzing.rs`, the program in `fuzz/`, which is a workspace of its own. libFuzzer
//! needs no more than a stable compiler that is asked to count which parts of the code are reached. Only our own crates
//! are compiled that way: cargo calls this program in place of the compiler, which adds what is needed for them. All
//! others are used as they were compiled for the tests. The tests run a short form of the same targets.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use adjourn_testkit::{cache, fuzz_seeds};
use anyhow::{Context, Result, bail, ensure};

use crate::{cargo, repo};

/// What the compiler is told: count every edge, and remember what values are compared with.
const INSTRUMENTED: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Set where cargo calls this program in place of the compiler.
const COMPILER_VARIABLE: &str = "ADJOURN_FUZZ_COMPILER";

/// Seconds that one input may take. The slowest that is allowed, a template or a schema at its limit, takes about one
/// without instrumentation.
const INPUT_SECONDS_MAX: u32 = 10;

/// Memory that a target may take.
const MEMORY_MIB_MAX: u32 = 2048;

/// Bytes of an input: enough for several messages, and small enough for thousands of inputs per second.
const INPUT_BYTES_MAX: u32 = 16 << 10;

/// Where the list of targets is.
const LIST: &str = "crates/server/src/fuzzing.rs";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only this target; without it, all
    target: Option<String>,
    /// How long each target is run
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let all = targets(&repo::read(LIST)?);
    let chosen: Vec<_> = match &options.target {
        None => all,
        Some(name) if all.contains(name) => vec![name.clone()],
        Some(name) => bail!("there is no target `{name}`: there are {}", all.join(", ")),
    };
    let program = build()?;
    let corpora = cache::folder("fuzz", "corpus", "1")
        .context("neither XDG_CACHE_HOME nor HOME says where the cache folder is")?;
    let mut failed = Vec::new();
    println!("{:<20}{:>12}{:>10}{:>8}", "target", "executions", "coverage", "corpus");
    for target in &chosen {
        match fuzz(&program, &corpora.join(target), target, options.seconds)? {
            Outcome::Passed(Figures { executions, coverage, corpus }) => {
                println!("{target:<20}{executions:>12}{coverage:>10}{corpus:>8}");
            }
            Outcome::Failed { input, log } => {
                println!("{target:<20}FAILED");
                failed.push(format!("`{target}` fails on {}; see {}", input, log.display()));
            }
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// The names in the list of targets, which is the only one there is.
fn targets(list: &str) -> Vec<String> {
    let lines = list.lines().skip_while(|line| !line.starts_with("pub const TARGETS")).skip(1);
    let entries = lines.take_while(|line| !line.starts_with("];"));
    entries.filter_map(|line| line.split('"').nth(1)).map(str::to_owned).collect()
}

/// Builds the instrumented program.
fn build() -> Result<PathBuf> {
    let began = Instant::now();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let target = repo::root().join(target);
    let folder = target.to_str().context("the path of the target folder should be UTF-8")?;
    let this = std::env::current_exe().context("cannot find out where this program is")?;
    let this = this.to_str().context("the path of this program should be UTF-8")?;
    let environment = [("RUSTC_WRAPPER", this), (COMPILER_VARIABLE, "1"), ("CARGO_TARGET_DIR", folder)];
    cargo::run_with(&environment, &["build", "--locked", "--manifest-path", "fuzz/Cargo.toml"])?;
    println!("built in {:.0} s", began.elapsed().as_secs_f64());
    Ok(target.join("debug/adjourn-fuzz"))
}

/// Whether cargo calls this program in place of the compiler.
pub(crate) fn is_compiler() -> bool {
    std::env::var_os(COMPILER_VARIABLE).is_some()
}

/// Calls the compiler as cargo wants it called, and has our own crates instrumented.
pub(crate) fn compile() -> Result<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    let compiler = args.next().context("cargo should say which compiler is meant")?;
    let args: Vec<_> = args.collect();
    let name = args.iter().position(|arg| arg == "--crate-name").and_then(|at| args.get(at + 1));
    let is_ours = name.and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("adjourn"));
    let more = if is_ours { INSTRUMENTED } else { &[] };
    let status =
        Command::new(&compiler).args(&args).args(more).status().context("cannot start the compiler")?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came of a target.
enum Outcome {
    Passed(Figures),
    /// The input that it fails on, and what libFuzzer printed.
    Failed {
        input: String,
        log: PathBuf,
    },
}

/// What libFuzzer says at the end.
#[derive(Debug, PartialEq, Eq)]
struct Figures {
    executions: u64,
    /// Edges of the program that were reached.
    coverage: u64,
    /// Inputs that reach something that no other does.
    corpus: u64,
}

fn fuzz(program: &Path, folder: &Path, target: &str, seconds: u32) -> Result<Outcome> {
    let (corpus, seeds, temporary) = (folder.join("corpus"), folder.join("seeds"), folder.join("tmp"));
    // What an earlier run left behind, when it was killed.
    let _ = fs::remove_dir_all(&temporary);
    for folder in [&corpus, &seeds, &temporary] {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    for (name, bytes) in fuzz_seeds::of(target)? {
        fs::write(seeds.join(name), bytes)?;
    }
    let log = folder.join("log.txt");
    let status = Command::new(program)
        .env("ADJOURN_FUZZ_TARGET", target)
        .env("RUST_BACKTRACE", "0")
        .env("TMPDIR", &temporary)
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
        .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
        .arg(format!("-max_len={INPUT_BYTES_MAX}"))
        .arg(format!("-artifact_prefix={}/", folder.display()))
        .arg("-print_final_stats=1")
        .args([&corpus, &seeds])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .status()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let printed = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    if !status.success() {
        let input =
            printed.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path);
        let input = input.unwrap_or("an input that was not written").to_owned();
        return Ok(Outcome::Failed { input, log });
    }
    figures(&printed).map(Outcome::Passed).with_context(|| format!("{} has no figures", log.display()))
}

/// The last figures that libFuzzer printed: `#3 DONE cov: 1234 ft: 5 corp: 67/8Kb …`.
fn figures(printed: &str) -> Option<Figures> {
    let last = printed.lines().rfind(|line| line.starts_with('#') && line.contains(" cov: "))?;
    let words: Vec<_> = last.split_whitespace().collect();
    let after = |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1));
    let number = |text: &str| text.split('/').next()?.parse().ok();
    Some(Figures {
        executions: number(words.first()?.trim_start_matches('#'))?,
        coverage: number(after("cov:")?)?,
        corpus: number(after("corp:")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Figures, LIST, figures, targets};
    use crate::repo;

    #[test]
    fn the_targets_are_those_of_the_list_and_each_has_samples() {
        let targets = targets(&repo::read(LIST).unwrap());
        assert!(targets.contains(&"journal".to_owned()), "{targets:?}");
        for target in targets {
            assert!(!adjourn_testkit::fuzz_seeds::of(&target).unwrap().is_empty(), "{target}");
        }
    }

    #[test]
    fn the_last_figures_count() {
        let printed = "#8\tINITED cov: 10 ft: 11 corp: 1/7b exec/s: 0 rss: 30Mb\n\
            #4242\tDONE   cov: 120 ft: 300 corp: 45/9Kb lim: 80 exec/s: 70 rss: 31Mb\n\
            stat::number_of_executed_units: 4242\n";
        assert_eq!(figures(printed), Some(Figures { executions: 4242, coverage: 120, corpus: 45 }));
        assert_eq!(figures("nothing"), None);
    }
}
