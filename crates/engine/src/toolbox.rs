//! What an engine can do to the world in a turn, and what it can have written down.
//!
//! Behind it every call is a contract: recorded before it happens, held for approval where that is due, never repeated when
//! it must not be. Engines do not know how; they ask for a call and are told what became of it.

use std::collections::BTreeMap;
use std::future::ready;

use adjourn_core::{Consequence, ExecutionId, Observation, RunError, RunId};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::model::ToolOffer;

/// The tool that asks the user, by the name under which our own reasoning engine offers it to its model. A call by this name is
/// taken from every agent.
pub const ASK_USER: &str = "ask_user";

/// The same tool, by the name that agents of others are offered it under.
///
/// Gemini CLI has an `ask_user` of its own, and takes every tool of that name away from its model when it runs without a
/// terminal, also those of MCP servers. No agent that we drive has a tool of this name.
pub const ASK_THE_USER: &str = "ask_the_user";

/// Whether a tool of this name asks the user.
pub fn asks_the_user(name: &str) -> bool {
    name == ASK_THE_USER || name == ASK_USER
}

/// What a turn can call, and where it is written down.
pub trait Toolbox: std::fmt::Debug + Send + Sync + 'static {
    /// What may be called, as it is now: the tools that the run's skill declares, and the one that asks the user, where
    /// somebody can be asked.
    ///
    /// Fails where a declared tool server cannot be used: then the run cannot go on.
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>>;

    /// Calls a tool by the name that it was [offered](Self::offers) under.
    ///
    /// The call goes on to its end even if nobody waits for it any more. A call with a `call_ref` that was asked for before
    /// is not made again: what became of it is told.
    fn call(&self, call: Call) -> BoxFuture<'_, Told>;

    /// Writes down a call that the engine or the gateway refused without asking for it, before the agent is told.
    fn refused(&self, call: Call, reason: String) -> BoxFuture<'_, ()>;

    /// Has facts written down; they are durable when this returns.
    fn checkpoint(&self, facts: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>>;

    /// The run's conversation as it was written down, after that of the runs that it continues.
    fn history(&self) -> BoxFuture<'_, Result<History, RunError>>;
}

/// No tools at all, and nobody who writes anything down: for turns that only ask what an engine is.
#[derive(Debug, Clone, Copy)]
pub struct NoTools;

impl Toolbox for NoTools {
    fn offers(&self) -> BoxFuture<'_, Result<Vec<ToolOffer>, RunError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Told> {
        Box::pin(ready(Told::Refused(format!("there is no tool `{}`: there are none at all", call.name))))
    }

    fn refused(&self, _: Call, _: String) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn checkpoint(&self, _: Vec<Observation>) -> BoxFuture<'_, Result<(), Stale>> {
        Box::pin(ready(Ok(())))
    }

    fn history(&self) -> BoxFuture<'_, Result<History, RunError>> {
        Box::pin(ready(Ok(History::default())))
    }
}

/// A call that an engine wants made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool, as it was offered.
    pub name: String,
    /// What it is called with.
    pub arguments: Value,
    /// What the engine knows the call by, where it may ask for it again after a restart.
    pub call_ref: Option<String>,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// It is over, one way or another.
    Over(Consequence),
    /// It was not made, because the same was done before, or may have been: this is what became of that.
    Before(Consequence),
    /// A person has to say something first. The turn ends when nothing else in it can go on.
    WithUser(ExecutionId),
    /// It is a question in the last attempt of its run, so that no turn could be given the answer: it was not asked, and the run
    /// fails when the turn ends.
    NoAttemptLeft(ExecutionId),
    /// It cannot be made, and why: there is no such tool, or it does not take these arguments.
    Refused(String),
    /// The turn is over, or its run: nothing is begun any more.
    Stale(Stale),
}

/// The turn does not count any more: its run has moved on without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the turn is over")]
pub struct Stale;

/// What was written down of a conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The engine's [steps](Observation::Step), oldest first, each with the run that it belongs to.
    pub steps: Vec<(RunId, Value)>,
    /// What became of calls, by their `call_ref`. Those that wait for a person, or were not made yet, are not there.
    pub settled: BTreeMap<String, Consequence>,
}
