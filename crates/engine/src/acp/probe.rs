//! Finds out what an agent is and what it can do, by asking it and by trying it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use adjourn_core::{Profile, RunId, TurnReason};
use agent_client_protocol::v1::schema::InitializeResponse;

use super::AcpEngine;
use super::failure::Trouble;
use super::live::Live;
use super::session::Way;
use crate::log::LostOutput;
use crate::secrets::Masker;
use crate::toolbox::NoTools;
use crate::turn::{Finished, Probe, ProfileFound, Turn};

/// What is said of an agent that does not say its version.
const UNKNOWN: &str = "unknown";

/// A folder that is there as long as a probe is.
struct Workplace(PathBuf);

impl Workplace {
    fn new() -> std::io::Result<Self> {
        static PROBES: AtomicU32 = AtomicU32::new(0);
        let number = PROBES.fetch_add(1, Ordering::Relaxed);
        let name = format!("adjourn-probe-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder)?;
        Ok(Self(folder))
    }

    /// A turn that is never played.
    fn turn(&self) -> Turn {
        Turn {
            run_id: RunId::from_bits(0),
            attempt: 0,
            prompt: String::new(),
            handle: None,
            shell: None,
            workspace: self.0.clone(),
            reads: Vec::new(),
            logs: self.0.join("logs"),
            masker: Masker::EMPTY,
            profile: Profile::Resumable,
            process: None,
            decisions: Vec::new(),
            reason: TurnReason::First,
            opening: String::new(),
            tools: Arc::new(NoTools),
            lost_output: LostOutput::default(),
        }
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // Left behind it costs a few bytes, nothing else.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl AcpEngine {
    pub(super) async fn find_out(&self) -> Probe {
        let place = match Workplace::new() {
            Ok(place) => place,
            Err(error) => {
                return Probe::Unusable { problem: format!("there is no place to try it in: {error}") };
            }
        };
        match self.try_it(&place.turn()).await {
            Ok(probe) => probe,
            Err(Finished::Failed(error)) => Probe::Unusable { problem: error.message },
            Err(
                Finished::Completed { .. }
                | Finished::Stopped
                | Finished::NeedsPermission(_)
                | Finished::Suspended,
            ) => Probe::Unusable { problem: "it ended before it was asked anything".to_owned() },
        }
    }

    async fn try_it(&self, turn: &Turn) -> Result<Probe, Finished> {
        let mut first = self.start(turn, None).await?;
        let agent = match first.initialize(&self.config).await {
            Ok(agent) => agent,
            Err(trouble) => return Err(first.failure(trouble).await),
        };
        let version = version(&agent);
        let Some(way) = Way::announced(&agent) else {
            first.end().await;
            let because = "it says that it can neither session/resume nor session/load";
            return Ok(Probe::Ready { version, profile: ProfileFound::sticky_process(because) });
        };
        let handle = match first.try_new(turn).await {
            Ok(handle) => handle,
            Err(trouble) => return Err(first.failure(trouble).await),
        };
        first.end().await;
        let mut second = self.start(turn, None).await?;
        let taken_up = self.take_up_again(&mut second, turn, &handle, way).await;
        second.end().await;
        Ok(Probe::Ready { version, profile: profile(way, taken_up.is_ok()) })
    }

    async fn take_up_again(
        &self,
        second: &mut Live,
        turn: &Turn,
        handle: &str,
        way: Way,
    ) -> Result<(), Trouble> {
        second.initialize(&self.config).await?;
        second.try_to_take_up(turn, handle, way).await
    }
}

/// What follows from what an agent says and what it did when it was tried with a conversation in which nothing was said.
fn profile(way: Way, was_taken_up: bool) -> ProfileFound {
    let method = way.method();
    match (way, was_taken_up) {
        (_, true) => ProfileFound::resumable(format!(
            "a new process took up the conversation of an ended one ({method})"
        )),
        // Some write a conversation down with its first prompt, which would need a model.
        (Way::Resume, false) => ProfileFound::resumable(format!(
            "it says that it can {method}; one without a prompt it does not keep"
        )),
        (Way::Load, false) => ProfileFound::sticky_process(format!(
            "it says that it can {method}, but did not when it was tried"
        )),
    }
}

fn version(agent: &InitializeResponse) -> String {
    agent.agent_info.as_ref().map_or_else(|| UNKNOWN.to_owned(), |info| info.version.clone())
}
