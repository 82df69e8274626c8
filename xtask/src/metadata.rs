//! What `cargo metadata` says about the crates we build on.

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::cargo;

/// A crate in the lock file.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// An SPDX expression, if the crate declares one.
    pub(crate) license: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Every crate that is locked: all features, all platforms, tests included, and more than any one build takes in.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let json = cargo::output(&["metadata", "--format-version", "1", "--all-features", "--locked"])?;
    let metadata: Metadata =
        serde_json::from_str(&json).context("`cargo metadata` printed something unexpected")?;
    Ok(metadata.packages)
}
