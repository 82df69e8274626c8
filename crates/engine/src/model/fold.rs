//! Putting a streamed reply together: events are folded into the JSON that the server would have sent in one piece.
//!
//! So there is one reader of replies per wire format, not two, and what is not understood is kept in both.

use adjourn_core::check_depth;
use serde_json::{Map, Value};

use super::limits::{ARGUMENTS_BYTES_MAX, CALLS_MAX};

/// Something is larger than a reply may be: what, and what the limit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TooMuch(pub(super) String);

/// What a field says by being there, so that a second time adds nothing. All other strings come in pieces.
const NAMES: &[&str] = &["id", "type", "role", "name", "object", "model"];

/// Adds a delta to what there is so far: strings grow, lists too, objects field by field; the rest is replaced.
pub(super) fn merge(whole: &mut Map<String, Value>, delta: &Map<String, Value>) {
    for (key, new) in delta {
        let old = whole.entry(key.as_str()).or_insert(Value::Null);
        match (&mut *old, new) {
            (_, Value::Null) => {}
            (Value::String(old), Value::String(_)) if is_name(key, old) => {}
            (Value::String(old), Value::String(new)) if !NAMES.contains(&key.as_str()) => old.push_str(new),
            (Value::Array(old), Value::Array(new)) => old.extend_from_slice(new),
            (Value::Object(old), Value::Object(new)) => merge(old, new),
            (old, new) => *old = new.clone(),
        }
    }
}

fn is_name(key: &str, old: &str) -> bool {
    NAMES.contains(&key) && !old.is_empty()
}

/// Adds a piece to a string that grows.
pub(super) fn append(whole: &mut Map<String, Value>, key: &str, piece: &str) {
    match whole.entry(key).or_insert(Value::Null) {
        Value::String(text) => text.push_str(piece),
        other => *other = Value::from(piece),
    }
}

/// Refuses one call more than a reply may have.
pub(super) fn check_calls(count: usize) -> Result<(), TooMuch> {
    if count > CALLS_MAX {
        return Err(TooMuch(format!("more than {CALLS_MAX} calls of tools in one reply")));
    }
    Ok(())
}

/// Refuses arguments that are longer than those of one call may be.
pub(super) fn check_arguments(bytes: usize, tool: &str) -> Result<(), TooMuch> {
    if bytes > ARGUMENTS_BYTES_MAX {
        let limit = ARGUMENTS_BYTES_MAX >> 10;
        return Err(TooMuch(format!("a call of `{tool}` with arguments of more than {limit} KiB")));
    }
    Ok(())
}

/// The arguments that a text stands for. An empty one is none; what is no JSON stays the text that it is.
pub(super) fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    let arguments: Value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    // So do those that are nested too deep: no tool takes a text for its arguments, and the model is told so.
    if check_depth(&arguments).is_err() { Value::from(text) } else { arguments }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{arguments, merge};

    fn object(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn text_grows_names_do_not_and_nothing_is_lost() {
        let mut whole = object(json!({"role": "assistant", "content": "a", "id": ""}));
        merge(
            &mut whole,
            &object(json!({"role": "assistant", "content": "b", "id": "1", "x": {"y": "p", "n": 1}})),
        );
        merge(&mut whole, &object(json!({"content": null, "x": {"y": "q", "n": 2}, "list": [1]})));
        merge(&mut whole, &object(json!({"id": "2", "list": [2]})));
        assert_eq!(
            Value::from(whole),
            json!({"role": "assistant", "content": "ab", "id": "1", "x": {"y": "pq", "n": 2}, "list": [1, 2]})
        );
    }

    #[test]
    fn arguments_that_are_no_json_stay_what_they_are() {
        assert_eq!(arguments(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(arguments(" "), json!({}));
        assert_eq!(arguments(r#"{"a": "#), json!(r#"{"a": "#));
    }
}
