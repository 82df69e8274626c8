//! A file that is being read, and everything that is wrong with it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::problem::{ConfigProblem, Place};
use crate::Severity;
use crate::nearest::hint;

/// Variables of the environment, by name.
pub(super) type Variables = BTreeMap<String, String>;

/// A file that is being read.
pub(super) struct Document<'a> {
    pub(super) file: &'a Path,
    text: &'a str,
    pub(super) variables: &'a Variables,
    problems: RefCell<Vec<ConfigProblem>>,
    /// Variables that override a setting of the file, whether they are set or not.
    pub(super) known_variables: RefCell<Vec<String>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(file: &'a Path, text: &'a str, variables: &'a Variables) -> Self {
        Self { file, text, variables, problems: RefCell::default(), known_variables: RefCell::default() }
    }

    /// Says what is wrong with the variables that look like settings, and hands out all problems in order.
    pub(super) fn finish(self, prefixes: &[&str]) -> Vec<ConfigProblem> {
        let known = self.known_variables.take();
        for name in self.variables.keys().filter(|name| prefixes.iter().any(|it| name.starts_with(it))) {
            if !known.contains(name) {
                let hint = hint(name, known.iter().map(String::as_str));
                let place = Place::Environment { variable: name.clone() };
                self.problem(Severity::Warning, place, "", format!("overrides no setting{hint}"));
            }
        }
        let mut problems = self.problems.take();
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        problems
    }

    pub(super) fn syntax_error(&self, error: &toml::de::Error) {
        let at = error.span().map_or(0, |span| span.start);
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        self.problem(Severity::Error, self.place(at), "", format!("not valid TOML: {message}"));
    }

    pub(super) fn problem(&self, severity: Severity, place: Place, key: &str, message: String) {
        self.problems.borrow_mut().push(ConfigProblem { severity, place, key: key.to_owned(), message });
    }

    /// A path of the file, which is relative to it.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    /// A path of the file, where `~/` is the user's home folder.
    pub(super) fn path_or_home(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), self.variables.get("HOME")) {
            (Some(below), Some(home)) => Path::new(home).join(below),
            (Some(_) | None, _) => self.path(path),
        }
    }

    pub(super) fn place(&self, at: usize) -> Place {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place::File {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A value and where it comes from, so that more can be said about it.
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) key: String,
    pub(super) place: Place,
}

impl<T> Found<T> {
    pub(super) fn error(&self, document: &Document<'_>, message: impl Into<String>) {
        document.problem(Severity::Error, self.place.clone(), &self.key, message.into());
    }

    pub(super) fn warning(&self, document: &Document<'_>, message: impl Into<String>) {
        document.problem(Severity::Warning, self.place.clone(), &self.key, message.into());
    }

    pub(super) fn with<U>(&self, value: U) -> Found<U> {
        Found { value, key: self.key.clone(), place: self.place.clone() }
    }
}
