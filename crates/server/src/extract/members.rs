//! Reads the members of a body by hand, so that everything that is wrong with it is said at once.

use adjourn_core::{FieldError, InteractionId};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::Problem;

/// Unknown members that are told; a body can have hundreds of thousands.
const UNKNOWN_MAX: usize = 51;

/// A body that is being read, and what was found wrong with it so far.
pub(crate) struct Members<'a> {
    document: &'a Value,
    errors: Vec<FieldError>,
}

impl<'a> Members<'a> {
    /// A body that may have these members and no others.
    pub(crate) fn of(document: &'a Value, keys: &[&str]) -> Self {
        let mut errors = Vec::new();
        match document {
            Value::Object(members) => {
                let unknown = members.keys().filter(|key| !keys.contains(&key.as_str())).take(UNKNOWN_MAX);
                errors.extend(unknown.map(|key| {
                    let message = format!("unknown key: there are {}", keys.join(", "));
                    FieldError::new(format!("/{key}"), message)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                errors.push(FieldError::new("", "should be an object"));
            }
        }
        Self { document, errors }
    }

    /// A member that may be missing; null is the same as nothing.
    pub(crate) fn optional<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.document.get(key).filter(|value| !value.is_null())?;
        T::deserialize(value).map_err(|error| self.wrong(key, error.to_string())).ok()
    }

    /// A member that has to be there, and what for. Its absence is only said where nothing else is wrong: a misspelt key
    /// is one mistake, not two.
    pub(crate) fn required<T: DeserializeOwned>(&mut self, key: &str, what_for: &str) -> Option<T> {
        let found = self.optional(key);
        if found.is_none() && self.errors.is_empty() {
            self.wrong(key, format!("is missing: {what_for}"));
        }
        found
    }

    /// The question that an answer is for. Only an answer that can be told apart by its key may leave it out: whoever sends it
    /// again means the same question.
    pub(crate) fn interaction(&mut self, key: Option<&str>) -> Option<InteractionId> {
        match key {
            Some(_) => self.optional("interaction_id"),
            None => self.required("interaction_id", "it says which question is answered"),
        }
    }

    /// Takes note of something that is wrong with a member.
    pub(crate) fn wrong(&mut self, key: &str, message: impl Into<String>) {
        self.errors.push(FieldError::new(format!("/{key}"), message));
    }

    /// Whether everything was right.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        if self.errors.is_empty() { Ok(()) } else { Err(Problem::invalid(self.errors)) }
    }
}
