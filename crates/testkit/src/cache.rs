//! Where things are installed that the tests need and the repository does not hold.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// Where `name` belongs: a folder of its own for each set of versions, so that checkouts do not disturb each other.
/// `lock` says the versions.
///
/// None if the environment says neither where the cache nor where the user's home is.
pub fn folder(kind: &str, name: &str, lock: &str) -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let digest = Sha256::digest(lock);
    let versions: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Some(cache.join("adjourn").join(kind).join(format!("{name}-{versions}")))
}
