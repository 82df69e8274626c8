//! Keeps secrets out of the journal, the stream, messages and log files.
//!
//! A [`Masker`] knows values that must not be seen, and replaces each in all the spellings it is likely to come in:
//! plain, escaped for JSON (also twice, as in a log of tool calls), for a URL, or in base64. It works on text, on JSON
//! and on streams of bytes, where a value may be cut anywhere. It reads every byte once, whatever the number of values.
//!
//! ```
//! use adjourn_engine::secrets::{Masker, Secret};
//!
//! let masker = Masker::new([Secret::new("hunter2!")]).unwrap();
//! assert_eq!(masker.text("password=hunter2!"), "password=⟦masked⟧");
//! ```

mod json;
mod spellings;
mod stream;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

pub use json::{looks_secret, secrets_in};
pub use stream::MaskStream;

use stream::Patterns;

/// What stands where a secret was. The brackets are hardly ever part of a secret, so masking twice changes nothing.
pub const MASK: &str = "⟦masked⟧";

/// A value that is shorter than this is not looked for.
///
/// `1`, `true` or `dev` as the value of a variable would turn every text into holes, and would be told by them. What is
/// this short is still masked under a key that [looks secret](looks_secret).
pub const SECRET_BYTES_MIN: usize = 6;

/// All values together. Each byte costs some hundred bytes of tables in its different spellings; a key or a
/// certificate has a few thousand.
pub const SECRETS_BYTES_MAX: usize = 256 * 1024;

/// A value that must not be seen. It shows in no `Debug`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
pub struct Secret(String);

impl Secret {
    /// Guards `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself. Whoever asks is responsible for where it goes.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// More secrets than can be looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the values of all secrets have {bytes} bytes together, at most {SECRETS_BYTES_MAX} can be masked")]
pub struct TooManySecrets {
    /// How many bytes they have.
    pub bytes: usize,
}

/// Replaces secrets. Cheap to clone.
#[derive(Clone)]
pub struct Masker {
    /// None where there is nothing to look for.
    known: Option<Arc<Known>>,
}

struct Known {
    /// The values, each with the name that people know it by.
    values: BTreeMap<String, String>,
    patterns: Arc<Patterns>,
}

impl fmt::Debug for Masker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masker").finish_non_exhaustive()
    }
}

impl Masker {
    /// One that only knows which keys look secret.
    pub const EMPTY: Self = Self { known: None };

    /// A masker for these values. Those that are too short to be looked for are left out.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Result<Self, TooManySecrets> {
        Self::named(secrets.into_iter().map(|secret| (String::new(), secret)))
    }

    /// A masker for these values, each with the name that people know it by.
    pub fn named(secrets: impl IntoIterator<Item = (String, Secret)>) -> Result<Self, TooManySecrets> {
        let mut values: BTreeMap<String, String> = BTreeMap::new();
        for (name, Secret(value)) in secrets {
            // A part of the mask would be found in every mask.
            if value.len() >= SECRET_BYTES_MIN && !MASK.contains(value.as_str()) {
                values.entry(value).or_insert(name);
            }
        }
        let bytes = values.keys().map(String::len).sum();
        if bytes > SECRETS_BYTES_MAX {
            return Err(TooManySecrets { bytes });
        }
        let spellings: BTreeSet<_> = values.keys().flat_map(|value| spellings::of(value)).collect();
        if spellings.is_empty() {
            return Ok(Self::EMPTY);
        }
        let patterns = Patterns::new(&spellings).ok_or(TooManySecrets { bytes })?;
        Ok(Self { known: Some(Arc::new(Known { values, patterns: Arc::new(patterns) })) })
    }

    /// The same masker, which also knows `secret`.
    pub fn and(&self, secret: &Secret) -> Result<Self, TooManySecrets> {
        let known = self.known.iter().flat_map(|known| &known.values);
        let known = known.map(|(value, name)| (name.clone(), Secret::new(value)));
        Self::named(known.chain([(String::new(), secret.clone())]))
    }

    /// `text` without secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = self.bytes(text.as_bytes());
        if masked == text.as_bytes() {
            return Cow::Borrowed(text);
        }
        // Spellings are whole characters, so what is left is as well.
        Cow::Owned(String::from_utf8_lossy(&masked).into_owned())
    }

    /// `bytes` without secrets.
    pub fn bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.stream();
        let mut masked = stream.push(bytes);
        masked.extend(stream.finish());
        masked
    }

    /// `value` without secrets: neither known ones, nor whatever stands under a key that [looks secret](looks_secret).
    pub fn json(&self, value: &Value) -> Value {
        json::masked(self, value)
    }

    /// `value` without known secrets. What stands under a key that looks secret stays, unless it is known to be one: for what
    /// a person decides on, who has to see what will be done.
    pub fn known_in_json(&self, value: &Value) -> Value {
        json::known_masked(self, value)
    }

    /// The names of the known secrets that are in `text`, in any spelling.
    pub fn names_in(&self, text: &str) -> BTreeSet<&str> {
        let values = self.known.iter().flat_map(|known| &known.values);
        let in_text = |value: &str| spellings::of(value).iter().any(|spelling| text.contains(spelling));
        let named = values.filter(|(_, name)| !name.is_empty());
        named.filter(|(value, _)| in_text(value)).map(|(_, name)| name.as_str()).collect()
    }

    /// For bytes that come piece by piece.
    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.known.as_ref().map(|known| known.patterns.clone()))
    }
}
