//! Checks a whole journal: that every stream can be read, and that the rows say what the streams say.
//!
//! Rows are written in the commit of the events that change them, so they differ only where something else wrote the
//! database, or a disk lost a part of it. The streams are right then, and [`repair`] writes the rows again from them. A
//! stream that cannot be read is not repaired here: the next owner ends its run, and keeps what can be read of it.

use std::collections::BTreeSet;

use adjourn_core::roundtable::Roundtable;
use adjourn_core::{BadEntry, Change, Entry, Folding, Item, Run, Stream, StreamId, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};

use super::codec::{roundtable_key, roundtable_of, run_key, run_of, stream_key, stream_of};
use super::problem::while_doing;
use super::write::Writing;
use super::{read, roundtables, runs};
use crate::Error;

/// Lines of SQLite's own check that are reported: a torn file has thousands.
const INTEGRITY_LINES: u32 = 20;

/// Something that is wrong with a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The run or roundtable that it concerns; none where it is the database as a whole.
    pub stream: Option<StreamId>,
    /// What is wrong, for people.
    pub problem: String,
    /// What can be done about it.
    pub remedy: Remedy,
}

/// What can be done about a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Rows are written again from the stream, which is whole.
    WriteRows,
    /// The next owner ends the run, or closes the roundtable, that cannot be read.
    EndStream,
    /// Nothing more: the run has ended, and what can be read of it is shown.
    None,
    /// Only a backup of the database helps.
    Restore,
}

/// What an examination found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examination {
    /// Streams that were read.
    pub streams: u64,
    /// Entries that they have.
    pub entries: u64,
    /// Bytes of their payloads.
    pub payload_bytes: u64,
    /// The stream with the most bytes, and how many.
    pub largest: Option<(StreamId, u64)>,
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
}

/// Checks the journal behind `connection`.
pub(super) fn examine(connection: &Connection) -> Result<Examination, Error> {
    let mut found = Examination::default();
    integrity(connection, &mut found)?;
    for stream in streams(connection, &mut found)? {
        // One that SQLite itself cannot read is a finding, not the end of the examination.
        if let Err(error) = one(connection, stream, &mut found) {
            let finding =
                Finding { stream: Some(stream), problem: error.to_string(), remedy: Remedy::Restore };
            found.findings.push(finding);
        }
    }
    Ok(found)
}

fn integrity(connection: &Connection, found: &mut Examination) -> Result<(), Error> {
    let sql = format!("PRAGMA integrity_check({INTEGRITY_LINES})");
    let lines = read::all(connection, &sql, [], |row| read::column::<String>(row, 0))?;
    for line in lines.into_iter().filter(|line| line != "ok") {
        let problem = format!("SQLite finds the database damaged: {line}");
        found.findings.push(Finding { stream: None, problem, remedy: Remedy::Restore });
    }
    Ok(())
}

/// Every stream that has an entry or a row.
fn streams(connection: &Connection, found: &mut Examination) -> Result<BTreeSet<StreamId>, Error> {
    let mut streams = BTreeSet::new();
    let mut take = |sql: &str, of: fn(&[u8]) -> Result<StreamId, Error>| -> Result<(), Error> {
        for stream in read::all(connection, sql, [], |row| Ok(of(read::bytes_column(row, 0)?)))? {
            match stream {
                Ok(stream) => _ = streams.insert(stream),
                Err(error) => {
                    let finding =
                        Finding { stream: None, problem: error.to_string(), remedy: Remedy::Restore };
                    found.findings.push(finding);
                }
            }
        }
        Ok(())
    };
    take("SELECT DISTINCT stream FROM entries", stream_of)?;
    take("SELECT DISTINCT stream FROM open_interactions", stream_of)?;
    take("SELECT id FROM runs", |key| run_of(key).map(StreamId::Run))?;
    take("SELECT id FROM roundtables", |key| roundtable_of(key).map(StreamId::Roundtable))?;
    Ok(streams)
}

fn one(connection: &Connection, stream: StreamId, found: &mut Examination) -> Result<(), Error> {
    let entries = read::strict_stream(connection, stream);
    let readable = read::stream(connection, stream, crate::After::START, usize::MAX)?;
    let bytes: u64 = readable.iter().map(|entry| entry.payload.len() as u64).sum();
    found.streams += 1;
    found.entries += readable.len() as u64;
    found.payload_bytes += bytes;
    if found.largest.is_none_or(|(_, most)| bytes > most) {
        found.largest = Some((stream, bytes));
    }
    let rows = match (stream, entries) {
        (_, Ok(entries)) if entries.is_empty() => Err("it has rows and no entries".to_owned()),
        (stream, Ok(entries)) => match rows_of(stream, &entries) {
            Ok(Some(rows)) => Ok(rows),
            Ok(None) => Err("it has no entries".to_owned()),
            Err(bad) => Err(bad.to_string()),
        },
        (_, Err(error)) => Err(error.to_string()),
    };
    let finding = match rows {
        Ok(rows) => match difference(connection, stream, &rows)? {
            None => return Ok(()),
            Some(problem) => Finding { stream: Some(stream), problem, remedy: Remedy::WriteRows },
        },
        Err(problem) => unreadable(connection, stream, &problem, &readable)?,
    };
    found.findings.push(finding);
    Ok(())
}

