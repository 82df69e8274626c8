//! `adjourn roundtable attach`: follows a roundtable that goes on, and answers what it asks.

use clap::Args;

use super::watch::watch;
use crate::client::{Client, Close, Role};
use crate::data::Global;
use crate::exit::Exit;
use crate::find::find_roundtable;
use crate::tail::Tail;

/// Follow a roundtable again, and answer what it asks
///
/// Shows what happens from now on, and the question that is open. One that is closed is shown with what came out of it.
/// Leaving changes nothing: the roundtable goes on in the background.
#[derive(Debug, Args)]
pub(super) struct Attach {
    /// The roundtable: its id, or an end of it that no other has
    #[arg(value_name = "ROUNDTABLE")]
    roundtable: String,
}

impl Attach {
    pub(super) async fn run(self, global: &Global) -> anyhow::Result<Exit> {
        global.check_there()?;
        let mut client = Client::connect(global, Role::Works).await?;
        match find_roundtable(&mut client, &self.roundtable).await {
            Ok(roundtable) => watch(client, Tail::from_now(roundtable)).await,
            Err(error) => {
                client.close(Close::AtRest).await?;
                Err(error)
            }
        }
    }
}
