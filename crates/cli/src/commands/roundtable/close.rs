//! `adjourn roundtable close`: breaks a roundtable off.

use adjourn_core::roundtable::RoundtableView;
use clap::Args;

use super::ended::standing;
use crate::client::{self, Client, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::output::print_json;
use crate::style::{self, styled};

/// Break a roundtable off: its runs are canceled, and a round that is not recorded is dropped
#[derive(Debug, Args)]
pub(super) struct Close {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,
}

impl Close {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        let closed = self.close(&mut client).await;
        // What is still at work, the runs that have to end among it, is left to the background.
        client.close(client::Close::AtRest).await?;
        let table = closed?;
        anstream::eprintln!("{}  {}", styled(style::BOLD, table.roundtable_id), standing(&table));
        let export = global.command(&format!("roundtable export {}", table.roundtable_id));
        anstream::eprintln!("what it came to: {export}");
        if global.json {
            print_json(&table)?;
        }
        Ok(Exit::Done)
    }

    async fn close(&self, client: &mut Client<'_>) -> anyhow::Result<RoundtableView> {
        let id = find_roundtable(client, &self.roundtable).await?.roundtable_id;
        client.close_roundtable(id).await
    }
}
