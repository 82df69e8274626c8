//! Starting this test binary again, as a process that may be killed or run into a limit.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DIRECTORY: &str = "ADJOURN_TEST_DIRECTORY";

/// A command that runs the ignored test `name` on `dir`, with its output on a pipe.
pub(crate) fn command(name: &str, dir: &Path) -> Command {
    // A process that goes beyond its file size limit gets a signal that ends it, unless that was ignored before it
    // began.
    let mut command = Command::new("sh");
    command
        .args(["-c", r#"trap "" XFSZ; exec "$@""#, "sh"])
        .arg(env::current_exe().unwrap())
        .args(["--ignored", "--exact", name, "--nocapture"])
        .env(DIRECTORY, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// The directory that the parent gave; none when somebody runs all ignored tests.
pub(crate) fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}
