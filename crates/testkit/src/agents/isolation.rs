//! An environment in which an agent finds nothing but what a test put there.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// Environment variables.
pub type Environment = Vec<(String, String)>;

/// A port of the discard protocol, on which nobody listens.
const NOWHERE: &str = "http://127.0.0.1:9";

/// The environment for a process whose home is `home` and whose network is loopback.
///
/// Every agent looks for news of itself somewhere. With a proxy that does not answer, it goes without at once.
pub fn isolated(home: &Path) -> Environment {
    let mut environment = Environment::new();
    set(&mut environment, "HOME", home.display().to_string());
    // gemini leaves a report of each failure in the folder for temporary files.
    set(&mut environment, "TMPDIR", home.display().to_string());
    set(&mut environment, "PATH", std::env::var("PATH").unwrap_or_default());
    for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        set(&mut environment, proxy, NOWHERE);
    }
    for exception in ["NO_PROXY", "no_proxy"] {
        set(&mut environment, exception, "127.0.0.1,localhost");
    }
    environment
}

/// Adds a variable.
pub(super) fn set(environment: &mut Environment, name: &str, value: impl Into<String>) {
    environment.push((name.to_owned(), value.into()));
}

/// Writes a file and the folders that lead to it.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}

/// Writes a file of JSON.
pub(super) fn write_json(path: &Path, value: &Value) -> io::Result<()> {
    write(path, &format!("{value:#}\n"))
}
