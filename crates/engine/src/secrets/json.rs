//! Secrets in JSON: known values, and whatever stands under a key that looks like one.

use serde_json::{Map, Value};

use super::{MASK, Masker, Secret};

/// Words that say by themselves that a value is secret.
const SECRET_WORDS: [&str; 14] = [
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "pwd",
    "secret",
    "secrets",
    "token",
    "apikey",
];

/// Words that say so in front of `key`: a `key` alone is mostly a name.
const KEY_WORDS: [&str; 7] = ["access", "api", "auth", "encryption", "private", "signing", "ssh"];

/// Words that make a secret's name into something about it: `token_count`, `secret_name`, `password_env`.
const ABOUT: [&str; 12] =
    ["count", "env", "expires", "file", "id", "length", "limit", "max", "min", "name", "path", "type"];

/// Whether the value under `key` should not be seen.
///
/// `input_tokens` is a number of tokens and `api_key_env` the name of a variable; `session-token`, `apiKey` and
/// `X-Api-Key` hold secrets.
pub fn looks_secret(key: &str) -> bool {
    let words = words(key);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.iter().any(|word| ABOUT.contains(word)) {
        return false;
    }
    words.iter().any(|word| SECRET_WORDS.contains(word))
        || words.windows(2).any(|pair| KEY_WORDS.contains(&pair[0]) && matches!(pair[1], "key" | "keys"))
}

/// The words of a name in snake, kebab, camel or any other case.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for char in key.chars() {
        if !char.is_alphanumeric() || (char.is_uppercase() && before_lower) {
            words.push(String::new());
        }
        before_lower = char.is_lowercase() || char.is_numeric();
        if let (true, Some(word)) = (char.is_alphanumeric(), words.last_mut()) {
            word.extend(char.to_lowercase());
        }
    }
    words
}

/// Everything under keys that [look secret](looks_secret), to be masked wherever else it turns up.
pub fn secrets_in(value: &Value) -> Vec<Secret> {
    let mut found = Vec::new();
    collect(value, Under::Plain, &mut found);
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Plain,
    Secret,
}

impl Under {
    fn member(self, key: &str) -> Self {
        if looks_secret(key) { Self::Secret } else { self }
    }
}

fn collect(value: &Value, under: Under, found: &mut Vec<Secret>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) if under == Under::Secret => {
            found.push(Secret::new(text));
            // `Authorization: Bearer …`: the rest without the scheme is what is sent elsewhere.
            if let Some((_, rest)) = text.split_once(' ') {
                found.push(Secret::new(rest.trim()));
            }
        }
        Value::Number(number) if under == Under::Secret => found.push(Secret::new(number.to_string())),
        Value::String(_) | Value::Number(_) => {}
        Value::Array(items) => items.iter().for_each(|item| collect(item, under, found)),
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| collect(value, under.member(key), found));
        }
    }
}

pub(super) fn masked(masker: &Masker, value: &Value) -> Value {
    mask(masker, value, Under::Plain, Keys::Count)
}

pub(super) fn known_masked(masker: &Masker, value: &Value) -> Value {
    mask(masker, value, Under::Plain, Keys::DoNotCount)
}

/// Whether everything under a key that looks secret is masked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Count,
    DoNotCount,
}

fn mask(masker: &Masker, value: &Value, under: Under, keys: Keys) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::String(text) if under == Under::Secret && !text.is_empty() => MASK.into(),
        Value::Number(_) if under == Under::Secret => MASK.into(),
        Value::String(text) => masker.text(text).into(),
        Value::Number(number) => {
            let text = number.to_string();
            if masker.text(&text) == text { value.clone() } else { MASK.into() }
        }
        Value::Array(items) => items.iter().map(|item| mask(masker, item, under, keys)).collect(),
        Value::Object(members) => {
            let masked = members.iter().map(|(key, value)| {
                let under = match keys {
                    Keys::Count => under.member(key),
                    Keys::DoNotCount => Under::Plain,
                };
                (masker.text(key).into_owned(), mask(masker, value, under, keys))
            });
            Value::Object(masked.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{looks_secret, secrets_in};
    use crate::secrets::{MASK, Masker, Secret};

    #[test]
    fn names_that_hold_secrets_are_told_from_names_about_them() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "apiKey",
            "api_key",
            "API-KEY",
            "X-Api-Key",
            "apikey",
            "token",
            "accessToken",
            "session-token",
            "Authorization",
            "client_secret",
            "private_key",
            "AWS_SECRET_ACCESS_KEY",
            "cookie",
            "credentials",
            "set-cookie",
        ] {
            assert!(looks_secret(key), "{key}");
        }
        for key in [
            "",
            "key",
            "keys",
            "keyboard",
            "input_tokens",
            "output_tokens",
            "max_tokens",
            "token_count",
            "tokenizer",
            "author",
            "api_key_env",
            "secret_name",
            "passenger",
            "primary_key",
            "monkey",
        ] {
            assert!(!looks_secret(key), "{key}");
        }
    }

    #[test]
    fn everything_under_a_secret_key_is_masked() {
        let value = json!({
            "password": "x", "token": 42, "empty": {"secret": ""}, "credentials": {"user": "ann", "pins": [1, null]},
            "text": "plain", "max_tokens": 5,
        });
        let expected = json!({
            "password": MASK, "token": MASK, "empty": {"secret": ""},
            "credentials": {"user": MASK, "pins": [MASK, null]}, "text": "plain", "max_tokens": 5,
        });
        assert_eq!(Masker::EMPTY.json(&value), expected);
        assert_eq!(Masker::EMPTY.json(&expected), expected);
    }

    #[test]
    fn known_values_are_masked_in_keys_strings_and_numbers() {
        let masker = Masker::new([Secret::new("12345678")]).unwrap();
        let masked = masker.json(&json!({"a12345678": ["12345678", 12_345_678, 1]}));
        assert_eq!(masked, json!({"a⟦masked⟧": [MASK, MASK, 1]}));
    }

    #[test]
    fn what_a_person_decides_on_is_masked_by_value_and_not_by_key() {
        let secrets = [
            ("GH_PAT".to_owned(), Secret::new("ghp_12345678")),
            ("OTHER".to_owned(), Secret::new("elsewhere")),
        ];
        let masker = Masker::named(secrets).unwrap();
        let value = json!({"credentials": {"delete": "everything"}, "token": 42, "with": "ghp_12345678"});
        let expected = json!({"credentials": {"delete": "everything"}, "token": 42, "with": MASK});
        assert_eq!(masker.known_in_json(&value), expected);
        assert_eq!(masker.names_in(&value.to_string()).into_iter().collect::<Vec<_>>(), ["GH_PAT"]);
        assert_eq!(masker.names_in("nothing of it").len(), 0);
    }

    #[test]
    fn what_is_under_secret_keys_is_found() {
        let found =
            secrets_in(&json!({"a": [{"authorization": "Bearer abc.def"}], "token": 7, "b": "plain"}));
        assert_eq!(found, ["Bearer abc.def", "abc.def", "7"].map(Secret::new));
        assert_eq!(format!("{found:?}"), "[⟦masked⟧, ⟦masked⟧, ⟦masked⟧]");
    }
}
