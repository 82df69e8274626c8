//! What a tool call shows of itself, cut to what a journal can bear.

use serde_json::Value;

/// The longest string in the detail of a tool call. All of it is in the log, and the reference says where.
const DETAIL_BYTES_MAX: usize = 4 << 10;

/// The same value with its long strings cut.
pub(crate) fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.len() > DETAIL_BYTES_MAX => {
            format!("{}…", &text[..text.floor_char_boundary(DETAIL_BYTES_MAX)]).into()
        }
        Value::Array(elements) => elements.iter().map(shortened).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DETAIL_BYTES_MAX, shortened};

    #[test]
    fn long_strings_of_a_detail_are_cut() {
        let long = "é".repeat(DETAIL_BYTES_MAX);
        let cut = format!("{}…", "é".repeat(DETAIL_BYTES_MAX / 2));
        assert_eq!(shortened(&json!({"a": [long, 1], "b": "short"})), json!({"a": [cut, 1], "b": "short"}));
    }
}
