//! Limits for JSON that comes from clients, agents, models, tools and skills.
//!
//! JSON is measured before anything is done with it. The walk keeps its own stack, so that a deep document cannot
//! exhaust the stack of the thread that measures it.

use serde_json::Value;

/// Levels of nesting that a JSON document from outside may have.
///
/// The parser reads 128 levels. An entry of the journal wraps a document into fewer than 20 levels of its own, and views
/// and notices do too, so everything that is accepted can be read back; a test writes each kind of event at the limit
/// and reads it. Real documents have fewer than 20 levels.
pub const JSON_DEPTH_MAX: usize = 64;

/// Levels of nesting of what an engine or a tool connection keeps for itself: a document, and what it is wrapped in.
pub(crate) const WRAPPED_DEPTH_MAX: usize = JSON_DEPTH_MAX + 24;

/// The size of a JSON document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonSize {
    /// Levels of nesting: 0 for a number, 1 for a flat list.
    pub depth: usize,
    /// Values in it, itself included.
    pub values: usize,
    /// Bytes of its strings and keys, and one for every other value.
    pub bytes: usize,
}

impl JsonSize {
    /// Measures `document`.
    ///
    /// ```
    /// use adjourn_core::JsonSize;
    /// use serde_json::json;
    ///
    /// let size = JsonSize::of(&json!({"a": [1, "two"]}));
    /// assert_eq!(size, JsonSize { depth: 2, values: 4, bytes: 1 + 1 + 1 + 1 + 3 });
    /// ```
    pub fn of(document: &Value) -> Self {
        let mut size = Self::default();
        let mut rest = vec![(document, 0)];
        while let Some((value, depth)) = rest.pop() {
            size.values += 1;
            size.bytes += match value {
                Value::String(text) => text.len(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => 1,
            };
            match value {
                Value::Array(items) => {
                    size.depth = size.depth.max(depth + 1);
                    rest.extend(items.iter().map(|item| (item, depth + 1)));
                }
                Value::Object(members) => {
                    size.depth = size.depth.max(depth + 1);
                    size.bytes += members.keys().map(String::len).sum::<usize>();
                    rest.extend(members.values().map(|member| (member, depth + 1)));
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        size
    }
}

/// A JSON document that is larger than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooBig {
    /// It is nested too deep.
    #[error("it is nested {depth} levels deep, at most {max} are allowed")]
    Deep {
        /// Levels that it has.
        depth: usize,
        /// Levels that are allowed.
        max: usize,
    },
    /// It is too long.
    #[error("it has {bytes} bytes, at most {max} are allowed")]
    Long {
        /// Bytes that it has.
        bytes: usize,
        /// Bytes that are allowed.
        max: usize,
    },
}

/// Checks that `document` is nested at most [`JSON_DEPTH_MAX`] levels deep.
///
/// ```
/// use adjourn_core::check_depth;
/// use serde_json::{Value, json};
///
/// let nested = |levels| (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]));
/// assert_eq!(check_depth(&nested(64)), Ok(()));
/// let error = check_depth(&nested(65)).unwrap_err();
/// assert_eq!(error.to_string(), "it is nested 65 levels deep, at most 64 are allowed");
/// ```
pub fn check_depth(document: &Value) -> Result<(), TooBig> {
    match JsonSize::of(document).depth {
        0..=JSON_DEPTH_MAX => Ok(()),
        depth => Err(TooBig::Deep { depth, max: JSON_DEPTH_MAX }),
    }
}

/// Checks that `document` is at most [`JSON_DEPTH_MAX`] levels deep and at most `bytes_max` bytes long.
pub fn check_size(document: &Value, bytes_max: usize) -> Result<(), TooBig> {
    let size = JsonSize::of(document);
    match size.depth {
        0..=JSON_DEPTH_MAX if size.bytes <= bytes_max => Ok(()),
        0..=JSON_DEPTH_MAX => Err(TooBig::Long { bytes: size.bytes, max: bytes_max }),
        depth => Err(TooBig::Deep { depth, max: JSON_DEPTH_MAX }),
    }
}

/// Levels of nesting of JSON text, read without parsing it.
///
/// The text is taken to be JSON: it was written by this program, or is about to be parsed.
pub fn text_depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next() {
                    match byte {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{JSON_DEPTH_MAX, JsonSize, TooBig, check_depth, check_size, text_depth};

    fn nested(levels: usize) -> Value {
        (0..levels).fold(
            json!(1),
            |inner, level| {
                if level % 2 == 0 { json!([inner]) } else { json!({ "k": inner }) }
            },
        )
    }

    #[test]
    fn depth_is_counted_in_levels_and_the_limit_is_allowed() {
        assert_eq!(JsonSize::of(&json!(1)).depth, 0);
        assert_eq!(check_depth(&nested(JSON_DEPTH_MAX)), Ok(()));
        let deep = TooBig::Deep { depth: JSON_DEPTH_MAX + 1, max: JSON_DEPTH_MAX };
        assert_eq!(check_depth(&nested(JSON_DEPTH_MAX + 1)), Err(deep));
        assert_eq!(check_size(&json!("four"), 3), Err(TooBig::Long { bytes: 4, max: 3 }));
    }

    #[test]
    fn text_is_as_deep_as_the_document_it_is() {
        for document in [nested(0), nested(7), nested(120), json!({"a]": "[[[\"{{", "b": ["\\", {"c": []}]})]
        {
            let text = document.to_string();
            assert_eq!(text_depth(text.as_bytes()), JsonSize::of(&document).depth, "{text}");
        }
    }

    #[test]
    fn a_document_of_any_depth_can_be_measured() {
        let deep = (0..100_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
        assert_eq!(JsonSize::of(&deep).depth, 100_000);
        // Dropping it would need as much stack as it has levels.
        std::mem::forget(deep);
    }
}
