//! Every code that a user can see has a page, and every page a code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use adjourn_core::{ErrorCode, WarningCode};
use anyhow::{Context, Result};

/// Where the pages are.
const FOLDER: &str = "docs/errors";

/// What is wrong with the pages below `root`.
fn problems(root: &Path) -> Result<Vec<String>> {
    let errors = ErrorCode::ALL.iter().map(|code| (code.name(), code.doc()));
    let warnings = WarningCode::ALL.iter().map(|code| (code.name(), code.doc()));
    let mut pages: BTreeSet<String> = fs::read_dir(root.join(FOLDER))
        .with_context(|| format!("cannot read {FOLDER}"))?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_>>()?;
    let mut problems = Vec::new();
    if !pages.remove("README.md") {
        problems.push(format!("{FOLDER}/README.md is missing"));
    }
    // A code that is an error of one run and a warning of another has one page.
    let mut seen = BTreeSet::new();
    for (code, doc) in errors.chain(warnings).filter(|(code, _)| seen.insert(*code)) {
        if !pages.remove(&format!("{code}.md")) {
            problems.push(format!("{FOLDER}/{code}.md is missing: {doc}"));
        }
    }
    problems.extend(pages.into_iter().map(|page| format!("{FOLDER}/{page} is the page of no code")));
    Ok(problems)
}

#[test]
fn every_code_has_its_page() {
    assert_eq!(problems(crate::repo::root()).expect("the pages can be read"), [""; 0]);
}
