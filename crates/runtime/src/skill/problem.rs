//! What is wrong with a skill package.

use std::fmt;
use std::path::PathBuf;

use crate::Severity;

/// One thing that is wrong with a skill package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Where, relative to the package.
    pub file: PathBuf,
    /// The line, counted from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity, file, line, message } = self;
        match line {
            Some(line) => write!(f, "{}:{line}: {severity}: {message}", file.display()),
            None => write!(f, "{}: {severity}: {message}", file.display()),
        }
    }
}

/// Why a skill cannot be used: at least one of these is an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the skill in {} cannot be used:\n{}", dir.display(), lines(problems))]
pub struct SkillProblems {
    /// The package.
    pub dir: PathBuf,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Problems as they are found.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    pub(super) fn error(
        &mut self,
        file: impl Into<PathBuf>,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        self.add(Severity::Error, file.into(), line, message.into());
    }

    pub(super) fn warning(
        &mut self,
        file: impl Into<PathBuf>,
        line: Option<usize>,
        message: impl Into<String>,
    ) {
        self.add(Severity::Warning, file.into(), line, message.into());
    }

    fn add(&mut self, severity: Severity, file: PathBuf, line: Option<usize>, message: String) {
        self.0.push(Problem { severity, file, line, message });
    }

    /// By file and line, as a person works through them, the worst first.
    pub(super) fn into_sorted(mut self) -> Vec<Problem> {
        self.0.sort_by(|a, b| (&a.file, a.line, a.severity).cmp(&(&b.file, b.line, b.severity)));
        self.0
    }
}
