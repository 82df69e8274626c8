//! Where things are installed that the tests need and the repository does not hold.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The variable that turns a missing program from a reason to skip a test into a failure.
pub const REQUIRE_VARIABLE: &str = "ADJOURN_REQUIRE_AGENTS";

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

/// What was found; if nothing was, says why the test is skipped, and fails it if the program is required. `verb` of xtask
/// installs it.
pub(crate) fn found_or_skipped(found: Option<PathBuf>, name: &str, verb: &str) -> Option<PathBuf> {
    if found.is_none() {
        let required = std::env::var(REQUIRE_VARIABLE).unwrap_or_default();
        let is_required = required.split(',').any(|word| word == name || word == "all");
        assert!(!is_required, "{name} is not installed: `cargo xtask {verb} {name}`");
        eprintln!("skipped: {name} is not installed; `cargo xtask {verb} {name}` does that");
    }
    found
}
