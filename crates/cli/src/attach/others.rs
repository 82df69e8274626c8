//! Other runs that this process took up as the owner of the data directory.

use adjourn_core::{RunId, RunStatus};

use super::{Left, Signal, Signals};
use crate::client::{Client, RunQuery};

/// Other runs that are counted before it is only said that there are many.
const OTHERS_COUNTED_MAX: usize = 1000;

/// Lets other runs than `ours` come to rest, if this process is their owner: each turn that is cut off counts as a restart
/// of its run, and a run survives only so many. Says how they are left before that.
pub(crate) async fn others(
    client: &mut Client<'_>,
    signals: &mut Signals,
    ours: Option<RunId>,
) -> anyhow::Result<Option<Left>> {
    let mut told = false;
    while client.is_owner() {
        let changes = client.all_events().await?;
        let others = at_work(client, ours).await?;
        let (Some(mut changes), 1..) = (changes, others) else { break };
        if !std::mem::replace(&mut told, true) {
            let runs = match others {
                1 => "1 other run is".to_owned(),
                more => format!("{more} other runs are"),
            };
            anstream::eprintln!("{runs} still at work here; Ctrl-C leaves that to the background");
        }
        tokio::select! {
            _ = changes.next() => {}
            signal = signals.next() => {
                return Ok(Some(match signal {
                    Signal::Interrupt => Left::InBackground,
                    Signal::Terminate => Left::AtOnce,
                }));
            }
        }
    }
    Ok(None)
}

/// How many other runs work or are about to.
async fn at_work(client: &mut Client<'_>, ours: Option<RunId>) -> anyhow::Result<usize> {
    let mut count = 0;
    for status in [RunStatus::Running, RunStatus::Queued] {
        let query = RunQuery { status: Some(status.to_string()), ..RunQuery::default() };
        let rows = client.runs(&query, OTHERS_COUNTED_MAX).await?.items;
        count += rows.iter().filter(|listed| Some(listed.row.run_id) != ours).count();
    }
    Ok(count)
}
