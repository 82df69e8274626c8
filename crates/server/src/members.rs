//! Reads the members of a body by hand, so that everything that is wrong with it is said at once.

use adjourn_core::FieldError;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What is wrong with a body for having other members than `keys`; an error of its own where it has none at all.
pub(crate) fn unknown(document: &Value, keys: &[&str]) -> Result<Vec<FieldError>, Vec<FieldError>> {
    let Value::Object(members) = document else {
        return Err(vec![FieldError::new("", "should be an object")]);
    };
    let unknown = members.keys().filter(|key| !keys.contains(&key.as_str()));
    let message = || format!("unknown key: there are {}", keys.join(", "));
    Ok(unknown.map(|key| FieldError::new(format!("/{key}"), message())).collect())
}

/// The member `key`, if it is there; what is wrong with it is added to `errors`.
pub(crate) fn member<T: DeserializeOwned>(
    document: &Value,
    key: &str,
    errors: &mut Vec<FieldError>,
) -> Option<T> {
    let value = document.get(key).filter(|value| !value.is_null())?;
    T::deserialize(value)
        .map_err(|error| errors.push(FieldError::new(format!("/{key}"), error.to_string())))
        .ok()
}
