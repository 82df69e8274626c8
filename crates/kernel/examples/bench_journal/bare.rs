//! The same statements on the same tables in a loop, with nothing around them: what SQLite itself can do here.

use adjourn_core::{Change, Item, RunRow, RunStatus, StreamId, Timestamp};
use rusqlite::{CachedStatement, Connection, params};

use super::figures::{Figures, Stopwatch};

#[allow(dead_code, reason = "a run without contracts needs no statement for them")]
#[path = "../../../store/src/sqlite/sql.rs"]
mod sql;

const TABLES: &str = concat!(
    include_str!("../../../store/migrations/sqlite/V1__journal.sql"),
    include_str!("../../../store/migrations/sqlite/V4__roundtables.sql")
);

/// One item, with everything already in the form that is bound.
pub(crate) struct Bare<'i> {
    item: &'i Item,
    stream: Vec<u8>,
    run: Vec<u8>,
    row: &'i RunRow,
    status: usize,
    labels: String,
    opened: Option<(i64, Option<i64>, String)>,
    closed: bool,
}

impl<'i> Bare<'i> {
    fn new(item: &'i Item) -> Self {
        let StreamId::Run(id) = item.stream else { panic!("only runs are measured") };
        let run = id.bits().to_be_bytes().to_vec();
        let row = item.changes.iter().find_map(|change| match change {
            Change::Run(row) => Some(row),
            _ => None,
        });
        let row = row.expect("every item of a run has its row");
        let opened = item.changes.iter().find_map(|change| match change {
            Change::InteractionOpened(open) => Some((
                open.created_at.millis(),
                open.deadline_at.map(Timestamp::millis),
                serde_json::json!(open.question).to_string(),
            )),
            _ => None,
        });
        Self {
            item,
            stream: [&[0], run.as_slice()].concat(),
            run,
            row,
            status: RunStatus::ALL.iter().position(|status| *status == row.status).expect("it is one of all"),
            labels: serde_json::json!(row.labels).to_string(),
            opened,
            closed: item.changes.iter().any(|change| matches!(change, Change::InteractionClosed(..))),
        }
    }

    /// Commits everything in batches.
    pub(crate) fn measure(items: &[Item], batch: usize) -> Figures {
        let dir = tempfile::tempdir().expect("a directory for temporary files");
        let mut connection = Connection::open(dir.path().join("bare.db")).expect("it is empty");
        connection.set_prepared_statement_cache_capacity(32);
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;
                 PRAGMA journal_size_limit = 16777216; PRAGMA cell_size_check = ON;",
            )
            .and_then(|()| connection.execute_batch(TABLES))
            .expect("the migration is valid");
        let bare: Vec<_> = items.iter().map(Bare::new).collect();
        let mut position = 0;
        let mut stopwatch = Stopwatch::start();
        for batch in bare.chunks(batch) {
            stopwatch.commit(|| commit(&mut connection, batch, &mut position)).expect("the disk has room");
        }
        stopwatch.stop(items.iter().map(|item| u64::from(item.events)).sum())
    }
}

fn commit(connection: &mut Connection, batch: &[Bare<'_>], position: &mut i64) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    let prepare = |sql| transaction.prepare_cached(sql);
    let mut stream_head: CachedStatement<'_> = prepare(sql::STREAM_HEAD)?;
    let mut put_entry = prepare(sql::PUT_ENTRY)?;
    let (mut touch_run, mut move_run) = (prepare(sql::TOUCH_RUN)?, prepare(sql::MOVE_RUN)?);
    let (mut put_run, mut put_label) = (prepare(sql::PUT_RUN)?, prepare(sql::PUT_LABEL)?);
    let (mut open, mut close) = (prepare(sql::OPEN_INTERACTION)?, prepare(sql::CLOSE_INTERACTION)?);
    for Bare { item, stream, run, row, status, labels, opened, closed } in batch {
        let _: Option<i64> = stream_head.query_row([stream], |row| row.get(0)).ok();
        *position += i64::from(item.events);
        let seq = item.expected_seq.cast_signed() + i64::from(item.events);
        put_entry.execute(params![
            *position,
            stream,
            seq,
            item.last_frame.cast_signed(),
            item.events,
            item.at.millis(),
            item.payload
        ])?;
        let frame = row.seq.cast_signed();
        let updated_at = row.updated_at.millis();
        if item.expected_seq == 0 {
            let created_at = row.created_at.millis();
            put_run.execute(params![
                run,
                status_code(*status),
                row.attempt_number,
                row.error_code,
                frame,
                updated_at,
                row.skill,
                row.engine,
                row.priority,
                created_at,
                labels
            ])?;
            for (key, value) in &row.labels {
                put_label.execute(params![key, value, run])?;
            }
        } else {
            let changing =
                params![run, status_code(*status), row.attempt_number, row.error_code, frame, updated_at];
            if touch_run.execute(changing)? == 0 {
                move_run.execute(changing)?;
            }
        }
        if let Some((created_at, deadline_at, question)) = opened {
            open.execute(params![stream, 1, created_at, deadline_at, question])?;
        }
        if *closed {
            close.execute(params![stream, 1])?;
        }
    }
    drop((stream_head, put_entry, touch_run, move_run, put_run, put_label, open, close));
    transaction.commit()
}

fn status_code(index: usize) -> i64 {
    i64::try_from(index).expect("there are six")
}
