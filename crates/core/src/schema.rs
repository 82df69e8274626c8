//! JSON schemas, compiled once and asked often.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::excerpt;

/// Errors that one validation reports.
///
/// A list of a thousand wrong items is wrong a thousand times; nobody, person or model, reads on after this many.
const ERRORS_MAX: usize = 20;

/// How long one error's message may be: enough for a long `enum`, not for a whole document.
const MESSAGE_BYTES_MAX: usize = 400;

/// What is wrong with one part of a JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FieldError {
    /// Where, as a JSON pointer; empty for the document itself.
    pub path: String,
    /// What is wrong there, and what would be right.
    pub message: String,
}

impl FieldError {
    /// An error at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// A schema that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a usable JSON schema: {0}")]
pub struct SchemaError(FieldError);

impl SchemaError {
    /// What is wrong, and where in the schema.
    pub fn field(&self) -> &FieldError {
        &self.0
    }
}

/// A compiled JSON schema. Cheap to clone.
///
/// ```
/// use adjourn_core::{FieldError, Schema};
/// use serde_json::json;
///
/// let schema = Schema::compile(&json!({"properties": {"n": {"type": "integer"}}})).unwrap();
/// assert_eq!(schema.check(&json!({"n": 1})), Ok(()));
/// assert_eq!(
///     schema.check(&json!({"n": "x"})),
///     Err(vec![FieldError::new("/n", "value is not of type \"integer\"")]),
/// );
/// ```
#[derive(Debug, Clone)]
pub struct Schema {
    validator: Arc<jsonschema::Validator>,
    /// What the schema says about properties of the document itself, needed to know whether the done marker is one.
    declared: Arc<BTreeSet<String>>,
}

impl Schema {
    /// Compiles `schema`. References into other documents are refused, never fetched.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let validator = jsonschema::options()
            .offline()
            .build(schema)
            .map_err(|error| SchemaError(field_error(&error, &error.to_string())))?;
        Ok(Self { validator: Arc::new(validator), declared: Arc::new(declared(schema)) })
    }

    /// Everything that is wrong with `document`, up to a limit.
    pub fn check(&self, document: &Value) -> Result<(), Vec<FieldError>> {
        // Masked: a message must not repeat the document, which can be long, or secret.
        let errors: Vec<_> = self
            .validator
            .iter_errors(document)
            .take(ERRORS_MAX)
            .map(|error| field_error(&error, &error.masked().to_string()))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Whether the schema itself speaks of this property of the document.
    pub fn declares(&self, property: &str) -> bool {
        self.declared.contains(property)
    }
}

fn field_error(error: &jsonschema::ValidationError<'_>, message: &str) -> FieldError {
    FieldError::new(error.instance_path().as_str(), excerpt::head(message, MESSAGE_BYTES_MAX))
}

fn declared(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    properties.map(String::as_str).chain(required).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ERRORS_MAX, FieldError, MESSAGE_BYTES_MAX, Schema};

    fn errors(schema: &Value, document: &Value) -> Vec<FieldError> {
        Schema::compile(schema).unwrap().check(document).unwrap_err()
    }

    #[test]
    fn errors_say_where_and_never_repeat_the_document() {
        let schema = json!({
            "properties": {"a/b": {"type": "array", "items": {"enum": ["x", "y"]}}, "token": {"type": "integer"}},
            "required": ["name"],
        });
        let mut errors = errors(&schema, &json!({"a/b": ["x", "z"], "token": "s3cret"}));
        errors.sort_by(|a, b| a.path.cmp(&b.path));
        assert_eq!(
            errors,
            [
                FieldError::new("", "\"name\" is a required property"),
                FieldError::new("/a~1b/1", "value is not one of \"x\" or \"y\""),
                FieldError::new("/token", "value is not of type \"integer\""),
            ]
        );
        assert_eq!(errors[1].to_string(), "/a~1b/1: value is not one of \"x\" or \"y\"");
    }

    #[test]
    fn errors_are_bounded_in_number_and_length() {
        let items = json!({"items": {"type": "string"}});
        assert_eq!(errors(&items, &json!(vec![0; 1000])).len(), ERRORS_MAX);
        let long = "x".repeat(10 * MESSAGE_BYTES_MAX);
        let required = errors(&json!({"required": [long]}), &json!({}));
        assert!(required[0].message.len() <= MESSAGE_BYTES_MAX && required[0].message.ends_with('…'));
    }

    #[test]
    fn a_schema_that_cannot_be_used_is_refused_and_nothing_is_fetched() {
        let refused = |schema| Schema::compile(&schema).unwrap_err();
        assert_eq!(
            refused(json!({"properties": {"a": {"type": "nothing"}}})).field().path,
            "/properties/a/type"
        );
        for reference in
            ["https://example.com/schema.json", "file:///etc/passwd", "other.json", "#/$defs/missing"]
        {
            let message = refused(json!({"$ref": reference})).to_string();
            assert!(message.starts_with("not a usable JSON schema: "), "{message}");
        }
        assert!(Schema::compile(&json!({"$ref": "#/$defs/a", "$defs": {"a": true}})).is_ok());
    }

    #[test]
    fn a_schema_can_be_shared_between_threads() {
        fn shared<T: Send + Sync + Clone>() {}
        shared::<Schema>();
    }
}
