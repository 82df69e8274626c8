//! JSON schemas, compiled once and asked often.
//!
//! A schema comes from a skill, a tool or an agent, and checking one must not cost more than it is worth. So a schema is
//! measured when it is compiled: its size, its depth, how many subschemas one value is checked against when all
//! references are followed, and its regular expressions, which are linear or refused. And each check is counted before
//! it is made, because what a schema costs also depends on the document (see [`cost`]). A check therefore takes at most
//! [`CHECK_STEPS_MAX`] steps, whoever wrote schema and document.

mod cost;
mod graph;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::graph::{FanOut, Graph};
use crate::{JsonSize, TooBig, check_depth, excerpt};

/// Bytes of strings and keys in a schema. The largest that tools in the wild declare have some tens of kilobytes.
const SCHEMA_BYTES_MAX: usize = 512 * 1024;

/// Values in a schema. The validator needs about a kilobyte for each.
const SCHEMA_VALUES_MAX: usize = 50_000;

/// Subschemas that one value may be checked against, with all references followed. A schema with a hundred alternatives
/// of ten keywords each has a thousand.
const FAN_OUT_MAX: u64 = 10_000;

/// Steps of one check: 64 KiB of typical JSON take some ten thousand. A million steps took 40 to 120 ms on one core.
pub const CHECK_STEPS_MAX: u64 = 2_000_000;

/// Steps of one check of an answer to a question. The kernel thread makes these checks, so they have to be short: this
/// is about 5 ms. A form with a hundred fields takes a thousand.
pub const ANSWER_STEPS_MAX: u64 = 50_000;

/// Bytes that a regular expression may take once it is compiled.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

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
    /// Subschemas and references, to count the steps of a check.
    graph: Arc<Graph>,
    /// What the schema says about properties of the document itself, needed to know whether the done marker is one.
    declared: Arc<BTreeSet<String>>,
}

