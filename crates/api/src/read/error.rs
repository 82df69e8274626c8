//! What a type says of a value that it cannot be made of.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::node::Node;
use super::problem::{Path, Place};

/// The word for a value with named members, before the format is known.
pub(super) const OBJECT: &str = "an object";

/// Why a value cannot be taken.
#[derive(Debug)]
pub(super) enum Cause {
    Wrong { wanted: String, is: String },
    UnknownKey { key: String, known: &'static [&'static str] },
    UnknownValue { given: String, known: &'static [&'static str] },
    Missing(&'static str),
    Other(String),
}

/// A value that cannot be taken, and where it is once that is known.
#[derive(Debug)]
pub(super) struct Error {
    pub(super) cause: Cause,
    pub(super) location: Option<Box<Location>>,
}

/// Where a value is, and what to leave out to do without it.
#[derive(Debug)]
pub(super) struct Location {
    pub(super) path: Path,
    pub(super) place: Option<Place>,
    /// The value, or the one that a stand-in is in. Its address is compared and never followed.
    pub(super) node: *const Node,
    pub(super) is_stand_in: bool,
}

impl Error {
    pub(super) fn new(cause: Cause) -> Self {
        Self { cause, location: None }
    }

    /// The error with this location, unless a value further down has been found to be the cause.
    pub(super) fn at(mut self, location: impl FnOnce() -> Location) -> Self {
        self.location.get_or_insert_with(|| Box::new(location()));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.cause)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Cause::Other(message.to_string()))
    }

    fn invalid_type(is: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(Cause::Wrong { wanted: plain(&wanted.to_string()), is: type_of(&is).to_owned() })
    }

    fn invalid_value(is: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let wanted = match wanted.to_string().as_str() {
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on".to_owned(),
            other => plain(other),
        };
        let is = match is {
            Unexpected::Unsigned(number) => number.to_string(),
            Unexpected::Signed(number) => number.to_string(),
            other => type_of(&other).to_owned(),
        };
        Self::new(Cause::Wrong { wanted, is })
    }

    fn invalid_length(length: usize, wanted: &dyn Expected) -> Self {
        Self::custom(format_args!("should be {wanted}, it has {length} values"))
    }

    fn unknown_variant(given: &str, known: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownValue { given: given.to_owned(), known })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Self::new(Cause::UnknownKey { key: key.to_owned(), known })
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(Cause::Missing(field))
    }
}

/// What a type expects, in plain words: serde speaks of Rust.
fn plain(wanted: &str) -> String {
    match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => OBJECT,
        "a borrowed string" | "string" => "a string",
        of_type if of_type.starts_with("struct ") => OBJECT,
        other => other,
    }
    .to_owned()
}

fn type_of(is: &Unexpected<'_>) -> &'static str {
    match is {
        Unexpected::Bool(true) => "`true`",
        Unexpected::Bool(false) => "`false`",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "a whole number",
        Unexpected::Float(_) => "a number with a fraction",
        Unexpected::Str(_) | Unexpected::Char(_) => "a string",
        Unexpected::Unit | Unexpected::Option => "null",
        Unexpected::Seq => "a list",
        Unexpected::Map => OBJECT,
        Unexpected::Bytes(_)
        | Unexpected::NewtypeStruct
        | Unexpected::Enum
        | Unexpected::UnitVariant
        | Unexpected::NewtypeVariant
        | Unexpected::TupleVariant
        | Unexpected::StructVariant
        | Unexpected::Other(_) => "something else",
    }
}
