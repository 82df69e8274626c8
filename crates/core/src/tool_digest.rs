//! Digests of tool definitions: what a tool server says of a tool, so that a change of it is noticed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::canonical::canonical;

/// A digest of a tool's definition: SHA-256 over its canonical JSON, in lower-case hex.
///
/// ```
/// use adjourn_core::ToolDigest;
/// use serde_json::json;
///
/// let one = ToolDigest::of(&json!({"name": "send", "description": "Sends a mail."}));
/// assert_eq!(one, ToolDigest::of(&json!({"description": "Sends a mail.", "name": "send"})));
/// assert_ne!(one, ToolDigest::of(&json!({"name": "send", "description": "Sends all mails."})));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolDigest(String);

impl ToolDigest {
    /// The digest of a definition.
    pub fn of(definition: &Value) -> Self {
        let digest = Sha256::digest(canonical(definition));
        Self(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for ToolDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The digests of tools: by server, then by the name of the tool.
pub type ToolDigests = BTreeMap<String, BTreeMap<String, ToolDigest>>;
