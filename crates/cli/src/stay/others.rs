//! Other runs that this process took up as the owner of the data directory.

use adjourn_core::RunStatus;

use super::{Left, Signal, Stay};
use crate::client::RunQuery;

/// Other runs that are counted before it is only said that there are many.
const OTHERS_COUNTED_MAX: usize = 1000;

impl Stay<'_, '_> {
    /// Lets other runs come to rest: each turn that is cut off counts as a restart of its run, and a run survives only so
    /// many.
    pub(super) async fn others(&mut self) -> anyhow::Result<()> {
        let mut told = false;
        loop {
            let changes = self.client.all_events().await?;
            let others = self.at_work().await?;
            let (Some(mut changes), 1..) = (changes, others) else { return Ok(()) };
            if !std::mem::replace(&mut told, true) {
                let runs = match others {
                    1 => "1 other run is".to_owned(),
                    more => format!("{more} other runs are"),
                };
                anstream::eprintln!("{runs} still at work here; Ctrl-C leaves that to the background");
            }
            self.left = tokio::select! {
                _ = changes.next() => None,
                signal = self.signals.next() => Some(match signal {
                    Signal::Interrupt => Left::InBackground,
                    Signal::Terminate => Left::AtOnce,
                }),
            };
            if self.left.is_some() {
                return Ok(());
            }
        }
    }

    /// How many other runs work or are about to.
    async fn at_work(&mut self) -> anyhow::Result<usize> {
        let mut count = 0;
        for status in [RunStatus::Running, RunStatus::Queued] {
            let query = RunQuery { status: Some(status.to_string()), ..RunQuery::default() };
            let rows = self.client.runs(&query, OTHERS_COUNTED_MAX).await?.items;
            count += rows.iter().filter(|row| row.run_id != self.tail.id()).count();
        }
        Ok(count)
    }
}
