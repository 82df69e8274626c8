//! Reading entries, and the rows that are found by one key.

use std::collections::BTreeMap;

use adjourn_core::{
    ClaimKey, ContractRow, Entry, ExecutionId, Holder, InteractionId, OpenInteraction, Question, StreamId,
    Timestamp,
};
use rusqlite::{Connection, Params, Row, Statement, params};

use super::codec::{
    bound, contract_status_of, damaged, execution_key, execution_of, run_of, stream_key, stream_of,
};
use super::problem::while_doing;
use super::sql;
use crate::{After, Error, OpenCursor};

const READ: &str = "be read";

/// Runs a query and reads every row.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    of: impl Fn(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let failed = while_doing(READ);
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query(params).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(of(row)?);
    }
    Ok(found)
}

/// A column, or the damage that it is not what was written.
pub(super) fn column<T: rusqlite::types::FromSql>(row: &Row<'_>, index: usize) -> Result<T, Error> {
    row.get(index).map_err(while_doing(READ))
}

/// A column that counts something.
pub(super) fn count_column(row: &Row<'_>, index: usize) -> Result<u64, Error> {
    u64::try_from(column::<i64>(row, index)?).map_err(|_| damaged("a count is negative".to_owned()))
}

/// A column that holds what something is found by.
pub(super) fn labels_column(row: &Row<'_>, index: usize) -> Result<BTreeMap<String, String>, Error> {
    match column::<Option<String>>(row, index)? {
        None => Ok(BTreeMap::new()),
        // Labels only help to find a run: without them it is still there.
        Some(json) => Ok(serde_json::from_str(&json).unwrap_or_default()),
    }
}

/// A column that holds bytes, without copying them.
pub(super) fn bytes_column<'r>(row: &'r Row<'_>, index: usize) -> Result<&'r [u8], Error> {
    let value = row.get_ref(index).map_err(while_doing(READ))?;
    value.as_blob().map_err(|error| damaged(format!("column {index}: {error}")))
}

pub(super) fn head(connection: &Connection) -> Result<u64, Error> {
    let sql = "SELECT max((SELECT coalesce(max(position), 0) FROM entries), (SELECT head FROM removed))";
    let found = all(connection, sql, [], |row| count_column(row, 0))?;
    Ok(found.first().copied().unwrap_or(0))
}

/// The position of the last event of a stream; 0 when there is none.
pub(super) fn stream_position(connection: &Connection, stream: StreamId) -> Result<u64, Error> {
    let sql = "SELECT position FROM entries WHERE stream = ?1 ORDER BY seq DESC LIMIT 1";
    let found = all(connection, sql, [stream_key(stream)], |row| count_column(row, 0))?;
    Ok(found.first().copied().unwrap_or(0))
}

pub(super) fn stream(
    connection: &Connection,
    stream: StreamId,
    after: After,
    limit: usize,
) -> Result<Vec<Entry>, Error> {
    let seq = match after {
        After::Seq(seq) => seq,
        After::Frame(frame) => seq_before_frame(connection, stream, frame)?,
    };
    let sql = "SELECT position, stream, seq, frame, events, at, payload FROM entries \
               WHERE stream = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    all(connection, sql, params![stream_key(stream), bound(seq), bound(limit)], |row| {
        entry(row).or_else(|_| unreadable_entry(row, stream))
    })
}

/// The entries of a stream, or the first that is not what was written.
pub(super) fn strict_stream(connection: &Connection, stream: StreamId) -> Result<Vec<Entry>, Error> {
    let sql = "SELECT position, stream, seq, frame, events, at, payload FROM entries \
               WHERE stream = ?1 ORDER BY seq";
    let entries = all(connection, sql, params![stream_key(stream)], entry)?;
    check_stream(0, &entries)?;
    Ok(entries)
}

