//! Every promise names the test that shows it.

use std::path::Path;

use super::Source;
use crate::repo;

/// The promises.
const DOCUMENT: &str = "docs/guarantees.md";

/// Each line of a table that names no test, and each test that is not there.
pub(super) fn are_shown(source: &Source<'_>) -> Vec<String> {
    if source.path != Path::new(DOCUMENT) {
        return Vec::new();
    }
    let code = match all_code(source.root) {
        Ok(code) => code,
        Err(error) => return vec![format!(": the tests cannot be read: {error}")],
    };
    let mut problems = Vec::new();
    for (number, line) in promises(source.text) {
        let tests = tests(line);
        if tests.is_empty() {
            problems.push(format!(":{number}: names no test (\"Test: `its_name`\")"));
        }
        let missing = tests.into_iter().filter(|test| !code.contains(&format!("fn {test}(")));
        problems.extend(missing.map(|test| format!(":{number}: there is no test `{test}`")));
    }
    problems
}

/// The numbered lines of all tables, without their heads.
fn promises(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_in_body = false;
    markdown.lines().enumerate().filter_map(move |(index, line)| {
        let is_row = line.starts_with('|');
        let is_promise = is_row && is_in_body;
        is_in_body = is_row && (is_in_body || line.starts_with("|---"));
        is_promise.then_some((index + 1, line))
    })
}

/// The names behind `Test:` or `Tests:`, up to the end of the cell.
fn tests(line: &str) -> Vec<&str> {
    let named = line.split("Test: ").skip(1).chain(line.split("Tests: ").skip(1));
    let cells = named.filter_map(|rest| rest.split(" |").next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

fn all_code(root: &Path) -> anyhow::Result<String> {
    let files = repo::files(&root.join("crates"))?;
    let rust = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let mut code = String::new();
    for path in rust {
        code.push_str(&std::fs::read_to_string(root.join("crates").join(path))?);
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::{promises, tests};

    #[test]
    fn the_lines_of_tables_and_their_tests_are_found() {
        let text = "|  | promise | window |\n|---|---|---|\n| a | b. Tests: `one`, `two` | `c` |\n| d | e | f |\n\nTest: `no`\n";
        let found: Vec<_> = promises(text).map(|(number, line)| (number, tests(line))).collect();
        assert_eq!(found, [(3, vec!["one", "two"]), (4, vec![])]);
    }
}
