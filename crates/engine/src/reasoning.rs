//! Adjourn's own loop over a model and tools.
//!
//! A small graph: the [reasoning node](reasoning_node) asks the model for its next message, the [tool node](tool_node) has the
//! calls of that message made, and the [runner](graph) goes from one to the other until there is nothing left to do. The ECS
//! node, which asks the person, is behind the [toolbox](crate::Toolbox): `ask_user` is a call like any other, and only the
//! toolbox knows that it waits.
//!
//! Nothing of a conversation is kept here. Its [state](state) is what the steps in the journal add up to, and a checkpoint is
//! a commit: a reply of the model is durable before one of its calls is asked for. So a turn that was cut off anywhere goes
//! on from its last step, never asks for a reply that it had, and never makes a call that it made.

mod context;
mod graph;
mod instructions;
mod limits;
mod outcome;
mod reasoning_node;
mod state;
mod step;
mod tool_node;

use adjourn_core::{ResumesBy, RunError};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::environment::ShellVariables;
use crate::model::{HttpModel, ModelError, ModelOptions};
use crate::turn::{Engine, Finished, Probe, ProfileFound, Seen, Turn};

/// An engine that thinks with a model and acts through the toolbox of its turn.
#[derive(Debug)]
pub struct ReasoningEngine {
    model: HttpModel,
}

impl ReasoningEngine {
    /// An engine over this model. Nothing is sent yet.
    pub fn new(options: ModelOptions) -> Result<Self, ModelError> {
        Ok(Self { model: HttpModel::new(options)? })
    }
}

impl Engine for ReasoningEngine {
    fn resumes_by(&self) -> ResumesBy {
        ResumesBy::Journal
    }

    fn run(&self, turn: Turn, seen: mpsc::Sender<Seen>, stop: CancellationToken) -> BoxFuture<'_, Finished> {
        Box::pin(async move {
            tokio::select! {
                biased;
                // Calls that are being made go on to their end without us.
                () = stop.cancelled() => Finished::Stopped,
                finished = graph::run(&self.model, &turn, &seen, &stop) => finished,
            }
        })
    }

    /// Always: the conversation is where the run is.
    fn can_resume(&self, _: &Turn) -> bool {
        true
    }

    /// Always: there is nothing to install, and it was made with all that was configured.
    fn is_installed(&self, _: Option<&ShellVariables>) -> bool {
        true
    }

    fn probe(&self) -> BoxFuture<'_, Probe> {
        Box::pin(async move {
            match self.model.reach().await {
                Ok(()) => Probe::Ready {
                    version: format!("model {}", self.model.name()),
                    profile: ProfileFound::resumable("its conversation is in the journal"),
                },
                Err(error) => Probe::Unusable { problem: error.to_string() },
            }
        })
    }
}

/// How a turn ends that a model's error ends.
fn model_failed(error: &ModelError) -> Finished {
    match error.code() {
        Some(code) => Finished::Failed(RunError { code, message: error.to_string() }),
        None => Finished::Stopped,
    }
}
