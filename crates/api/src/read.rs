//! One reader for everything that people and programs write: JSON, TOML and YAML.
//!
//! A text becomes a [`Document`]: a tree of values that knows where each of them stands. [`Document::read`] makes a type
//! of it that derives serde's `Deserialize`. Where serde stops at the first mistake, this goes on: the value that is wrong
//! is noted, left out, and the document is read again, until everything that is wrong with it is known. Each problem has its path,
//! its place in the text, and the nearest right name for a wrong one.
//!
//! ```
//! use adjourn_api::read::Document;
//!
//! #[derive(Debug, serde::Deserialize)]
//! struct Slots { total: Option<u32>, queue_max: Option<u32> }
//!
//! let problems = Document::toml("totl = 4\nqueue_max = \"many\"").unwrap().read::<Slots>().problems;
//! let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
//! assert_eq!(lines, [
//!     "1:1: totl: unknown key; did you mean `total`?",
//!     "2:13: queue_max: should be a whole number, it is a string",
//! ]);
//! ```
//!
//! The alternative was a JSON Schema of each type and a validator that finds all mistakes. It lost because its messages speak of
//! schemas, every type would need a second description, and what a type checks by itself would be found by neither.
//!
//! Values are never repeated in messages, except names that are not one of a fixed list: a text may be a secret.

mod deserializer;
mod error;
mod json;
mod node;
mod problem;
mod toml;
mod values;
mod yaml;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use problem::{Path, Place, Problem, ProblemKind, Step};
pub use values::{text_or_object, within};

use deserializer::{Deserializer, Session};
use error::Cause;
use node::{Kind, Member, Node};

/// Problems of one document that are told: one can have hundreds of thousands, and nobody reads on after these.
pub const PROBLEMS_MAX: usize = 51;

/// Values that are visited before the search for further problems ends. A document is read once more for each problem, and
/// one from a client can have a million values.
const VISITS_MAX: usize = 2_000_000;

/// Variables of the environment, by name.
pub type Variables = BTreeMap<String, String>;

/// A language that documents are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Toml,
    Yaml,
}

impl Format {
    /// The word for a value with named members.
    const fn object(self) -> &'static str {
        match self {
            Self::Json => "an object",
            Self::Toml => "a table",
            Self::Yaml => "a mapping",
        }
    }
}

/// A text that was parsed: values, and where they stand.
#[derive(Debug, Clone)]
pub struct Document {
    format: Format,
    root: Node,
}

/// What came of reading a document.
#[derive(Debug)]
pub struct Reading<T> {
    /// The value, without everything that was wrong; none where too little was right.
    pub value: Option<T>,
    /// Everything that is wrong, in the order of the text.
    pub problems: Vec<Problem>,
}

impl<T> Reading<T> {
    /// The value, if nothing was wrong with it.
    pub fn whole(self) -> Result<T, Vec<Problem>> {
        match self.value {
            Some(value) if self.problems.is_empty() => Ok(value),
            Some(_) | None => Err(self.problems),
        }
    }
}

impl Document {
    /// Parses JSON. A member that is there twice is refused: of two, most readers take one, and not all the same one.
    pub fn json(text: &str) -> Result<Self, Problem> {
        Ok(Self::new(Format::Json, json::parse(text)?))
    }

    /// Parses TOML. All syntax errors are told.
    pub fn toml(text: &str) -> Result<Self, Vec<Problem>> {
        Ok(Self::new(Format::Toml, toml::parse(text)?))
    }

    /// Parses YAML. Aliases are refused, so that nothing grows.
    pub fn yaml(text: &str) -> Result<Self, Problem> {
        Ok(Self::new(Format::Yaml, yaml::parse(text)?))
    }

    /// A JSON value that was parsed by somebody else, so that nothing in it has a place.
    pub fn of(value: Value) -> Self {
        Self::new(Format::Json, value.into())
    }

    fn new(format: Format, root: Node) -> Self {
        Self { format, root }
    }

