//! `cargo xtask ledger`: which promised behaviours have a test. Fails when one has none that lives, or a test names a
//! scenario that nobody promised.
//!
//! `docs/scenarios.md` is the acceptance list. A scenario is tested when a test function whose name starts with its id
//! (`rt_03_…`) is found in the sources; here the two are held against each other.

mod report;
mod scenarios;
mod test_functions;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::docs::Documents;
use crate::repo;
use report::{Found, Ledger};

/// The acceptance list.
const SCENARIOS: &str = "docs/scenarios.md";

/// The generated answer to it.
const LEDGER: &str = "docs/ledger.md";

#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Print one JSON document instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let ledger = collect()?;
    print(&if options.json { format!("{:#}\n", ledger.to_json()) } else { ledger.to_text() })?;
    let problems = ledger.problems();
    if !problems.is_empty() {
        bail!("the ledger is not in order:\n  {}", problems.join("\n  "));
    }
    Ok(())
}

/// The ledger as a page of the documentation.
pub(crate) fn documents() -> Result<Documents> {
    Ok(vec![(PathBuf::from(LEDGER), collect()?.to_markdown())])
}

/// Prints, unless nobody reads on: the table is long, and `| head` is no error.
fn print(text: &str) -> Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.context("cannot print the ledger"),
    }
}

fn collect() -> Result<Ledger> {
    let chapters = scenarios::parse(&repo::read(SCENARIOS)?).context(SCENARIOS)?;
    let mut tests = Vec::new();
    for file in repo::files(repo::root())? {
        if file.extension().is_some_and(|extension| extension == "rs") {
            let in_file = test_functions::test_functions(&repo::read(&file)?)
                .with_context(|| file.display().to_string())?;
            tests.extend(in_file.into_iter().map(|test| Found { test, file: file.clone() }));
        }
    }
    Ok(Ledger::new(chapters, tests))
}
