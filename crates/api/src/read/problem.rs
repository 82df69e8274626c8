//! What is wrong with a document, and where.

use std::fmt;

use adjourn_core::FieldError;

/// A step on the way to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Into the member of this name.
    Key(String),
    /// Into the item with this index.
    Index(usize),
}

/// The way from the top of a document to a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The path that a JSON pointer is. What is a number is an index.
    pub(super) fn of(pointer: &str) -> Self {
        let step = |step: &str| step.parse().map_or_else(|_| Step::Key(unescaped(step)), Step::Index);
        Self(pointer.split('/').skip(1).map(step).collect())
    }

    /// The path as a JSON pointer, for programs.
    pub fn pointer(&self) -> String {
        let steps = self.0.iter().map(|step| match step {
            Step::Key(key) => format!("/{}", escaped(key)),
            Step::Index(index) => format!("/{index}"),
        });
        steps.collect()
    }
}

/// The path as people write it: `engines.claude.permissions[0].kind`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if place == 0 => f.write_str(key)?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A key as a step of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A step of a JSON pointer as a key.
pub(super) fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A place in the text; both numbers count from 1.
    Text {
        /// The line.
        line: usize,
        /// The character in the line.
        column: usize,
    },
    /// A variable of the environment.
    Variable(String),
}

impl Place {
    /// The line of the text, where there is one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Text { line, .. } => Some(*line),
            Self::Variable(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { line, column } => write!(f, "{line}:{column}"),
            Self::Variable(variable) => write!(f, "${variable}"),
        }
    }
}

/// What kind of problem it is, for a caller that treats some of them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The text is not JSON, TOML or YAML.
    Syntax,
    /// There is no such key.
    UnknownKey,
    /// Something else stands where there should be a list or an object.
    WrongKind,
    /// A value is missing or wrong.
    Wrong,
}

/// One thing that is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind of problem it is.
    pub kind: ProblemKind,
    /// The value that is wrong.
    pub path: Path,
    /// Where it stands; none for a document that was no text.
    pub place: Option<Place>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Problem {
    pub(super) fn syntax(line: usize, column: usize, message: impl Into<String>) -> Self {
        let place = Some(Place::Text { line, column });
        Self { kind: ProblemKind::Syntax, path: Path::default(), place, message: message.into() }
    }

    /// The line of the text, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().and_then(Place::line)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.path.0.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl From<Problem> for FieldError {
    fn from(problem: Problem) -> Self {
        Self::new(problem.path.pointer(), problem.message)
    }
}
