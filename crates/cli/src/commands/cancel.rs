//! `adjourn cancel`: ends a run, and waits until its processes are gone.

use adjourn_core::RunStatus;
use anyhow::bail;
use clap::Args;

use crate::attach::{Answers, stay};
use crate::client::{Client, Close, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
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
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        let tail = match self.cancel(&mut client).await {
            Ok(tail) => tail,
            Err(error) => {
                client.close(Close::CutOff).await?;
                return Err(error);
            }
        };
        match stay(client, tail, Answers::new(Vec::new())).await? {
            // What was asked for is done.
            Exit::Canceled => Ok(Exit::Done),
            exit => Ok(exit),
        }
    }

    /// Cancels, and gives back the run from there on.
    async fn cancel(&self, client: &mut Client<'_>) -> anyhow::Result<Tail> {
        let mut tail = Tail::from_now(find(client, &self.run).await?);
        match tail.now().status {
            status @ (RunStatus::Succeeded | RunStatus::Failed) => {
                bail!("run {} is {status}: there is nothing to cancel", tail.id())
            }
            // Again is no mistake: what was wanted is so.
            RunStatus::Canceled => {}
            RunStatus::Queued | RunStatus::Running | RunStatus::WaitingUser => {
                tail.saw(client.cancel(tail.id()).await?);
            }
        }
        Ok(tail)
    }
}