/// The finding about a stream that cannot be read to its end.
fn unreadable(
    connection: &Connection,
    stream: StreamId,
    problem: &str,
    readable: &[Entry],
) -> Result<Finding, Error> {
    let remedy = match stream {
        StreamId::Run(id) => match runs::one(connection, id) {
            _ if readable.is_empty() => Remedy::Restore,
            Ok(Some(row)) if row.status.is_terminal() => Remedy::None,
            Ok(Some(_)) => Remedy::EndStream,
            Ok(None) | Err(_) => Remedy::Restore,
        },
        StreamId::Roundtable(id) => match roundtables::one(connection, id) {
            _ if readable.is_empty() => Remedy::Restore,
            Ok(Some(row)) if row.status.is_terminal() => Remedy::None,
            Ok(Some(_)) => Remedy::EndStream,
            Ok(None) | Err(_) => Remedy::Restore,
        },
    };
    Ok(Finding { stream: Some(stream), problem: format!("its journal cannot be read: {problem}"), remedy })
}

/// What of the rows of a stream is not as `expected`, if something is.
fn difference(
    connection: &Connection,
    stream: StreamId,
    expected: &[Change],
) -> Result<Option<String>, Error> {
    for change in expected {
        let problem = match change {
            Change::Run(row) => match runs::one(connection, row.run_id) {
                Ok(Some(found)) if found == *row => None,
                Ok(Some(found)) => Some(format!(
                    "the list of runs shows it as {} (frame {}), its journal as {} (frame {})",
                    found.status, found.seq, row.status, row.seq
                )),
                Ok(None) => Some("it is missing in the list of runs".to_owned()),
                Err(error) => Some(format!("its row in the list of runs cannot be read: {error}")),
            },
            Change::Roundtable(row) => match roundtables::one(connection, row.roundtable_id) {
                Ok(Some(found)) if found == *row => None,
                Ok(Some(_)) => Some("the list of roundtables shows it other than its journal".to_owned()),
                Ok(None) => Some("it is missing in the list of roundtables".to_owned()),
                Err(error) => Some(format!("its row in the list of roundtables cannot be read: {error}")),
            },
            Change::Contract(row) => match read::contract(connection, row.execution_id) {
                Ok(Some(found)) if found == *row => None,
                Ok(_) | Err(_) => Some(format!("the row of its contract {} is wrong", row.execution_id)),
            },
            Change::InteractionOpened(_)
            | Change::InteractionClosed(..)
            | Change::Claimed(_)
            | Change::Released(_)
            | Change::Notice(_)
            | Change::SetAside(_) => None,
        };
        if problem.is_some() {
            return Ok(problem);
        }
    }
    let expected: Vec<_> = expected
        .iter()
        .filter_map(|change| match change {
            Change::InteractionOpened(open) => Some(open.clone()),
            _ => None,
        })
        .collect();
    let found = read::open_of(connection, stream)?;
    Ok((found != expected).then(|| {
        format!(
            "the list of open questions has {} of it, its journal {}, or others",
            found.len(),
            expected.len()
        )
    }))
}

/// The rows of a stream as its entries have them, over parts that were set aside.
fn rows_of(stream: StreamId, entries: &[Entry]) -> Result<Option<Vec<Change>>, BadEntry> {
    fn rows<S: Stream>(id: S::Id, entries: &[Entry]) -> Result<Option<Vec<Change>>, BadEntry> {
        let mut folding = Folding::<S>::new(id);
        entries.iter().for_each(|entry| folding.add(entry));
        Ok(folding.finish()?.map(|state| state.rows()))
    }
    match stream {
        StreamId::Run(id) => rows::<Run>(id, entries),
        StreamId::Roundtable(id) => rows::<Roundtable>(id, entries),
    }
}

/// Writes the rows of streams again from what their entries add up to. Returns how many were written.
pub(super) fn repair(connection: &mut Connection, findings: &[Finding]) -> Result<u64, Error> {
    let failed = while_doing("be repaired");
    let mut repaired = 0;
    for finding in findings.iter().filter(|finding| finding.remedy == Remedy::WriteRows) {
        let Some(stream) = finding.stream else { continue };
        let entries = read::strict_stream(connection, stream)?;
        let damaged = |bad: BadEntry| Error::Damaged { problem: bad.to_string() };
        let Some(changes) = rows_of(stream, &entries).map_err(damaged)? else { continue };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
        clear(&transaction, stream).map_err(&failed)?;
        let item = Item {
            stream,
            expected_seq: 0,
            at: Timestamp::default(),
            events: 1,
            last_frame: 0,
            payload: Vec::new(),
            changes,
        };
        Writing::new(&transaction, 0).and_then(|mut writing| writing.rows(&item)).map_err(&failed)?;
        transaction.commit().map_err(&failed)?;
        repaired += 1;
    }
    Ok(repaired)
}

/// Removes the rows of a stream that its entries say everything about. Keys and notices are left: a key may be held for
/// what other streams did, and a notice may have been sent.
fn clear(connection: &Connection, stream: StreamId) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM open_interactions WHERE stream = ?1", [stream_key(stream)])?;
    match stream {
        StreamId::Run(id) => {
            let key: [u8; 16] = run_key(id);
            connection.execute("DELETE FROM runs WHERE id = ?1", params![key])?;
            connection.execute("DELETE FROM labels WHERE run = ?1", params![key])?;
            connection.execute("DELETE FROM contracts WHERE run = ?1", params![key])?;
        }
        StreamId::Roundtable(id) => {
            connection.execute("DELETE FROM roundtables WHERE id = ?1", params![roundtable_key(id)])?;
        }
    }
    Ok(())
}
