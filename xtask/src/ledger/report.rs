//! The list and the tests, held against each other.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::scenarios::{Chapter, Scenario};
use super::test_functions::TestFunction;

/// Tests below this folder cannot drive a runtime: the core has none.
const CORE: &str = "crates/core";

/// A test and where it was found.
pub(super) struct Found {
    pub(super) test: TestFunction,
    pub(super) file: PathBuf,
}

/// Every scenario with its tests.
pub(super) struct Ledger {
    entries: Vec<Entry>,
    /// `RT` to its title, in the order of the list.
    titles: Vec<(String, String)>,
    /// Tests whose name starts like an id that is not on the list.
    strays: Vec<Found>,
}

struct Entry {
    chapter: String,
    scenario: Scenario,
    tests: Vec<Found>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Tested,
    /// There are tests, but only in the core, and the scenario asks for the real runtime.
    CoreOnly,
    Ignored,
    Missing,
}

impl Status {
    const ALL: [Self; 4] = [Self::Tested, Self::CoreOnly, Self::Ignored, Self::Missing];

    const fn name(self) -> &'static str {
        match self {
            Self::Tested => "tested",
            Self::CoreOnly => "core only",
            Self::Ignored => "ignored",
            Self::Missing => "missing",
        }
    }
}

impl Entry {
    fn status(&self) -> Status {
        let counts = |found: &Found| self.scenario.pure || !found.file.starts_with(CORE);
        if self.tests.is_empty() {
            Status::Missing
        } else if self.tests.iter().any(|found| !found.test.ignored && counts(found)) {
            Status::Tested
        } else if self.tests.iter().any(|found| !found.test.ignored) {
            Status::CoreOnly
        } else {
            Status::Ignored
        }
    }

    /// `RT-02 (pure)`
    fn label(&self) -> String {
        format!("{}{}", self.scenario.id, if self.scenario.pure { " (pure)" } else { "" })
    }
}

impl Ledger {
    pub(super) fn new(chapters: Vec<Chapter>, tests: Vec<Found>) -> Self {
        let mut entries = Vec::new();
        let mut titles = Vec::new();
        for Chapter { id, title, scenarios } in chapters {
            let entry = |scenario| Entry { chapter: id.clone(), scenario, tests: Vec::new() };
            entries.extend(scenarios.into_iter().map(entry));
            titles.push((id, title));
        }
        let mut ledger = Self { entries, titles, strays: Vec::new() };
        for found in tests {
            ledger.add(found);
        }
        ledger
    }

    fn add(&mut self, found: Found) {
        let name = &found.test.name;
        if let Some(entry) =
            self.entries.iter_mut().find(|entry| name.starts_with(&entry.scenario.test_prefix()))
        {
            entry.tests.push(found);
        } else if self.titles.iter().any(|(chapter, _)| looks_like_an_id(name, chapter)) {
            self.strays.push(found);
        }
    }

    /// What a strict reader objects to, one line each.
    pub(super) fn problems(&self) -> Vec<String> {
        let untested = self.entries.iter().filter_map(|entry| match entry.status() {
            Status::Tested => None,
            Status::Missing => {
                Some(format!("{}: no test is called {}…", entry.scenario.id, entry.scenario.test_prefix()))
            }
            Status::Ignored => Some(format!("{}: its tests are ignored", entry.scenario.id)),
            Status::CoreOnly => {
                Some(format!("{}: its tests are in {CORE}, none drives the runtime", entry.scenario.id))
            }
        });
        let strays = self
            .strays
            .iter()
            .map(|found| format!("{} ({}): no scenario has this id", found.test.name, found.file.display()));
        untested.chain(strays).collect()
    }

    /// How many scenarios of each chapter have each status.
    fn totals(&self) -> Vec<(&str, &str, BTreeMap<Status, usize>)> {
        let count = |chapter: &str| {
            let mut counts = BTreeMap::from(Status::ALL.map(|status| (status, 0)));
            for entry in self.entries.iter().filter(|entry| entry.chapter == chapter) {
                *counts.entry(entry.status()).or_default() += 1;
            }
            counts
        };
        self.titles.iter().map(|(id, title)| (id.as_str(), title.as_str(), count(id))).collect()
    }

