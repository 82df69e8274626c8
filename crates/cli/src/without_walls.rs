//! Engines that run without a sandbox, on a machine that cannot build one: a person is asked once.

use std::path::PathBuf;

use adjourn_core::{ErrorCode, RunView};
use adjourn_engine::Acceptance;
use adjourn_engine::supervisor::Supervisor;
use anyhow::Context;

use crate::data::Global;
use crate::prompt;
use crate::text::clean;

/// Asks the person at the terminal whether the engine of a run may go without, where that is why the run failed.
/// True where they said yes.
pub(crate) async fn offer(global: &Global, run: &RunView) -> anyhow::Result<bool> {
    let is_why = run.error.as_ref().is_some_and(|error| error.code == ErrorCode::SandboxUnavailable);
    if !is_why || global.server.is_some() || !prompt::is_interactive() {
        return Ok(false);
    }
    // With some walls there is something to put right, and nothing to do without.
    let Err(problem) = Supervisor::current_exe()?.walls().await.isolation() else { return Ok(false) };
    let engine = clean(&run.engine);
    anstream::eprintln!(
        "No sandbox can be built on this machine: {}.\n\
         Without one, an agent of {engine} can do whatever you can do, also approve its own calls.",
        clean(&problem)
    );
    let question = format!("Run {engine} without a sandbox here, from now on?");
    let asked =
        tokio::task::spawn_blocking(move || inquire::Confirm::new(&question).with_default(false).prompt());
    match asked.await? {
        Ok(true) => accept(&run.engine).map(|()| true),
        Ok(false)
        | Err(inquire::InquireError::OperationCanceled | inquire::InquireError::OperationInterrupted) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Writes down that an engine may run without a sandbox where none can be built.
pub(crate) fn accept(engine: &str) -> anyhow::Result<()> {
    let acceptance = Acceptance::of_user(engine, |name| std::env::var_os(name).map(PathBuf::from));
    let acceptance = acceptance.context(
        "there is nowhere to keep what you accept: set HOME or XDG_STATE_HOME to an absolute path",
    )?;
    acceptance.give().context("what you accept cannot be written down")
}
