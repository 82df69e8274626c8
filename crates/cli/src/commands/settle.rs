//! `adjourn settle`: says what became of a call whose result was lost.

use adjourn_core::{ContractView, ExecutionId, Settlement};
use clap::Args;

use crate::client::{Client, Close, Role};
use crate::contract::{headline, standing};
use crate::data::Global;
use crate::exit::Exit;
use crate::output::print_json;

/// Say what became of a call whose outcome is unknown
#[derive(Debug, Args)]
pub(super) struct Settle {
    /// The contract, as `adjourn trace` names it
    #[arg(value_name = "EXEC")]
    contract: ExecutionId,

    /// happened: it is not done again; did_not_happen: it may be tried again
    #[arg(value_name = "OUTCOME")]
    outcome: Settlement,

    /// What there is to say about it; of a call that happened, its result
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl Settle {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        let settled = client.settle(self.contract, self.outcome, self.note.as_deref()).await;
        // As the owner this process may have taken up the work of others.
        client.close(Close::AtRest).await?;
        show(global, &settled?)?;
        Ok(Exit::Done)
    }
}

fn show(global: &Global, contract: &ContractView) -> anyhow::Result<()> {
    if global.json {
        return print_json(contract);
    }
    anstream::eprintln!("{}  {}", headline(contract), standing(contract));
    Ok(())
}
