//! Removal of runs and roundtables that have ended, and of the keys that they were created with.

use std::collections::BTreeMap;

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::roundtable::open_key;
use adjourn_core::{RoundtableId, RunId, StreamId, Timestamp, create_key, roundtable_scope, successor_key};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::codec::{count, damaged, notice_key, roundtable_key, run_key, run_status_of, stream_key};
use super::problem::while_doing;
use super::{read, roundtables, runs};
use crate::{Error, KeptBecause, Removal};

pub(super) const REMOVE: &str = "remove what has ended";

/// Keys that only the run itself and the runs that continue it could use, and there are none of those any more.
const REMOVE_CLAIMS: &str = "DELETE FROM claims WHERE stream = ?1 AND substr(scope, 1, 4) = 'run:'";

/// The first six bytes of a UUIDv7 are the milliseconds in which it was made, and the first byte of a stream is its kind.
const FORGET_KEYS_OF_RUNS: &str = "DELETE FROM claims WHERE scope = ?1 AND substr(stream, 1, 1) = x'00' \
     AND substr(stream, 2, 6) < ?2 AND NOT EXISTS (SELECT 1 FROM runs WHERE id = substr(claims.stream, 2))";

const FORGET_KEYS_OF_ROUNDTABLES: &str = "DELETE FROM claims WHERE scope = ?1 AND substr(stream, 1, 1) = x'01' \
     AND substr(stream, 2, 6) < ?2 AND NOT EXISTS (SELECT 1 FROM roundtables WHERE id = substr(claims.stream, 2))";

/// Removes a run in one transaction, if it has ended and nothing needs it any more.
pub(super) fn run(connection: &mut Connection, id: RunId, head: u64) -> Result<Removal, Error> {
    let failed = while_doing(REMOVE);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let labels = match removable(&transaction, id)? {
        Removable::Yes(labels) => labels,
        Removable::No(removal) => return Ok(removal),
    };
    let (key, stream) = (run_key(id), stream_key(StreamId::Run(id)));
    let successor = successor_key(id);
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
        // A run that is not there cannot be continued, so nothing asks for this key again.
        transaction.execute(super::sql::RELEASE, [successor.scope, successor.key])?;
        Ok(())
    };
    clear().map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(Removal::Removed)
}

/// Removes a roundtable in one transaction, if it is closed.
pub(super) fn roundtable(connection: &mut Connection, id: RoundtableId, head: u64) -> Result<Removal, Error> {
    let failed = while_doing(REMOVE);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    match roundtables::one(&transaction, id)? {
        None => return Ok(Removal::NotThere),
        Some(row) if row.status != RoundtableStatus::Closed => {
            return Ok(Removal::Kept(KeptBecause::NotEnded));
        }
        Some(_) => {}
    }
    let stream = stream_key(StreamId::Roundtable(id));
    let clear = || -> rusqlite::Result<()> {
        transaction.execute("UPDATE removed SET head = max(head, ?1)", [count(head)])?;
        transaction.execute("DELETE FROM entries WHERE stream = ?1", [stream])?;
        transaction.execute("DELETE FROM roundtables WHERE id = ?1", [roundtable_key(id)])?;
        transaction.execute("DELETE FROM open_interactions WHERE stream = ?1", [stream])?;
        transaction.execute("DELETE FROM notices WHERE run = ?1", [notice_key(StreamId::Roundtable(id))])?;
        transaction.execute("DELETE FROM claims WHERE scope = ?1", [roundtable_scope(id)])?;
        Ok(())
    };
    clear().map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(Removal::Removed)
}

/// Forgets the keys that removed runs and roundtables were created with, of those whose id was made before.
pub(super) fn create_keys(connection: &Connection, made_before: Timestamp) -> Result<u64, Error> {
    let millis = u64::try_from(made_before.millis()).unwrap_or(0).to_be_bytes();
    let forget = |sql, scope: String| {
        let forgotten = connection.execute(sql, params![scope, &millis[2..]]);
        forgotten.map(|count| count as u64).map_err(while_doing("forget keys"))
    };
    let of_runs = forget(FORGET_KEYS_OF_RUNS, create_key("").scope)?;
    Ok(of_runs + forget(FORGET_KEYS_OF_ROUNDTABLES, open_key("").scope)?)
}

enum Removable {
    /// With its labels.
    Yes(BTreeMap<String, String>),
    No(Removal),
}

fn removable(connection: &Connection, id: RunId) -> Result<Removable, Error> {
    let failed = while_doing(REMOVE);
    let kept = |because| Ok(Removable::No(Removal::Kept(because)));
    let key = run_key(id);
    let row: Option<(u8, Option<String>)> = connection
        .query_row("SELECT status, labels FROM runs WHERE id = ?1", [key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()
        .map_err(&failed)?;
    let Some((status, labels)) = row else { return Ok(Removable::No(Removal::NotThere)) };
    let status = run_status_of(status)?;
    if !status.is_terminal() {
        return kept(KeptBecause::NotEnded);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM contracts WHERE run = ?1 AND unknown)";
    let unsettled: bool = connection.query_row(sql, [key], |row| row.get(0)).map_err(&failed)?;
    if unsettled {
        return kept(KeptBecause::CallInDoubt);
    }
    if let Some(successor) = read::holder(connection, &successor_key(id))?.and_then(|held| held.stream.run())
        && runs::one(connection, successor)?.is_some()
    {
        return kept(KeptBecause::ContinuedBy(successor));
    }
    let labels = labels.map_or(Ok(BTreeMap::new()), |labels| serde_json::from_str(&labels));
    labels.map(Removable::Yes).map_err(|error| damaged(format!("the labels of {id}: {error}")))
}
