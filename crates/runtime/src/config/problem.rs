//! What is wrong with a configuration.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use adjourn_api::read::{self, Place};

use crate::Severity;

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The place in the file, or the variable that overrides it.
    pub place: Option<Place>,
    /// The setting, as keys joined by dots; empty if it is about none in particular.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ConfigProblem {
    pub(super) fn of(file: &Path, problem: read::Problem) -> Self {
        let read::Problem { kind: _, path, place, message } = problem;
        Self { severity: Severity::Error, file: file.to_owned(), place, key: path.to_string(), message }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { severity: _, file, place, key, message } = self;
        match place {
            Some(place @ Place::Text { .. }) => write!(f, "{}:{place}: ", file.display())?,
            Some(variable @ Place::Variable(_)) => write!(f, "{variable}: ")?,
            None => write!(f, "{}: ", file.display())?,
        }
        match key.as_str() {
            "" => f.write_str(message),
            key => write!(f, "{key}: {message}"),
        }
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {} cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// What it says cannot be used. All errors are named, and the warnings with them.
    #[error("the configuration cannot be used:\n{}", lines(.0))]
    Invalid(Vec<ConfigProblem>),
    /// A variable that a setting names is not set.
    #[error("{key} names the variable `{variable}`, which is not set")]
    MissingVariable {
        /// The setting.
        key: String,
        /// The variable.
        variable: String,
    },
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
