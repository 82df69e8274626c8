//! What a configuration has to be besides its shape, and everything that is wrong with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use adjourn_api::read::{self, Document, Place, ProblemKind, Variables, pointer};
use adjourn_engine::secrets::Secret;

use super::problem::ConfigProblem;
use crate::Severity;

/// A configuration that is being checked.
pub(super) struct Check<'a> {
    pub(super) file: &'a Path,
    document: &'a Document,
    variables: &'a Variables,
    problems: Vec<ConfigProblem>,
}

impl<'a> Check<'a> {
    pub(super) fn new(file: &'a Path, document: &'a Document, variables: &'a Variables) -> Self {
        Self { file, document, variables, problems: Vec::new() }
    }

    /// All problems in order: those of the shape, those that were found, and variables that look like settings and are none.
    pub(super) fn finish(mut self, shape: Vec<read::Problem>, unused: Vec<String>) -> Vec<ConfigProblem> {
        for problem in shape {
            let hint = match (&problem.place, problem.kind) {
                (Some(Place::Variable(_)), ProblemKind::UnknownKey) => {
                    problem.message.strip_prefix("unknown key")
                }
                // A list or a table, which a variable cannot be.
                (Some(Place::Variable(_)), ProblemKind::WrongKind) => Some(""),
                (Some(_) | None, _) => None,
            };
            match hint.map(|hint| format!("overrides no setting{hint}")) {
                Some(message) => self.add(Severity::Warning, problem.place, String::new(), message),
                None => self.problems.push(ConfigProblem::of(self.file, problem)),
            }
        }
        for name in unused {
            let message = "overrides no setting: a list or a table is set in the file only".to_owned();
            self.add(Severity::Warning, Some(Place::Variable(name)), String::new(), message);
        }
        self.problems.sort_by(|a, b| a.place.cmp(&b.place));
        self.problems
    }

    fn add(&mut self, severity: Severity, place: Option<Place>, key: String, message: String) {
        self.problems.push(ConfigProblem { severity, file: self.file.to_owned(), place, key, message });
    }

    /// The setting that these keys lead to is wrong.
    pub(super) fn error(&mut self, keys: &[&str], message: impl Into<String>) {
        self.add(Severity::Error, self.document.place(&pointer(keys)), keys.join("."), message.into());
    }

    /// The setting that these keys lead to is probably a mistake.
    pub(super) fn warning(&mut self, keys: &[&str], message: impl Into<String>) {
        self.add(Severity::Warning, self.document.place(&pointer(keys)), keys.join("."), message.into());
    }

    /// A setting is missing that has to be there. One that is there but wrong was told already.
    pub(super) fn missing(&mut self, keys: &[&str], why: &str) {
        if !self.has(keys) {
            self.error(keys, format!("is missing: {why}"));
        }
    }

    /// A setting means nothing where it is.
    pub(super) fn refuse(&mut self, keys: &[&str], why: &str) {
        if self.has(keys) {
            let place = self.document.key_place(&pointer(keys));
            self.add(Severity::Error, place, keys.join("."), format!("does not belong here: {why}"));
        }
    }

    /// Whether a setting is there at all, rightly or not.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        self.document.has(&pointer(keys))
    }

    /// A name that the user chose.
    pub(super) fn name(&mut self, table: &str, name: &str) {
        if name.is_empty() || !name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char)) {
            self.error(&[table, name], "a name has only letters, digits, `-`, `_` and `.`");
        }
    }

    /// A program and its arguments. A program given with a path is relative to the file.
    pub(super) fn command(&mut self, keys: &[&str], command: Option<Vec<String>>) -> Option<Vec<String>> {
        let mut command = command?;
        match command.first() {
            None => {
                self.error(keys, "should name a program, it is empty");
                None
            }
            Some(program) if program.is_empty() => {
                self.error(keys, "should begin with a program, it begins with nothing");
                None
            }
            Some(program) => {
                if program.contains('/') {
                    command[0] = self.path(program).to_string_lossy().into_owned();
                }
                Some(command)
            }
        }
    }

    /// Variables for a program. Their values may be secret, whatever their names are.
    pub(super) fn environment(&mut self, keys: &[&str], variables: &BTreeMap<String, Secret>) {
        for (name, _) in variables.iter().filter(|(_, value)| value.expose().contains('\0')) {
            self.error(&[keys, &[name]].concat(), "a variable cannot hold a NUL character");
        }
    }

    /// A web address.
    pub(super) fn url(&mut self, keys: &[&str], url: Option<String>) -> Option<String> {
        let url = url?;
        let host = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
        match host {
            Some(host)
                if !host.is_empty() && !host.starts_with('/') && !host.contains(char::is_whitespace) =>
            {
                Some(url)
            }
            Some(_) | None => {
                // Not repeated: an address may carry a password.
                self.error(keys, "should be an address that begins with http:// or https://");
                None
            }
        }
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
}
