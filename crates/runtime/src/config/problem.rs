//! What is wrong with a configuration.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Severity;

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A place in a file, counted from 1.
    File {
        /// The file.
        file: PathBuf,
        /// The line.
        line: usize,
        /// The character in it.
        column: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        variable: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column } => write!(f, "{}:{line}:{column}", file.display()),
            Self::Environment { variable } => write!(f, "${variable}"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub place: Place,
    /// The setting, as keys joined by dots; empty if it is about none in particular.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, key, message, .. } = self;
        match key.as_str() {
            "" => write!(f, "{place}: {message}"),
            key => write!(f, "{place}: {key}: {message}"),
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
        /// Why.
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