    /// For the terminal: a row per scenario, one more line per further test.
    pub(super) fn to_text(&self) -> String {
        let mut rows = Vec::new();
        for entry in &self.entries {
            let mut tests =
                entry.tests.iter().map(|found| format!("{} ({})", found.test.name, found.file.display()));
            let first = tests.next().unwrap_or_default();
            rows.push([entry.label(), entry.status().name().into(), first, entry.scenario.text.clone()]);
            rows.extend(tests.map(|test| [String::new(), String::new(), test, String::new()]));
        }
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let [id_width, status_width, test_width] = [0, 1, 2].map(width);
        let mut out = String::new();
        for [id, status, test, text] in &rows {
            let line = format!("{id:id_width$}  {status:status_width$}  {test:test_width$}  {text}");
            push_line(&mut out, line.trim_end());
        }
        push_line(&mut out, "");
        for (id, title, counts) in self.totals() {
            let counts = counts.iter().map(|(status, count)| format!("{count:3} {}", status.name()));
            push_line(&mut out, &format!("{id}  {}   {title}", counts.collect::<Vec<_>>().join("  ")));
        }
        out
    }

    /// For the documentation.
    pub(super) fn to_markdown(&self) -> String {
        let mut out = String::from(MARKDOWN_HEAD);
        push_line(&mut out, &format!("| chapter | {} |", Status::ALL.map(Status::name).join(" | ")));
        push_line(&mut out, "|---|---|---|---|---|");
        for (id, title, counts) in self.totals() {
            let counts: Vec<_> = counts.values().map(ToString::to_string).collect();
            push_line(&mut out, &format!("| {id}: {title} | {} |", counts.join(" | ")));
        }
        for (chapter, title) in &self.titles {
            let head =
                format!("\n## {chapter}: {title}\n\n| id | status | test | scenario |\n|---|---|---|---|");
            push_line(&mut out, &head);
            for entry in self.entries.iter().filter(|entry| entry.chapter == *chapter) {
                let tests: Vec<_> = entry.tests.iter().map(markdown_test).collect();
                let (id, status) = (entry.label(), entry.status().name());
                push_line(
                    &mut out,
                    &format!("| {id} | {status} | {} | {} |", tests.join("<br>"), entry.scenario.text),
                );
            }
        }
        out
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Value {
        let test = |found: &Found| json!({ "name": found.test.name, "file": found.file, "ignored": found.test.ignored });
        let scenario = |entry: &Entry| {
            json!({
                "id": entry.scenario.id,
                "pure": entry.scenario.pure,
                "status": entry.status(),
                "tests": entry.tests.iter().map(test).collect::<Vec<_>>(),
                "text": entry.scenario.text,
            })
        };
        let chapter = |(id, title, counts): (&str, &str, BTreeMap<Status, usize>)| json!({ "id": id, "title": title, "counts": counts });
        json!({
            "chapters": self.totals().into_iter().map(chapter).collect::<Vec<_>>(),
            "scenarios": self.entries.iter().map(scenario).collect::<Vec<_>>(),
            "strays": self.strays.iter().map(test).collect::<Vec<_>>(),
        })
    }
}

const MARKDOWN_HEAD: &str = "\
# The ledger

Which scenarios of [the acceptance list](scenarios.md) have a test. Generated by `cargo xtask docs`: change the list or
the tests, not this page. *Core only* means that there are tests, but none that drives the real runtime.

";

fn markdown_test(found: &Found) -> String {
    let ignored = if found.test.ignored { " (ignored)" } else { "" };
    format!("`{}` in `{}`{ignored}", found.test.name, slashes(&found.file))
}

/// The same page on every system.
fn slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

fn push_line(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a string does not fail");
}

/// Whether a test's name starts like an id of `chapter`: `rt_99_…` does, `rt_never_…` does not.
fn looks_like_an_id(name: &str, chapter: &str) -> bool {
    let number = name.strip_prefix(&chapter.to_lowercase()).and_then(|rest| rest.strip_prefix('_'));
    number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
