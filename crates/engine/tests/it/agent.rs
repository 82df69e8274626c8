//! Scripts as agents, and what the system says about their processes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use adjourn_engine::supervisor::{Program, Supervisor};

/// How long a test waits for what has to happen. Much longer than it takes: it is only reached by a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The name of the variable that marks all processes of a test's agent.
const MARK: &str = "ADJOURN_TEST_MARK";

pub(crate) fn supervisor() -> Supervisor {
    Supervisor::new(vec![env!("CARGO_BIN_EXE_adjourn-supervise").into()])
}

/// A folder with an agent in it, whose processes can be told from all others.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes an executable script.
    pub(crate) fn script(&self, interpreter: &str, text: &str) -> PathBuf {
        let path = self.path().join("agent");
        // By another process: a file that is open for writing here might be inherited by what another test starts just
        // now, and cannot be executed for as long.
        let mut writer = Command::new("sh");
        writer.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(&path).stdin(Stdio::piped());
        let mut writer = writer.spawn().unwrap();
        let script = format!("#!/usr/bin/env {interpreter}\n{text}");
        writer.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        path
    }

    /// The variable that this agent's processes all have.
    pub(crate) fn mark(&self) -> (String, String) {
        (MARK.to_owned(), self.path().display().to_string())
    }

    /// The script, ready to be started.
    pub(crate) fn agent(&self, interpreter: &str, text: &str) -> Program {
        let mut agent = Program::new(self.script(interpreter, text), self.path());
        let (mark, value) = self.mark();
        let path = std::env::var_os("PATH").unwrap();
        agent.env = vec![("PATH".into(), path), (mark.into(), value.into())];
        agent
    }

    /// The numbers of all living processes that have this stage's mark in their environment.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let (mark, value) = self.mark();
        let wanted = format!("{mark}={value}").into_bytes();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
            // A process that has ended but was not yet asked about has no environment any more.
            if environment.split(|byte| *byte == 0).any(|variable| variable == wanted) {
                found.push(pid);
            }
        }
        found
    }

    /// Waits until a file has as many lines.
    pub(crate) async fn lines_in(&self, name: &str, count: usize) -> Vec<String> {
        let path = self.path().join(name);
        until(|| {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<_> = text.lines().map(ToOwned::to_owned).collect();
            (lines.len() >= count && text.ends_with('\n')).then_some(lines)
        })
        .await
    }
}

impl Drop for Stage {
    /// A failed test leaves nothing behind either.
    fn drop(&mut self) {
        for pid in self.processes() {
            if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// Waits for something to be there.
pub(crate) async fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "waited for {PATIENCE:?} in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