/// The stand-in for a row that is not what was written: an entry of one event that nobody can read. So the readers of the
/// stream get on to what is behind it, and see that something is missing.
fn unreadable_entry(row: &Row<'_>, stream: StreamId) -> Result<Entry, Error> {
    let number = |index| Ok::<_, Error>(u64::try_from(column::<i64>(row, index)?).unwrap_or(0));
    Ok(Entry {
        position: number(0)?,
        stream,
        seq: number(2)?,
        last_frame: number(3)?,
        events: 1,
        at: Timestamp::from_millis(column(row, 5).unwrap_or(0)),
        payload: Vec::new(),
    })
}

/// The place of the last entry of `stream` that ends with `frame` or before it; 0 when there is none.
///
/// Frames never go back along a stream, so this is a search by halves: 20 seeks for a million entries, where an index
/// of its own would be written with every commit.
fn seq_before_frame(connection: &Connection, stream: StreamId, frame: u64) -> Result<u64, Error> {
    let key = stream_key(stream);
    let place = |row: &Row<'_>| Ok((count_column(row, 0)?, count_column(row, 1)?));
    let next = "SELECT seq, frame FROM entries WHERE stream = ?1 AND seq > ?2 ORDER BY seq LIMIT 1";
    // Entries up to `low` end with `frame` or before it; those that end after `high` do not.
    let mut low = 0;
    let mut high = all(connection, sql::STREAM_HEAD, [key], place)?.first().map_or(0, |&(seq, _)| seq);
    while low < high {
        let middle = low + (high - low) / 2;
        match all(connection, next, params![key, bound(middle)], place)?.first() {
            Some(&(seq, ends)) if ends <= frame => low = seq,
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}

/// The entries of all streams in order. One that is not what was written comes as an entry that nobody can read; one
/// whose stream cannot be told is left out.
pub(super) fn everything(connection: &Connection, position: u64, limit: usize) -> Result<Vec<Entry>, Error> {
    let sql = "SELECT position, stream, seq, frame, events, at, payload FROM entries \
               WHERE position > ?1 ORDER BY position LIMIT ?2";
    let mut after = position;
    loop {
        let rows = all(connection, sql, params![bound(after), bound(limit)], |row| {
            let position = count_column(row, 0)?;
            let readable = entry(row).or_else(|_| unreadable_entry(row, stream_of(bytes_column(row, 1)?)?));
            Ok((position, readable.ok()))
        })?;
        let Some((last, _)) = rows.last() else { return Ok(Vec::new()) };
        after = *last;
        let entries: Vec<_> = rows.into_iter().filter_map(|(_, entry)| entry).collect();
        // A whole page of which nothing can be told is no end.
        if !entries.is_empty() {
            return Ok(entries);
        }
    }
}

fn entry(row: &Row<'_>) -> Result<Entry, Error> {
    let entry = Entry {
        position: count_column(row, 0)?,
        stream: stream_of(bytes_column(row, 1)?)?,
        seq: count_column(row, 2)?,
        last_frame: count_column(row, 3)?,
        events: column(row, 4)?,
        at: Timestamp::from_millis(column(row, 5)?),
        payload: bytes_column(row, 6)?.to_owned(),
    };
    let events = u64::from(entry.events);
    if events == 0 {
        return Err(damage_at(&entry, "it has no events"));
    }
    if entry.seq < events || entry.position < entry.seq {
        return Err(damage_at(&entry, "it has more events than there are places for"));
    }
    Ok(entry)
}

/// That the entries of a stream which follow `seq` follow it, and each other, without a gap.
fn check_stream(seq: u64, entries: &[Entry]) -> Result<(), Error> {
    let mut before: Option<&Entry> = None;
    for entry in entries {
        let begins = entry.seq - u64::from(entry.events);
        let follows = match before {
            // A cursor may point into the middle of an entry.
            None => begins <= seq,
            Some(before) => begins == before.seq && entry.last_frame >= before.last_frame,
        };
        if !follows {
            return Err(damage_at(entry, "it does not follow the one before it"));
        }
        before = Some(entry);
    }
    Ok(())
}

fn damage_at(entry: &Entry, what: &str) -> Error {
    damaged(format!("the entry of {} at position {}: {what}", entry.stream, entry.position))
}

/// The columns that [`open_interaction`] reads.
const OPEN_COLUMNS: &str = "stream, interaction, created_at, deadline_at, question";

pub(super) fn open_interactions(
    connection: &Connection,
    after: Option<OpenCursor>,
    limit: usize,
) -> Result<Vec<OpenInteraction>, Error> {
    let limit = bound(limit);
    match after {
        None => {
            let sql = format!(
                "SELECT {OPEN_COLUMNS} FROM open_interactions ORDER BY created_at, stream, interaction LIMIT ?1"
            );
            all(connection, &sql, [limit], open_interaction)
        }
        Some(OpenCursor { created_at, stream, interaction_id }) => {
            let sql = format!(
                "SELECT {OPEN_COLUMNS} FROM open_interactions WHERE (created_at, stream, interaction) > (?1, ?2, ?3) \
                 ORDER BY created_at, stream, interaction LIMIT ?4"
            );
            let params = params![created_at.millis(), stream_key(stream), interaction_id.0, limit];
            all(connection, &sql, params, open_interaction)
        }
    }
}

/// The open questions of a stream, in their order.
pub(super) fn open_of(connection: &Connection, stream: StreamId) -> Result<Vec<OpenInteraction>, Error> {
    let sql = format!("SELECT {OPEN_COLUMNS} FROM open_interactions WHERE stream = ?1 ORDER BY interaction");
    all(connection, &sql, [stream_key(stream)], open_interaction)
}

pub(super) fn deadlines(connection: &Connection, limit: usize) -> Result<Vec<OpenInteraction>, Error> {
    let sql = format!(
        "SELECT {OPEN_COLUMNS} FROM open_interactions WHERE deadline_at IS NOT NULL \
         ORDER BY deadline_at, stream, interaction LIMIT ?1"
    );
    all(connection, &sql, [bound(limit)], open_interaction)
}

fn open_interaction(row: &Row<'_>) -> Result<OpenInteraction, Error> {
    let stream = stream_of(bytes_column(row, 0)?)?;
    let interaction_id = InteractionId(column(row, 1)?);
    let question: String = column(row, 4)?;
    Ok(OpenInteraction {
        stream,
        interaction_id,
        question: serde_json::from_str(&question).unwrap_or_else(|_| unreadable_question()),
        created_at: Timestamp::from_millis(column(row, 2)?),
        deadline_at: column::<Option<i64>>(row, 3)?.map(Timestamp::from_millis),
    })
}

/// The stand-in for a question whose row cannot be read. The journal has the real one.
fn unreadable_question() -> Question {
    Question::open_text(
        "(the list of open questions is damaged here: open the run, or repair it with `adjourn doctor --repair`)",
    )
}

pub(super) fn contract(connection: &Connection, id: ExecutionId) -> Result<Option<ContractRow>, Error> {
    let sql = "SELECT run, status, unknown FROM contracts WHERE id = ?1";
    let found = all(connection, sql, [execution_key(id)], |row| {
        Ok(ContractRow {
            execution_id: id,
            run_id: run_of(bytes_column(row, 0)?)?,
            status: contract_status_of(column(row, 1)?)?,
            unknown: column(row, 2)?,
        })
    })?;
    Ok(found.first().copied())
}

pub(super) fn holder(connection: &Connection, key: &ClaimKey) -> Result<Option<Holder>, Error> {
    let mut statement = connection.prepare_cached(sql::HOLDER).map_err(while_doing(READ))?;
    holder_with(&mut statement, key)
}

/// Asks with a statement that is already compiled: a commit asks often.
pub(super) fn holder_with(statement: &mut Statement<'_>, key: &ClaimKey) -> Result<Option<Holder>, Error> {
    let failed = while_doing(READ);
    let mut rows = statement.query([&key.scope, &key.key]).map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else { return Ok(None) };
    let execution: Option<Vec<u8>> = column(row, 1)?;
    Ok(Some(Holder {
        stream: stream_of(bytes_column(row, 0)?)?,
        execution_id: execution.as_deref().map(execution_of).transpose()?,
        digest: column(row, 2)?,
    }))
}
