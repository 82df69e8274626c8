//! `cargo xtask docs`: the documents that are computed from the code.
//!
//! A generated document is committed, so that it can be read where the code is read; `--check` keeps it from going stale.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::{ledger, repo};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Change nothing; fail if a document is out of date
    #[arg(long)]
    check: bool,
}

/// Paths relative to the root of the repository, and what has to be in them.
pub(crate) type Documents = Vec<(PathBuf, String)>;

/// Everything that is generated. A new kind of document is a new line.
const GENERATORS: &[fn() -> Result<Documents>] = &[ledger::documents, statecharts];

fn statecharts() -> Result<Documents> {
    Ok(adjourn_chart::documents().into_iter().map(|(path, text)| (path.into(), text)).collect())
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check { check() } else { write() }
}

/// Fails with the name of each document that is not what its generator says.
pub(crate) fn check() -> Result<()> {
    let stale = stale()?;
    if stale.is_empty() {
        println!("the generated documents are up to date");
        return Ok(());
    }
    let names: Vec<_> = stale.iter().map(|(path, _)| format!("  {}", path.display())).collect();
    bail!("out of date:\n{}\nrun `cargo xtask docs` and commit what it writes", names.join("\n"));
}

fn write() -> Result<()> {
    let stale = stale()?;
    for (path, text) in &stale {
        let target = repo::root().join(path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        fs::write(&target, text).with_context(|| format!("cannot write {}", target.display()))?;
        println!("wrote {}", path.display());
    }
    if stale.is_empty() {
        println!("nothing to write: the generated documents are up to date");
    }
    Ok(())
}

/// The documents whose file is missing or says something else.
fn stale() -> Result<Documents> {
    let mut stale = Documents::new();
    for generate in GENERATORS {
        for (path, text) in generate()? {
            // A file that cannot be read is as stale as one that is not there: it gets written.
            if fs::read_to_string(repo::root().join(&path)).ok().as_ref() != Some(&text) {
                stale.push((path, text));
            }
        }
    }
    Ok(stale)
}

#[test]
fn the_generated_documents_are_up_to_date() {
    let stale: Vec<_> = stale().expect("they can be generated").into_iter().map(|(path, _)| path).collect();
    assert_eq!(stale, [""; 0].map(PathBuf::from), "run `cargo xtask docs` and commit what it writes");
}
