//! Removing a run that has ended.

use std::collections::BTreeMap;

use adjourn_core::{RunId, StreamId};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::codec::{count, damaged, run_key, run_status_of, stream_key};
use super::problem::while_doing;
use crate::Error;

const REMOVE: &str = "remove a run";

/// The keys that nobody but the run could use: those of its own chain, and the one it was created with.
const REMOVE_CLAIMS: &str =
    "DELETE FROM claims WHERE stream = ?1 AND (scope = 'create' OR substr(scope, 1, 4) = 'run:')";

/// Removes a run in one transaction, if it has ended and nobody has to say any more what became of its calls.
pub(super) fn run(connection: &mut Connection, id: RunId, head: u64) -> Result<bool, Error> {
    let failed = while_doing(REMOVE);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let Some(labels) = removable(&transaction, id)? else { return Ok(false) };
    let (key, stream) = (run_key(id), stream_key(StreamId::Run(id)));
    let clear = || -> rusqlite::Result<()> {
        transaction.execute("UPDATE removed SET head = max(head, ?1)", [count(head)])?;
        transaction.execute("DELETE FROM entries WHERE stream = ?1", [stream])?;
        transaction.execute("DELETE FROM runs WHERE id = ?1", [key])?;
        for (name, value) in &labels {
            let label = params![name, value, key];
            transaction.execute("DELETE FROM labels WHERE key = ?1 AND value = ?2 AND run = ?3", label)?;
        }
        transaction.execute("DELETE FROM open_interactions WHERE stream = ?1", [stream])?;
        transaction.execute("DELETE FROM contracts WHERE run = ?1", [key])?;
        transaction.execute("DELETE FROM notices WHERE run = ?1", [key])?;
        transaction.execute(REMOVE_CLAIMS, [stream])?;
        Ok(())
    };
    clear().map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(true)
}

/// The labels of a run that may be removed.
fn removable(connection: &Connection, id: RunId) -> Result<Option<BTreeMap<String, String>>, Error> {
    let failed = while_doing(REMOVE);
    let key = run_key(id);
    let row: Option<(u8, Option<String>)> = connection
        .query_row("SELECT status, labels FROM runs WHERE id = ?1", [key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(&failed)?;
    let Some((status, labels)) = row else { return Ok(None) };
    if !run_status_of(status)?.is_terminal() {
        return Ok(None);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM contracts WHERE run = ?1 AND unknown)";
    let unsettled: bool = connection.query_row(sql, [key], |row| row.get(0)).map_err(&failed)?;
    if unsettled {
        return Ok(None);
    }
    let labels = labels.map_or(Ok(BTreeMap::new()), |labels| serde_json::from_str(&labels));
    labels.map(Some).map_err(|error| damaged(format!("the labels of {id}: {error}")))
}
