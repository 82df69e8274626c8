//! What only a client on this machine may add to a request: its own folders and files, and the variables of its shell.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What a client on this machine adds to a request for a run or a roundtable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Local {
    /// The folder to work in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<AbsolutePath>,
    /// The file that the turns are recorded into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<AbsolutePath>,
    /// Files for the agent, by the names that it knows them by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, AbsolutePath>,
    /// The variables of the client's shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment>,
}

impl Local {
    /// The members of a request that are read as this.
    pub const KEYS: [&str; 4] = ["workspace", "record", "files", Self::ENVIRONMENT];

    /// The member with the variables of a shell, which a roundtable takes as well.
    pub const ENVIRONMENT: &str = "environment";
}

/// A path that means the same to a client and a server, which work in different folders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AbsolutePath(PathBuf);

impl AbsolutePath {
    /// The path, if it is absolute.
    pub fn new(path: impl Into<PathBuf>) -> Option<Self> {
        Some(path.into()).filter(|path| path.is_absolute()).map(Self)
    }

    /// The path.
    pub fn as_path(&self) -> &Path {
        &self.0
    }
}

impl From<AbsolutePath> for PathBuf {
    fn from(AbsolutePath(path): AbsolutePath) -> Self {
        path
    }
}

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let path = Value::deserialize(deserializer)?;
        let absolute = path.as_str().and_then(Self::new);
        absolute.ok_or_else(|| D::Error::custom("should be an absolute path"))
    }
}

/// The variables of a shell. No program can be started with others than these.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// The names and values.
    pub fn into_variables(self) -> impl Iterator<Item = (String, String)> {
        self.0.into_iter()
    }
}

/// Values may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<'de> Deserialize<'de> for Environment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Variables).map(Self)
    }
}

struct Variables;

impl<'de> Visitor<'de> for Variables {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut variables = BTreeMap::new();
        while let Some((name, value)) = members.next_entry::<String, Value>()? {
            match value {
                Value::String(value) if !name.contains(['=', '\0']) && !value.contains('\0') => {
                    variables.insert(name, value);
                }
                // The value may be a secret, and the name may be one that was mistaken for a name.
                _ => return Err(A::Error::custom("should have names and values that are text")),
            }
        }
        Ok(variables)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Local;
    use crate::read::Document;

    fn told(document: Value) -> Vec<String> {
        let problems = Document::of(document).read::<Local>().problems;
        problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_relative_path_means_something_else_to_a_server() {
        let expected = ["workspace: should be an absolute path", "files.a: should be an absolute path"];
        assert_eq!(told(json!({ "workspace": "work", "files": { "a": 1, "b": "/b" } })), expected);
    }

    #[test]
    fn nothing_of_a_shell_is_repeated() {
        for shell in [json!({ "TOKEN": 12 }), json!({ "a=b": "secret" }), json!({ "A": "sec\0ret" })] {
            let expected = ["environment: should have names and values that are text"];
            assert_eq!(told(json!({ "environment": shell })), expected);
        }
        let expected = ["environment: should be an object of names and values, it is a string"];
        assert_eq!(told(json!({ "environment": "secret" })), expected);
        let local = Document::of(json!({ "environment": { "TOKEN": "secret" } })).read::<Local>().whole();
        assert!(!format!("{local:?}").contains("secret"));
    }
}