    /// Has single values overridden by variables: `slots.total` by `ADJOURN_SLOTS_TOTAL`. Returns those that cannot be, because
    /// they name a list or a table.
    pub fn override_by(&mut self, prefix: &str, variables: &Variables) -> Vec<String> {
        let settings =
            variables.iter().filter_map(|(name, text)| Some((name.strip_prefix(prefix)?, name, text)));
        let unused = settings.filter(|(rest, name, text)| !self.root.set(rest, name, text));
        unused.map(|(_, name, _)| name.clone()).collect()
    }

    /// Adds an empty table under each of `keys` that has none, so that variables can set something in it.
    #[must_use]
    pub fn with_tables(mut self, keys: &[&str]) -> Self {
        if let Kind::Members(members) = &mut self.root.kind {
            for key in keys {
                if members.iter().all(|member| member.key != *key) {
                    members.push(Member::new(key));
                }
            }
        }
        self
    }

    /// Moves the members named `keys` into a document of their own.
    pub fn split_off(&mut self, keys: &[&str]) -> Self {
        let mut taken = Vec::new();
        if let Kind::Members(members) = &mut self.root.kind {
            taken.extend(members.extract_if(.., |member| keys.contains(&member.key.as_str())));
        }
        Self::new(self.format, Node { at: self.root.at, kind: Kind::Members(taken) })
    }

    /// Whether the document is null or empty.
    pub fn is_null(&self) -> bool {
        self.root.kind == Kind::Null
    }

    /// Whether there is a value at this JSON pointer; null is none.
    pub fn has(&self, pointer: &str) -> bool {
        let (node, is_exact) = self.root.nearest(pointer);
        is_exact && node.kind != Kind::Null
    }

    /// The place of the value at this JSON pointer, or of what is nearest around it.
    pub fn place(&self, pointer: &str) -> Option<Place> {
        self.root.nearest(pointer).0.place()
    }

    /// The place of the key at this JSON pointer, or of what is nearest around it.
    pub fn key_place(&self, pointer: &str) -> Option<Place> {
        self.root.key(pointer).or_else(|| self.place(pointer))
    }

    /// A problem with the value at this JSON pointer, for a rule that no type can state.
    pub fn problem(&self, pointer: &str, message: impl Into<String>) -> Problem {
        let place = self.place(pointer);
        Problem { kind: ProblemKind::Wrong, path: Path::of(pointer), place, message: message.into() }
    }

    /// Whether the document has named members.
    pub fn is_object(&self) -> bool {
        matches!(self.root.kind, Kind::Members(_))
    }

    /// The members that are text, a number or a truth value, as text, each with its line.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String, usize)> {
        let members = if let Kind::Members(members) = &self.root.kind { members.as_slice() } else { &[] };
        members.iter().filter_map(|Member { key, node, key_at }| {
            let text = match &node.kind {
                Kind::Text(text) | Kind::Variable { text, .. } => text.clone(),
                Kind::Number(number) => number.to_string(),
                Kind::Bool(value) => value.to_string(),
                Kind::Null | Kind::List(_) | Kind::Members(_) => return None,
            };
            Some((key.as_str(), text, key_at.line as usize))
        })
    }

    /// Reads the document as a `T`, and finds everything that is wrong with it.
    pub fn read<T: DeserializeOwned>(&self) -> Reading<T> {
        let session = Session::new(self.format);
        let value = loop {
            let error = match T::deserialize(Deserializer::root(&self.root, &session)) {
                Ok(value) if session.is_complete() => break Some(value),
                Ok(_) if session.is_left_out(&self.root) => break None,
                Ok(_) => continue,
                Err(error) => error,
            };
            let is_root = error.location.is_none();
            let location = error.location.unwrap_or_else(|| Box::new(session.root(&self.root)));
            session.note(&location, &error.cause);
            if session.has_enough() {
                break None;
            }
            if let Cause::Missing(field) = error.cause
                && session.stand_in(&location, field)
            {
                continue;
            }
            let could_be_left_out = !is_root && session.leave_out(&location);
            if !could_be_left_out || session.is_left_out(&self.root) {
                break None;
            }
        };
        session.finish(value)
    }
}

/// The JSON pointer to what these keys lead to.
pub fn pointer(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("/{}", problem::escaped(key))).collect()
}

#[cfg(test)]
mod tests;
