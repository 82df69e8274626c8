//! `adjourn roundtable escalate`: asks to have a say, and stays with the roundtable.

use clap::Args;

use super::watch::watch;
use crate::client::{Client, Close, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::tail::Tail;

/// Ask to have a say: at once between rounds, else when the round is recorded
#[derive(Debug, Args)]
pub(super) struct Escalate {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,

    /// What you want to have a say in
    #[arg(value_name = "NOTE")]
    note: Option<String>,
}

impl Escalate {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        let escalated = async {
            let mut tail = Tail::from_now(find_roundtable(&mut client, &self.roundtable).await?);
            tail.saw(client.escalate_roundtable(tail.id(), self.note).await?);
            anyhow::Ok(tail)
        };
        match escalated.await {
            Ok(tail) => watch(client, tail).await,
            Err(error) => {
                client.close(Close::AtRest).await?;
                Err(error)
            }
        }
    }
}
