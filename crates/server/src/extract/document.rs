//! JSON documents in which every member is there once.
//!
//! Of two members with the same name most readers take one, and not all the same one: whoever looked at a request
//! before it came here may have seen another.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The document that these bytes are.
pub(crate) fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(bytes).map(|Document(value)| value)
}

struct Document(Value);

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Document(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format_args!("`{name}` is there twice")));
            }
            let Document(value) = entries.next_value()?;
            members.insert(name, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::parse;

    #[test]
    fn everything_else_is_read_as_usual() {
        let text =
            r#"{"a": [null, true, -1, 18446744073709551615, 0.1, 1e-7, "\u00e4\"", {}], "b": {"a": []}}"#;
        assert_eq!(parse(text.as_bytes()).unwrap(), text.parse::<Value>().unwrap());
    }

    #[test]
    fn a_member_that_is_there_twice_is_told_with_its_place() {
        let error = parse(b"{\"a\": 1,\n \"\\u0061\": 2}").unwrap_err().to_string();
        assert_eq!(error, "`a` is there twice at line 2 column 9");
        assert!(parse(br#"[{"a": 1}, {"a": 1}]"#).is_ok());
    }
}
