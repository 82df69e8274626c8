//! Checks that every crate we build on may be shipped under our own licences.

use anyhow::{Context, Result, bail, ensure};

use crate::metadata::Package;

/// Licences that ask for no more than a notice. Another one is a decision, not an edit in passing.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // Of the root certificates that a TLS client trusts, which are data: who passes them on passes the licence on.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Fails with the name of each crate whose licence is not allowed.
pub(crate) fn check(packages: &[Package]) -> Result<()> {
    let problems: Vec<_> = packages.iter().filter_map(problem).collect();
    ensure!(
        problems.is_empty(),
        "licences that are not allowed:\n  {}\nuse another crate, or allow the licence in xtask/src/licences.rs",
        problems.join("\n  ")
    );
    println!("{} crates, all under licences that are allowed", packages.len());
    Ok(())
}

fn problem(package: &Package) -> Option<String> {
    let Package { name, version, license } = package;
    let Some(license) = license else { return Some(format!("{name} {version} declares none")) };
    match is_allowed(license) {
        Ok(true) => None,
        Ok(false) => Some(format!("{name} {version} is under {license}")),
        Err(error) => Some(format!("{name} {version} is under `{license}`, which cannot be read: {error:#}")),
    }
}

/// Whether a licence expression leaves us a choice that is allowed.
fn is_allowed(expression: &str) -> Result<bool> {
    // `MIT/Apache-2.0` is how crates spelled OR before SPDX expressions.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = Words(spaced.split_whitespace().collect());
    let allowed = any_of(&mut words)?;
    match words.0.first() {
        None => Ok(allowed),
        Some(word) => bail!("`{word}` was not expected"),
    }
}

/// The words of an expression that are still to be read.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    fn take(&mut self) -> Option<&'a str> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    fn take_if(&mut self, word: &str) -> bool {
        let matches = self.0.first() == Some(&word);
        if matches {
            self.0.remove(0);
        }
        matches
    }
}

/// `a OR b`: we choose. Both sides are read in any case, so that nonsense in either is noticed.
fn any_of(words: &mut Words<'_>) -> Result<bool> {
    let mut allowed = all_of(words)?;
    while words.take_if("OR") {
        allowed |= all_of(words)?;
    }
    Ok(allowed)
}

/// `a AND b` binds tighter than `OR`.
fn all_of(words: &mut Words<'_>) -> Result<bool> {
    let mut allowed = one(words)?;
    while words.take_if("AND") {
        allowed &= one(words)?;
    }
    Ok(allowed)
}

/// A licence, a licence `WITH` an exception, or an expression in parentheses.
fn one(words: &mut Words<'_>) -> Result<bool> {
    let word = words.take().context("it ends where a licence should be")?;
    if word == "(" {
        let allowed = any_of(words)?;
        ensure!(words.take_if(")"), "a parenthesis is not closed");
        return Ok(allowed);
    }
    ensure!(!matches!(word, ")" | "OR" | "AND" | "WITH"), "`{word}` stands where a licence should be");
    if words.take_if("WITH") {
        let exception = words.take().context("it ends where an exception should be")?;
        return Ok(ALLOWED.contains(&format!("{word} WITH {exception}").as_str()));
    }
    Ok(ALLOWED.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::{ALLOWED, is_allowed, problem};
    use crate::metadata::Package;
    use crate::repo;

    #[test]
    fn cargo_deny_is_told_the_same_licences() {
        let configuration = repo::read("deny.toml").unwrap();
        let list =
            configuration.split("[licenses]").nth(1).and_then(|rest| rest.split("[bans]").next()).unwrap();
        let named: Vec<_> = list.split('"').skip(1).step_by(2).filter(|name| *name != "allow").collect();
        assert_eq!(named, ALLOWED);
    }

    #[test]
    fn one_allowed_choice_is_enough_but_all_of_its_parts_have_to_be() {
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("GPL-3.0-only OR AGPL-3.0-only", false),
            ("MIT AND GPL-3.0-only", false),
            ("MIT AND Unicode-3.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only / MIT", true),
            ("(MIT OR GPL-3.0-only) AND Unicode-3.0", true),
            ("MIT OR (GPL-3.0-only AND ISC)", true),
            ("GPL-3.0-only AND MIT OR ISC", true),
            ("GPL-3.0-only AND (MIT OR ISC)", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0 WITH Classpath-exception-2.0", false),
            ("GPL-2.0-only WITH Classpath-exception-2.0 OR MIT", true),
        ] {
            assert_eq!(is_allowed(expression).ok(), Some(expected), "{expression}");
        }
    }

    #[test]
    fn an_expression_that_cannot_be_read_is_never_allowed() {
        for (expression, expected) in [
            ("", "it ends where a licence should be"),
            ("MIT OR", "it ends where a licence should be"),
            ("MIT WITH", "it ends where an exception should be"),
            ("MIT OR AND ISC", "`AND` stands where a licence should be"),
            ("(MIT", "a parenthesis is not closed"),
            ("MIT ISC", "`ISC` was not expected"),
            ("MIT)", "`)` was not expected"),
        ] {
            let error = is_allowed(expression).expect_err("it is nonsense");
            assert_eq!(error.to_string(), expected, "{expression}");
        }
    }

    #[test]
    fn a_problem_names_the_crate_and_its_licence() {
        let package = |license: Option<&str>| Package {
            name: "a".into(),
            version: "1.0.0".into(),
            license: license.map(Into::into),
        };
        assert_eq!(problem(&package(Some("MIT"))), None);
        assert_eq!(problem(&package(None)).as_deref(), Some("a 1.0.0 declares none"));
        assert_eq!(problem(&package(Some("SSPL-1.0"))).as_deref(), Some("a 1.0.0 is under SSPL-1.0"));
    }
}
