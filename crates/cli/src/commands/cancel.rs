//! `adjourn cancel`: ends a run, and waits until its processes are gone.

use adjourn_core::{By, RunStatus};
use anyhow::bail;
use clap::Args;

use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::stay::{Answers, stay};
use crate::tail::Tail;

/// Cancel a run, and wait until its processes are gone
#[derive(Debug, Args)]
pub(super) struct Cancel {
    /// The run: its id, or an end of it that no other run has
    #[arg(value_name = "RUN")]
    run: String,
}

impl Cancel {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        let (service, _threads) = global.existing_service()?;
        let store = service.store().clone();
        let run_id = find(store.as_ref(), &self.run)?;
        let tail = Tail::from_now(store.as_ref(), run_id)?;
        match tail.run()?.status() {
            status @ (RunStatus::Succeeded | RunStatus::Failed) => {
                bail!("run {run_id} is {status}: there is nothing to cancel")
            }
            // Again is no mistake: what was wanted is so.
            RunStatus::Canceled => {}
            RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => {
                service.cancel(run_id, By::USER).await?;
            }
        }
        match stay(global, &service, run_id, tail, Answers::new(Vec::new())).await? {
            // What was asked for is done.
            Exit::Canceled => Ok(Exit::Done),
            exit => Ok(exit),
        }
    }
}
