//! Checks that the core stays pure: its dependencies are exactly the ones somebody once agreed to.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::{cargo, repo};

/// The crates that the core may be built from, one name per line; `#` begins a remark.
const LIST: &str = "crates/core/dependencies.txt";

/// One platform for everybody, so that the list does not depend on where the check runs.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Fails with each crate that is new, and with each that is listed but gone.
pub(crate) fn check() -> Result<()> {
    let tree = ["tree", "--locked", "--package", "adjourn-core", "--edges", "normal", "--target", TARGET];
    let tree = cargo::output(&[&tree[..], &["--prefix", "none"]].concat())?;
    let list = repo::read(LIST)?;
    let (actual, listed) = (first_words(&tree), first_words(&list));
    let problems = problems(&actual, &listed);
    ensure!(
        problems.is_empty(),
        "the core's dependencies changed:\n  {}\nthe core does no I/O and knows no runtime; if the change is meant, \
         edit {LIST}",
        problems.join("\n  ")
    );
    println!("the core is built from the {} crates it may be built from", actual.len());
    Ok(())
}

/// A line of `cargo tree` is `name v1.2.3 (where)`, a line of the list is `name`.
fn first_words(lines: &str) -> BTreeSet<&str> {
    lines
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| !word.starts_with('#'))
        .collect()
}

fn problems(actual: &BTreeSet<&str>, listed: &BTreeSet<&str>) -> Vec<String> {
    let new = actual.difference(listed).map(|name| format!("{name} is new"));
    let gone = listed.difference(actual).map(|name| format!("{name} is listed, but gone"));
    new.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::{first_words, problems};

    #[test]
    fn the_list_has_to_equal_the_tree() {
        let tree = first_words("adjourn-core v0.1.0 (/somewhere)\nserde v1.0.0\ntokio v1.0.0 (*)\n\n");
        assert_eq!(problems(&tree, &first_words("# remark\nadjourn-core\nserde\ntokio\n")), [""; 0]);
        assert_eq!(
            problems(&tree, &first_words("adjourn-core\nserde\nsha2\n")),
            ["tokio is new", "sha2 is listed, but gone"]
        );
    }
}
