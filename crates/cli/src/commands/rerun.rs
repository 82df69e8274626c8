//! `adjourn rerun`: a new run of the same request.

use adjourn_api::CreatedView;
use adjourn_core::RunId;
use clap::Args;

use crate::attach::{Answers, stay};
use crate::client::{Client, Close, Role, new_key};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find;
use crate::style::{self, styled};
use crate::tail::Tail;
use crate::text::clean;

/// Start a new run of the same request, and stay with it
#[derive(Debug, Args)]
pub(super) struct Rerun {
    /// The run whose request is made again
    #[arg(value_name = "RUN")]
    run: String,

    /// An answer to a question, given beforehand; several are used in order
    #[arg(long = "answer", value_name = "TEXT")]
    answers: Vec<String>,
}

impl Rerun {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        match self.create(&mut client).await {
            Ok((earlier, CreatedView { run, .. })) => {
                let id = styled(style::BOLD, run.run_id);
                anstream::eprintln!("{id}  as {earlier}, on {}", clean(&run.engine));
                stay(client, Tail::from_start(run), Answers::new(self.answers)).await
            }
            Err(error) => {
                client.close(Close::CutOff).await?;
                Err(error)
            }
        }
    }

    async fn create(&self, client: &mut Client<'_>) -> anyhow::Result<(RunId, CreatedView)> {
        let earlier = find(client, &self.run).await?.run_id;
        Ok((earlier, client.rerun(earlier, &new_key()).await?))
    }
}
