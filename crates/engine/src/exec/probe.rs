//! Asks an agent for its version.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use super::ExecEngine;
use crate::sandbox::Workplace;
use crate::supervisor::{Exit, Program, Supervised};
use crate::turn::{Probe, ProfileFound};

/// How long it may take. The slowest agent took 11 s for its first start on a machine, which unpacks things.
const PROBE_MAX: Duration = Duration::from_secs(30);

/// No version is longer; what comes after it is not looked at.
const VERSION_BYTES_MAX: u64 = 4 << 10;

/// What is said of a program that has no version to ask for.
const UNKNOWN: &str = "unknown";

impl ExecEngine {
    pub(super) async fn ask_version(&self) -> Probe {
        let environment = self.environment(None);
        let program = match self.locate(&environment) {
            Ok(program) => program,
            Err(problem) => return Probe::Unusable { problem },
        };
        let Some(args) = self.profile().version else {
            return Probe::Ready { version: UNKNOWN.to_owned(), profile: resumable() };
        };
        let folder = std::env::temp_dir();
        let mut agent = Program::new(program, &folder);
        if let Some(options) = &self.config.sandbox {
            let work = Workplace { workspace: &folder, reads: &[], permission: self.config.permission };
            match options.for_agent(&work, self.profile().state, &environment) {
                Ok(sandbox) => agent.sandbox = Some(sandbox),
                Err(_) => return Probe::Unusable { problem: "its state folders cannot be made".to_owned() },
            }
        }
        agent.args = args.iter().map(Into::into).collect();
        agent.env = environment.into_variables();
        let asked = match self.supervisor.start(agent).await {
            Ok(mut supervised) => {
                let asked = timeout(PROBE_MAX, read_version(&mut supervised)).await;
                let _ = supervised.end().await;
                asked.unwrap_or_else(|_| Err(format!("it did not answer within {} s", PROBE_MAX.as_secs())))
            }
            Err(error) => Err(format!("it cannot be started: {error}")),
        };
        match asked {
            Ok(version) => Probe::Ready { version, profile: resumable() },
            Err(problem) => {
                Probe::Unusable { problem: format!("`{} {}`: {problem}", self.program(), args.join(" ")) }
            }
        }
    }
}

fn resumable() -> ProfileFound {
    ProfileFound::resumable("each turn is a process of its own, which is given its handle")
}

async fn read_version(supervised: &mut Supervised) -> Result<String, String> {
    drop(supervised.stdin.take());
    let mut said = Vec::new();
    if let Some(stdout) = supervised.stdout.take() {
        let read = stdout.take(VERSION_BYTES_MAX).read_to_end(&mut said).await;
        read.map_err(|error| format!("its answer cannot be read: {error}"))?;
    }
    match supervised.wait().await {
        Ok(Exit::Status(0)) => {
            let said = String::from_utf8_lossy(&said);
            let version = said.lines().map(str::trim).find(|line| !line.is_empty());
            Ok(version.unwrap_or(UNKNOWN).to_owned())
        }
        Ok(Exit::Status(status)) => Err(format!("it ended with exit status {status}")),
        Ok(Exit::SupervisorLost) => Err("its supervisor was killed".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
