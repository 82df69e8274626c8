//! The bench engine: its turns cost nothing and need nothing, so that a benchmark measures Adjourn alone.

use std::path::PathBuf;
use std::sync::Arc;

use adjourn_core::{Observation, ResumesBy, Run, RunError, Survey};
use adjourn_engine::secrets::Masker;
use adjourn_engine::{Engine, Finished, Probe, ProfileFound, Seen, ShellVariables, Turn};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::turn_inputs::{PrepareTurns, TurnInputs};

const QUESTION: &str = r#"{"__SKILL_DONE__": false, "message": "Which version is this going to be?",
    "ui_hints": {"kind": "choose_one", "options": ["2.3.1", "2.4.0", "3.0.0"]}}"#;
const RESULT: &str =
    r#"{"__SKILL_DONE__": true, "version": "2.4.0", "file": "RELEASE-2.4.0.md", "entries": 17}"#;

/// Asks in its first turn and is done in its second, at once.
#[derive(Debug, Clone, Copy)]
pub struct BenchEngine;

impl Engine for BenchEngine {
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Handle
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, _stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            let text = if turn.handle.is_none() { QUESTION } else { RESULT };
            let handle = Observation::Handle(turn.run_id.to_string());
            for fact in [handle, Observation::Message { text: text.to_owned(), raw: None }] {
                // Whoever does not listen any more does not need it.
                let _ = seen.send(Seen::Fact(fact)).await;
            }
            Finished::Completed { text: text.to_owned() }
        })
    }

    fn can_resume(&self, _turn: &Turn) -> bool {
        true
    }

    fn is_installed(&self, _: Option<&ShellVariables>) -> bool {
        true
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        Box::pin(async {
            Probe::Ready {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                profile: ProfileFound::resumable("it keeps nothing"),
            }
        })
    }
}

/// Gives every turn to [`BenchEngine`], without a skill and without a folder.
#[derive(Debug, Clone, Copy)]
pub struct BenchTurns;

impl PrepareTurns for BenchTurns {
    fn turn_inputs(&self, _run: &Run) -> Result<TurnInputs, RunError> {
        Ok(TurnInputs {
            engine: Arc::new(BenchEngine),
            prompt: String::new(),
            shell: None,
            workspace: PathBuf::new(),
            reads: Vec::new(),
            logs: PathBuf::new(),
            masker: Masker::EMPTY,
            output: None,
            opening: String::new(),
            toolset: None,
        })
    }

    fn survey(&self, _run: &Run) -> Survey {
        Survey::INTACT
    }
}
