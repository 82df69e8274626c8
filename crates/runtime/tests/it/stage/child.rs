//! Starting this test binary again, as a process with variables of its own, or one that may be killed.

use std::env;
use std::process::{Command, Stdio};

/// A command that runs the test `name` of this binary.
pub(crate) fn command(name: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--include-ignored", "--exact", name, "--nocapture"]).stdin(Stdio::null());
    command
}

/// Runs the test `name` with these variables, and fails if it does.
pub(crate) fn run_again(name: &str, variables: &[(&str, &str)]) {
    let output = command(name).envs(variables.iter().copied()).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
