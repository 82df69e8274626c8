//! Listing roundtables, as runs are listed.

use adjourn_core::machines::RoundtableStatus;
use adjourn_core::{RoundtableId, RoundtableRow, Timestamp};
use rusqlite::{Connection, Row, params};

use super::codec::{bound, roundtable_key, roundtable_of, roundtable_status_code, roundtable_status_of};
use super::read::{all, bytes_column, column, count_column, labels_column};
use crate::{Error, RoundtableFilter};

/// The columns that [`roundtable`] reads.
macro_rules! columns {
    () => {
        "id, status, subject, workflow, strategy, rounds, close_reason, frame, created_at, updated_at, labels"
    };
}

const BY_ID: &str = concat!("SELECT ", columns!(), " FROM roundtables WHERE id = ?1");

const NEWEST: &str =
    concat!("SELECT ", columns!(), " FROM roundtables WHERE id < ?1 ORDER BY id DESC LIMIT ?2");

const OF_STATUS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM roundtables WHERE status = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"
);

/// Sorts after every id, which are all one byte shorter.
const AFTER_ALL: [u8; 17] = [0xff; 17];

pub(super) fn one(connection: &Connection, id: RoundtableId) -> Result<Option<RoundtableRow>, Error> {
    Ok(all(connection, BY_ID, [roundtable_key(id)], roundtable)?.pop())
}

pub(super) fn list(
    connection: &Connection,
    filter: &RoundtableFilter,
    limit: usize,
) -> Result<Vec<RoundtableRow>, Error> {
    let before = filter.before.map(roundtable_key);
    let before: &[u8] = before.as_ref().map_or(&AFTER_ALL, |key| key);
    match filter.status.map(roundtable_status_code) {
        Some(status) => all(connection, OF_STATUS, params![status, before, bound(limit)], roundtable),
        None => all(connection, NEWEST, params![before, bound(limit)], roundtable),
    }
}

pub(super) fn counts(connection: &Connection) -> Result<Vec<(RoundtableStatus, u64)>, Error> {
    let sql = "SELECT status, count(*) FROM roundtables GROUP BY status";
    let found: Vec<(u8, u64)> = all(connection, sql, [], |row| Ok((column(row, 0)?, count_column(row, 1)?)))?;
    let count = |status| {
        let code = roundtable_status_code(status);
        found.iter().find(|(found, _)| *found == code).map_or(0, |(_, count)| *count)
    };
    Ok(RoundtableStatus::ALL.iter().map(|&status| (status, count(status))).collect())
}

fn roundtable(row: &Row<'_>) -> Result<RoundtableRow, Error> {
    let roundtable_id = roundtable_of(bytes_column(row, 0)?)?;
    Ok(RoundtableRow {
        roundtable_id,
        status: roundtable_status_of(column(row, 1)?)?,
        subject: column(row, 2)?,
        workflow: column(row, 3)?,
        strategy: column(row, 4)?,
        rounds: column(row, 5)?,
        close_reason: column(row, 6)?,
        seq: count_column(row, 7)?,
        created_at: Timestamp::from_millis(column(row, 8)?),
        updated_at: Timestamp::from_millis(column(row, 9)?),
        labels: labels_column(row, 10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{BY_ID, NEWEST, OF_STATUS};
    use crate::sqlite::open;

    #[test]
    fn every_list_of_roundtables_is_a_walk_along_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let connection = open::writer(&dir.path().join("adjourn.db")).unwrap();
        let cases = [
            (BY_ID, "SEARCH roundtables USING PRIMARY KEY (id=?)"),
            (NEWEST, "SEARCH roundtables USING PRIMARY KEY (id<?)"),
            (OF_STATUS, "SEARCH roundtables USING INDEX roundtables_by_status (status=? AND id<?)"),
        ];
        for (sql, expected) in cases {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let nothing = vec![rusqlite::types::Null; statement.parameter_count()];
            let steps = statement.query_map(rusqlite::params_from_iter(nothing), |row| row.get("detail"));
            let steps: Vec<String> = steps.unwrap().map(Result::unwrap).collect();
            assert_eq!(steps.join("; "), expected, "{sql}");
        }
    }
}
