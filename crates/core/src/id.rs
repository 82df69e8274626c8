//! Ids: prefixed, sortable by the time of their making, and never mixed up.
//!
//! An id is a UUIDv7 written as its kind and 26 characters of Crockford's base 32, lower case:
//! `run_01h455vb4pex5vsknk084sn02q`. Making one needs a clock and randomness, so it happens outside of this crate.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 128 bits in groups of five, the first of which carries only three.
const DIGITS: usize = 26;

/// Text that is not an id of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a {kind} id: one looks like `{prefix}_01h455vb4pex5vsknk084sn02q`")]
pub struct BadId {
    /// What was given.
    pub given: String,
    /// What it should name.
    pub kind: &'static str,
    /// The prefix it should have.
    pub prefix: &'static str,
}

fn encode(bits: u128) -> [u8; DIGITS] {
    let mut text = [0; DIGITS];
    for (place, digit) in text.iter_mut().enumerate() {
        let shift = 5 * (DIGITS - 1 - place);
        *digit = ALPHABET[(bits >> shift) as usize & 31];
    }
    text
}

fn decode(text: &str) -> Option<u128> {
    // A first digit above 7 would need more than 128 bits.
    if text.len() != DIGITS || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0, |bits: u128, byte| {
        let digit = ALPHABET.iter().position(|&known| known == byte)?;
        Some(bits << 5 | digit as u128)
    })
}

macro_rules! id {
    ($(#[$meta:meta])* $Id:ident, $prefix:literal, $kind:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(u128);

        impl $Id {
            /// What the written form begins with.
            pub const PREFIX: &'static str = $prefix;

            /// The id with these bits, which should be those of a UUIDv7.
            pub const fn from_bits(bits: u128) -> Self {
                Self(bits)
            }

            /// The bits of the UUID.
            pub const fn bits(self) -> u128 {
                self.0
            }
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let digits = encode(self.0);
                f.pad(&format!("{}_{}", $prefix, digits.map(char::from).iter().collect::<String>()))
            }
        }

        impl fmt::Debug for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $Id {
            type Err = BadId;

            fn from_str(given: &str) -> Result<Self, BadId> {
                given
                    .strip_prefix(concat!($prefix, "_"))
                    .and_then(decode)
                    .map(Self)
                    .ok_or_else(|| BadId { given: given.to_owned(), kind: $kind, prefix: $prefix })
            }
        }

        impl Serialize for $Id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $Id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let given = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                given.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id!(
    /// Names a run.
    RunId, "run", "run"
);
id!(
    /// Names a contract.
    ExecutionId, "exec", "contract"
);
id!(
    /// Names a roundtable.
    RoundtableId, "rt", "roundtable"
);

/// Names a question within its run: counted from 1, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct InteractionId(pub u32);

impl fmt::Display for InteractionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::RunId;

    proptest! {
        #[test]
        fn an_id_reads_back_and_sorts_like_its_bits(a in any::<u128>(), b in any::<u128>()) {
            let (a, b) = (RunId::from_bits(a), RunId::from_bits(b));
            prop_assert_eq!(a.to_string().parse::<RunId>().unwrap(), a);
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
            prop_assert!(a.to_string().starts_with("run_"));
        }
    }

    #[test]
    fn text_that_is_no_id_is_refused_with_an_example() {
        let too_big = format!("run_{}", "z".repeat(26));
        for bad in
            ["", "run_", "run_01h455vb4pex5vsknk084sn02", "exec_01h455vb4pex5vsknk084sn02q", &too_big, "rün"]
        {
            let error = bad.parse::<RunId>().unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{bad}` is not a run id: one looks like `run_01h455vb4pex5vsknk084sn02q`")
            );
        }
    }
}
