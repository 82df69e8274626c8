//! The habits of this repository that no other tool checks, as a test.
//!
//! A rule is a function from a file to what is wrong with it. The rules on links are in [`links`].

mod codes;
mod cycles;
mod guarantees;
mod links;

use std::path::Path;

use anyhow::{Context, Result};

use crate::repo;

/// Above this, a Rust file is hardly still one concept.
const RUST_LINES_MAX: usize = 500;

/// Names that say nothing about what is inside.
const BANNED_STEMS: &[&str] = &["utils", "util", "common", "helpers", "helper", "manager", "misc"];

/// Words that say that something is not finished.
const BANNED_WORDS: &[&str] = &["TODO", "FIXME", "HACK", "dbg!"];

/// The one file that has to contain them.
const THIS_FILE: &str = "xtask/src/tidy.rs";

/// A file that is text, as the rules see it.
struct Source<'a> {
    /// The root of the repository.
    root: &'a Path,
    /// Relative to it.
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn has_extension(&self, extension: &str) -> bool {
        self.path.extension().is_some_and(|actual| actual == extension)
    }
}

type Rule = fn(&Source<'_>) -> Vec<String>;

const RULES: &[Rule] = &[
    says_what_it_is,
    is_named_for_its_content,
    ends_with_one_newline,
    has_clean_lines,
    is_finished,
    is_short,
    asks_the_service,
    links::resolve,
    guarantees::are_shown,
];

/// What is wrong in the repository at `root`, one line each.
fn problems(root: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in repo::files(root)? {
        let bytes = std::fs::read(root.join(&path)).with_context(|| path.display().to_string())?;
        // Pictures and the like. What a tool writes for itself is not for us to tidy either.
        let Ok(text) = str::from_utf8(&bytes) else { continue };
        let source = Source { root, path: &path, text };
        // Snapshots are written by a program, and samples for fuzzing are bytes of others.
        if source.has_extension("snap") || path.starts_with("fuzz/seeds") {
            continue;
        }
        let found = RULES.iter().flat_map(|rule| rule(&source));
        problems.extend(found.map(|problem| format!("{}{problem}", path.display())));
    }
    Ok(problems)
}

/// A crate begins by saying what it is and what it is not.
fn says_what_it_is(source: &Source<'_>) -> Vec<String> {
    let silent = source.path.ends_with("src/lib.rs") && !source.text.starts_with("//!");
    silent.then(|| ": has to begin with a `//!` that says what the crate is".to_owned()).into_iter().collect()
}

fn is_named_for_its_content(source: &Source<'_>) -> Vec<String> {
    let stem = source.path.file_stem().unwrap_or_default().to_string_lossy();
    let mut problems = Vec::new();
    if BANNED_STEMS.contains(&stem.as_ref()) {
        problems.push(format!(": `{stem}` says nothing; name it after what is in it"));
    }
    if source.path.ends_with("mod.rs") {
        problems.push(": a module `a` is `a.rs`, never `a/mod.rs`".to_owned());
    }
    problems
}

fn ends_with_one_newline(source: &Source<'_>) -> Vec<String> {
    let wrong = match source.text {
        "" => return Vec::new(),
        text if !text.ends_with('\n') => ": does not end with a newline",
        text if text.ends_with("\n\n") => ": ends with an empty line",
        _ => return Vec::new(),
    };
    vec![wrong.to_owned()]
}

fn has_clean_lines(source: &Source<'_>) -> Vec<String> {
    let wrong = |line: &str| match line {
        _ if line.ends_with('\r') => Some("ends as on Windows"),
        _ if line.ends_with([' ', '\t']) => Some("ends with a space"),
        _ if line.trim_start_matches(' ').starts_with('\t') => Some("is indented with a tab"),
        _ => None,
    };
    // Not `lines()`, which hides a carriage return.
    let lines = source.text.split('\n').enumerate();
    lines.filter_map(|(index, line)| Some(format!(":{}: {}", index + 1, wrong(line)?))).collect()
}

fn is_finished(source: &Source<'_>) -> Vec<String> {
    if source.path == Path::new(THIS_FILE) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for word in BANNED_WORDS.iter().filter(|word| contains_word(line, word)) {
            problems.push(format!(":{}: `{word}`: finish it, or leave it out", index + 1));
        }
    }
    problems
}

fn contains_word(line: &str, word: &str) -> bool {
    let part_of_a_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part_of_a_word) && !line[at + word.len()..].starts_with(part_of_a_word)
    })
}

fn is_short(source: &Source<'_>) -> Vec<String> {
    let lines = source.text.lines().count();
    let long = source.has_extension("rs") && lines > RUST_LINES_MAX;
    long.then(|| format!(": {lines} lines; above {RUST_LINES_MAX}, split it by concept"))
        .into_iter()
        .collect()
}