impl Schema {
    /// Compiles `schema`. References into other documents are refused, never fetched; so is a schema that is too large or
    /// too costly, and a regular expression that cannot be matched in linear time.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        check_measure(schema)?;
        let patterns = jsonschema::PatternOptions::regex()
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX);
        let validator = jsonschema::options()
            .offline()
            .with_pattern_options(patterns)
            .build(schema)
            .map_err(|error| SchemaError(field_error(&error, &error.to_string())))?;
        // After the validator: it says more about a reference that leads nowhere.
        let graph = Graph::of(schema).map_err(SchemaError)?;
        check_fan_out(&graph)?;
        Ok(Self {
            validator: Arc::new(validator),
            graph: Arc::new(graph),
            declared: Arc::new(declared(schema)),
        })
    }

    /// Everything that is wrong with `document`, up to a limit. A document that takes more than [`CHECK_STEPS_MAX`] steps
    /// to check is refused without a check.
    pub fn check(&self, document: &Value) -> Result<(), Vec<FieldError>> {
        self.check_within(document, CHECK_STEPS_MAX)
    }

    /// The same with at most `steps_max` steps.
    pub fn check_within(&self, document: &Value, steps_max: u64) -> Result<(), Vec<FieldError>> {
        check_depth(document).map_err(|error| vec![FieldError::new("", error.to_string())])?;
        if self.graph.steps(document, steps_max).is_err() {
            let message = format!(
                "is too costly to check against its schema: more than {steps_max} steps; make the document smaller, \
                 or the schema simpler"
            );
            return Err(vec![FieldError::new("", message)]);
        }
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

/// Checks the size and depth of a schema.
fn check_measure(schema: &Value) -> Result<(), SchemaError> {
    let refused = |message: String| SchemaError(FieldError::new("", message));
    check_depth(schema).map_err(|error| refused(error.to_string()))?;
    let size = JsonSize::of(schema);
    if size.bytes > SCHEMA_BYTES_MAX {
        return Err(refused(TooBig::Long { bytes: size.bytes, max: SCHEMA_BYTES_MAX }.to_string()));
    }
    if size.values > SCHEMA_VALUES_MAX {
        let message = format!("it has {} values, at most {SCHEMA_VALUES_MAX} are allowed", size.values);
        return Err(refused(message));
    }
    Ok(())
}

/// Checks how many subschemas one value is checked against.
fn check_fan_out(graph: &Graph) -> Result<(), SchemaError> {
    let message = match graph.fan_out() {
        FanOut::Checks(0..=FAN_OUT_MAX) => return Ok(()),
        FanOut::Checks(_) => format!(
            "with its references followed, one value is checked against more than {FAN_OUT_MAX} subschemas: use fewer \
             references within `allOf`, `anyOf` and the like"
        ),
        FanOut::Endless => {
            "it refers to itself without going to a part of the value, so that checking never ends".to_owned()
        }
    };
    Err(SchemaError(FieldError::new("", message)))
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

    /// `$defs` a0 to a60, each referring to the next one twice.
    fn bomb(twice: impl Fn(Value) -> Value) -> Value {
        let mut defs: serde_json::Map<_, _> = (0..60)
            .map(|n| (format!("a{n}"), twice(json!({ "$ref": format!("#/$defs/a{}", n + 1) }))))
            .collect();
        defs.insert("a60".to_owned(), json!({"type": "string"}));
        json!({"$ref": "#/$defs/a0", "$defs": defs})
    }

    #[test]
    fn a_schema_that_multiplies_its_references_is_refused() {
        for twice in [
            |next: Value| json!({"allOf": [next, next]}),
            |next: Value| json!({"anyOf": [next, next]}),
            |next: Value| json!({"oneOf": [next, next]}),
            |next: Value| json!({"if": next, "then": next}),
            |next: Value| json!({"not": next, "else": next}),
            |next: Value| json!({"dependentSchemas": {"a": next, "b": next}}),
            |next: Value| json!({"unevaluatedProperties": false, "allOf": [next]}),
        ] {
            let message = Schema::compile(&bomb(twice)).unwrap_err().to_string();
            assert!(message.contains("more than 10000 subschemas"), "{message}");
        }
        for endless in [
            json!({"$ref": "#"}),
            json!({"$dynamicRef": "#a", "$dynamicAnchor": "a"}),
            json!({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}),
        ] {
            let message = Schema::compile(&endless).unwrap_err().to_string();
            assert!(message.contains("refers to itself"), "{message}");
        }
    }

    #[test]
    fn a_schema_that_multiplies_with_the_depth_of_the_document_checks_only_shallow_ones() {
        let twice_for_each_level = [
            json!({"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}),
            json!({"properties": {"a": {"$ref": "#"}}, "patternProperties": {"a": {"$ref": "#"}}}),
            json!({"additionalProperties": {"$dynamicRef": "#n"}, "unevaluatedProperties": {"$ref": "#"}, "$dynamicAnchor": "n"}),
        ];
        let nested = |levels| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
        for schema in twice_for_each_level {
            let schema = Schema::compile(&schema).unwrap();
            assert_eq!(schema.check(&nested(5)), Ok(()));
            let errors = schema.check(&nested(60)).unwrap_err();
            assert!(errors[0].message.contains("too costly"), "{errors:?}");
        }
    }

    #[test]
    fn a_recursive_schema_of_the_usual_kind_checks_a_large_document() {
        let schema = json!({
            "$ref": "#/$defs/node",
            "$defs": {"node": {
                "type": "object",
                "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}, "below": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["name"],
                "additionalProperties": false,
            }},
        });
        let schema = Schema::compile(&schema).unwrap();
        let tree =
            (0..6).fold(json!({"name": "leaf"}), |below, _| json!({"name": "node", "below": vec![below; 6]}));
        assert_eq!(schema.check(&tree), Ok(()));
        let meta = Schema::compile(&json!({"$ref": "https://json-schema.org/draft/2020-12/schema"})).unwrap();
        assert_eq!(meta.check(&json!({"properties": {"a": {"type": "string"}}})), Ok(()));
    }

    #[test]
    fn regular_expressions_are_linear_and_bounded_in_size() {
        for pattern in ["(?=a)b", "(a)\\1", "(?:(?:(?:a{1,1000}){1,1000}){1,1000})", "^(\\w{1,500}){1,500}$"]
        {
            assert!(Schema::compile(&json!({ "pattern": pattern })).is_err(), "{pattern}");
        }
        let schema = Schema::compile(&json!({"pattern": "^(a+)+$"})).unwrap();
        let long = format!("{}!", "a".repeat(50_000));
        assert_eq!(schema.check(&json!(long)).unwrap_err().len(), 1);
    }

    #[test]
    fn large_and_deep_schemas_and_documents_are_refused() {
        let deep = (0..65).fold(json!({}), |inner, _| json!({ "not": inner }));
        assert!(Schema::compile(&deep).unwrap_err().to_string().contains("66 levels deep"));
        let long = json!({"description": "x".repeat(super::SCHEMA_BYTES_MAX)});
        assert!(Schema::compile(&long).is_err());
        let anything = Schema::compile(&json!({})).unwrap();
        assert!(anything.check(&(0..65).fold(json!(1), |inner, _| json!([inner]))).is_err());
        let unique = Schema::compile(&json!({"items": {"enum": (0..1000).collect::<Vec<_>>()}})).unwrap();
        assert!(unique.check(&json!(vec![0; 5000])).unwrap_err()[0].message.contains("too costly"));
    }

    #[test]
    fn a_schema_can_be_shared_between_threads() {
        fn shared<T: Send + Sync + Clone>() {}
        shared::<Schema>();
    }
}
