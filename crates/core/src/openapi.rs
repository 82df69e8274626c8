//! Schemas of what is shown, for the document that a server describes itself with.
//!
//! Most follow from the types themselves. Here are those of ids, times and names, which are strings on the wire.

#[doc(hidden)]
pub use utoipa;

use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::roundtable::{ArtifactId, ArtifactKind, Confidence, ConflictId, OpenQuestionId};
use crate::{ExecutionId, RoundtableId, RunId, Timestamp};

/// The schema of a string that is one of these names, each with its meaning.
#[doc(hidden)]
pub fn one_of(names: impl Iterator<Item = (&'static str, &'static str)> + Clone) -> RefOr<Schema> {
    let meanings: Vec<_> = names.clone().map(|(name, meaning)| format!("- `{name}`: {meaning}")).collect();
    let names: Vec<_> = names.map(|(name, _)| name).collect();
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
    schema.description(Some(meanings.join("\n"))).into()
}

/// The schema of an id: its prefix and 26 digits of base 32, the first of which carries only three bits.
fn id(prefix: &str) -> RefOr<Schema> {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$")))
        .examples([format!("{prefix}_01h455vb4pex5vsknk084sn02q")]);
    schema.into()
}

impl PartialSchema for RunId {
    fn schema() -> RefOr<Schema> {
        id(Self::PREFIX)
    }
}

impl ToSchema for RunId {}

impl PartialSchema for RoundtableId {
    fn schema() -> RefOr<Schema> {
        id(Self::PREFIX)
    }
}

impl ToSchema for RoundtableId {}

impl PartialSchema for ExecutionId {
    fn schema() -> RefOr<Schema> {
        id(Self::PREFIX)
    }
}

impl ToSchema for ExecutionId {}

/// The schema of a name that is one of these prefixes and a number of at least three digits.
fn numbered(prefixes: &[&str]) -> RefOr<Schema> {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(format!("^({})-[0-9]{{3,}}$", prefixes.join("|"))))
        .examples(prefixes.first().map(|prefix| format!("{prefix}-001")));
    schema.into()
}

impl PartialSchema for ArtifactId {
    fn schema() -> RefOr<Schema> {
        let prefixes: Vec<_> = ArtifactKind::ALL.iter().map(|kind| kind.prefix()).collect();
        numbered(&prefixes)
    }
}

impl ToSchema for ArtifactId {}

impl PartialSchema for ConflictId {
    fn schema() -> RefOr<Schema> {
        numbered(&[Self::PREFIX])
    }
}

impl ToSchema for ConflictId {}

impl PartialSchema for OpenQuestionId {
    fn schema() -> RefOr<Schema> {
        numbered(&[Self::PREFIX])
    }
}

impl ToSchema for OpenQuestionId {}

impl PartialSchema for Confidence {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0)).maximum(Some(1));
        schema.description(Some("How sure somebody is, from 0 to 1.")).into()
    }
}

impl ToSchema for Confidence {}

/// As it is on the wire.
impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .description(Some("RFC 3339, UTC, with milliseconds."))
            .examples(["2023-11-14T22:13:20.120Z"]);
        schema.into()
    }
}

impl ToSchema for Timestamp {}
