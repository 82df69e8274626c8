//! Idempotency keys: which calls are the same call, and how far that reaches.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::canonical::canonical;
use crate::names::named;

/// Says that two calls ask for the same effect: SHA-256 over the canonical JSON of service, method and arguments.
///
/// ```
/// use adjourn_core::IdempotencyKey;
/// use serde_json::json;
///
/// let key = IdempotencyKey::of("mail", "send", &json!({"to": "ann", "subject": "hi"}));
/// assert_eq!(key, IdempotencyKey::of("mail", "send", &json!({"subject": "hi", "to": "ann"})));
/// assert_ne!(key, IdempotencyKey::of("mail", "send", &json!({"subject": "hi", "to": "bob"})));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey([u8; 32]);

impl IdempotencyKey {
    /// The key of a call.
    pub fn of(service: &str, method: &str, arguments: &Value) -> Self {
        let call = json!({"service": service, "method": method, "arguments": arguments});
        Self(Sha256::digest(canonical(&call)).into())
    }
}

impl fmt::Display for IdempotencyKey {
    /// Lower-case hex.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is not an idempotency key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an idempotency key: one is 64 lower-case hex digits")]
pub struct BadKey {
    /// What was given.
    pub given: String,
}

impl FromStr for IdempotencyKey {
    type Err = BadKey;

    fn from_str(given: &str) -> Result<Self, BadKey> {
        let bad = || BadKey { given: given.to_owned() };
        let (pairs, []) = given.as_bytes().as_chunks::<2>() else { return Err(bad()) };
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|&[high, low]| Some(hex_digit(high)? << 4 | hex_digit(low)?)).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or_else(bad)
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl Serialize for IdempotencyKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IdempotencyKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        given.parse().map_err(serde::de::Error::custom)
    }
}

named! {
    /// How far an idempotency key reaches: within it, the same irreversible call is never made twice.
    pub enum KeyScope {
        /// One run and the runs that continue it.
        Run = "run",
        /// All runs of one roundtable.
        Roundtable = "roundtable",
        /// All runs of one skill.
        Skill = "skill",
        /// Everything that Adjourn ever runs.
        Global = "global",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, prop_assert_eq, prop_assert_ne, proptest};
    use serde_json::{Value, json};

    use super::IdempotencyKey;

    #[test]
    fn a_key_is_the_hash_of_the_canonical_call() {
        // printf '%s' '{"arguments":{"to":"ann"},"method":"send","service":"mail"}' | sha256sum
        let expected = "c17f2e19a7d81f14dc2f429ae03b6a6485072871f267e9536648ab94598734c4";
        let key = IdempotencyKey::of("mail", "send", &json!({"to": "ann"}));
        assert_eq!(key.to_string(), expected);
        assert_eq!(serde_json::to_value(key).unwrap(), json!(expected));
        assert_eq!(serde_json::from_value::<IdempotencyKey>(json!(expected)).unwrap(), key);
    }

    #[test]
    fn text_that_is_no_key_is_refused() {
        let (short, long, upper) = ("ab".repeat(31), "ab".repeat(33), "AB".repeat(32));
        for bad in ["", "a", "é", &short, &long, &upper] {
            let error = bad.parse::<IdempotencyKey>().unwrap_err().to_string();
            assert_eq!(error, format!("`{bad}` is not an idempotency key: one is 64 lower-case hex digits"));
        }
    }

    proptest! {
        #[test]
        fn only_what_is_asked_for_changes_the_key(
            members in prop::collection::vec((any::<String>(), any::<i64>()), 0..6),
            other in any::<i64>(),
        ) {
            // Two spellings of one object, members in opposite orders. A repeated name would mean its last value.
            let members: std::collections::BTreeMap<_, _> = members.into_iter().collect();
            let spelled: Vec<_> = members.iter().map(|(name, value)| format!("{} : {value}", json!(name))).collect();
            let forwards: Value = serde_json::from_str(&format!("{{{}}}", spelled.join(","))).unwrap();
            let backwards = spelled.into_iter().rev().collect::<Vec<_>>().join(" ,\n");
            let backwards: Value = serde_json::from_str(&format!("{{ {backwards}\t}}")).unwrap();
            let key = IdempotencyKey::of("s", "m", &forwards);
            prop_assert_eq!(key, IdempotencyKey::of("s", "m", &backwards));
            prop_assert_eq!(key, key.to_string().parse().unwrap());

            prop_assert_ne!(key, IdempotencyKey::of("s", "other", &forwards));
            prop_assert_ne!(key, IdempotencyKey::of("other", "m", &forwards));
            let mut changed = forwards.clone();
            changed["name"] = json!(other);
            if changed != forwards {
                prop_assert_ne!(key, IdempotencyKey::of("s", "m", &changed));
            }
        }

        #[test]
        fn two_integers_never_share_a_key(a in any::<u64>(), b in 1_u64..1000) {
            let other = a.wrapping_add(b);
            prop_assert_ne!(IdempotencyKey::of("s", "m", &json!(a)), IdempotencyKey::of("s", "m", &json!(other)));
        }
    }
}