/// The server uses operations of the service, and no part of the runtime behind it: rules of the runtime would grow in the
/// server.
fn asks_the_service(source: &Source<'_>) -> Vec<String> {
    if !source.path.starts_with("crates/server/src") {
        return Vec::new();
    }
    let lines = source.text.lines().enumerate();
    let parts = lines.flat_map(|(index, line)| {
        let parts =
            [".store()", ".turn_setup()", ".runtime()"].into_iter().filter(|part| line.contains(part));
        parts.map(move |part| format!(":{}: `{part}`: make it an operation of the service", index + 1))
    });
    parts.collect()
}

#[test]
fn the_repository_is_tidy() {
    let problems = problems(repo::root()).expect("the repository can be read");
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

mod tests {
    use std::fs;

    use super::{RUST_LINES_MAX, problems};

    /// What is wrong in a repository of these files.
    fn check(files: &[(&str, &str)], expected: &[&str]) {
        let root = tempfile::tempdir().expect("there is room for a few files");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder can be made");
            fs::write(path, text).expect("a file can be written");
        }
        assert_eq!(problems(root.path()).expect("it can be read"), expected, "for {files:?}");
    }

    #[test]
    fn a_crate_says_what_it_is() {
        check(&[("a/src/lib.rs", "//! A.\n"), ("a/src/b.rs", "fn b() {}\n")], &[]);
        check(
            &[("a/src/lib.rs", "mod b;\n")],
            &["a/src/lib.rs: has to begin with a `//!` that says what the crate is"],
        );
    }

    #[test]
    fn names_say_something() {
        check(&[("src/utils.rs", "")], &["src/utils.rs: `utils` says nothing; name it after what is in it"]);
        check(&[("src/a/mod.rs", "")], &["src/a/mod.rs: a module `a` is `a.rs`, never `a/mod.rs`"]);
    }

    #[test]
    fn lines_and_files_end_cleanly() {
        check(
            &[("a", "x"), ("b", "x\n\n"), ("c", ""), ("d", "x\n")],
            &["a: does not end with a newline", "b: ends with an empty line"],
        );
        check(
            &[("a", "x \n\ty\n  \tz\nok\tok\r\n")],
            &[
                "a:1: ends with a space",
                "a:2: is indented with a tab",
                "a:3: is indented with a tab",
                "a:4: ends as on Windows",
            ],
        );
        check(&[("a.snap", "x ")], &[]);
    }

    #[test]
    fn nothing_is_left_unfinished() {
        check(
            &[("a.rs", "// TODO: later\ndbg!(x);\nTODOS todo\n")],
            &["a.rs:1: `TODO`: finish it, or leave it out", "a.rs:2: `dbg!`: finish it, or leave it out"],
        );
    }

    #[test]
    fn rust_files_are_short() {
        check(&[("a.rs", &"x\n".repeat(RUST_LINES_MAX)), ("a.md", &"x\n".repeat(RUST_LINES_MAX + 1))], &[]);
        check(
            &[("a.rs", &"x\n".repeat(RUST_LINES_MAX + 1))],
            &["a.rs: 501 lines; above 500, split it by concept"],
        );
    }

    #[test]
    fn what_tools_leave_behind_is_not_looked_at() {
        check(&[("target/debug/utils.rs", " \n"), (".git/x", " "), ("b/node_modules/x.js", "\t\n")], &[]);
    }

    #[test]
    fn links_lead_somewhere() {
        check(
            &[
                ("a.md", "# A b\n[x](docs/b.md) [y](docs/b.md#two-words) [z](#a-b) ![i](docs/i.svg)\n"),
                (
                    "docs/b.md",
                    "## Two `words`!\n[up](../a.md \"title\") [web](https://example.org/x) <br>\n\n[r]: i.svg\n",
                ),
                ("docs/i.svg", "<svg/>\n"),
            ],
            &[],
        );
        check(
            &[("a.md", "[x](no.md)\n[x](#nothing) [y](b.md#no)\n\n[r]: no.png\n"), ("b.md", "# B\n")],
            &[
                "a.md:1: the link `no.md` leads nowhere",
                "a.md:2: the link `#nothing` leads nowhere",
                "a.md:2: the link `b.md#no` leads nowhere",
                "a.md:4: the link `no.png` leads nowhere",
            ],
        );
        check(&[("a.md", "```\n[x](no.md)\n```\n`[x](no.md)` and `a[i](j)`\n")], &[]);
    }

    #[test]
    fn the_server_asks_the_service_and_no_part_of_it() {
        let text = "service.store().head();\nservice.journal().head();\n";
        check(
            &[("crates/server/src/a.rs", text), ("crates/runtime/src/a.rs", text)],
            &["crates/server/src/a.rs:1: `.store()`: make it an operation of the service"],
        );
    }
}
