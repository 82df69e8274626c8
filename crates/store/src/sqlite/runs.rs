//! Listing runs: for every filter a walk along an index, from any cursor.
//!
//! Ids are made in the order of time, so the newest first is the largest id first.

use adjourn_core::{RunId, RunRow, RunStatus, Timestamp};
use rusqlite::{Connection, Row, params};

use super::codec::{bound, run_key, run_of, run_status_code, run_status_of};
use super::read::{all, bytes_column, column, count_column, labels_column};
use crate::{Error, RunFilter};

/// The columns that [`run`] reads, of the table `r`.
macro_rules! columns {
    () => {
        "r.id, r.status, r.skill, r.engine, r.attempt, r.priority, r.error_code, r.frame, r.created_at, \
         r.updated_at, r.labels"
    };
}

const BY_ID: &str = concat!("SELECT ", columns!(), " FROM runs r WHERE r.id = ?1");

const NEWEST: &str =
    concat!("SELECT ", columns!(), " FROM runs r WHERE r.id < ?1 ORDER BY r.id DESC LIMIT ?2");

const OF_STATUS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM runs r WHERE r.status = ?1 AND r.id < ?2 ORDER BY r.id DESC LIMIT ?3"
);

const OF_SKILL_AND_STATUS: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM runs r WHERE r.skill = ?1 AND r.status = ?2 AND r.id < ?3 ORDER BY r.id DESC LIMIT ?4"
);

/// The walk is along the labels; status and skill are looked at on the way. A label that many runs have, asked for with
/// a status that few of those have, walks long: nobody's list so far.
const OF_LABEL: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM labels l CROSS JOIN runs r ON r.id = l.run \
     WHERE l.key = ?1 AND l.value = ?2 AND l.run < ?3 AND (?4 IS NULL OR r.status = ?4) \
     AND (?5 IS NULL OR r.skill = ?5) ORDER BY l.run DESC LIMIT ?6"
);

const COUNTS: &str = "SELECT r.status, count(*) FROM runs r GROUP BY r.status";

/// Sorts after every id, which are all one byte shorter.
const AFTER_ALL: [u8; 17] = [0xff; 17];

pub(super) fn one(connection: &Connection, id: RunId) -> Result<Option<RunRow>, Error> {
    Ok(all(connection, BY_ID, [run_key(id)], run)?.pop())
}

pub(super) fn list(connection: &Connection, filter: &RunFilter, limit: usize) -> Result<Vec<RunRow>, Error> {
    let before = filter.before.map(run_key);
    let before: &[u8] = before.as_ref().map_or(&AFTER_ALL, |key| key);
    let status = filter.status.map(run_status_code);
    let limit_sql = bound(limit);
    match (&filter.label, &filter.skill, status) {
        (Some((key, value)), skill, status) => {
            all(connection, OF_LABEL, params![key, value, before, status, skill, limit_sql], run)
        }
        (None, Some(skill), Some(status)) => {
            all(connection, OF_SKILL_AND_STATUS, params![skill, status, before, limit_sql], run)
        }
        (None, Some(skill), None) => of_skill(connection, skill, before, limit),
        (None, None, Some(status)) => all(connection, OF_STATUS, params![status, before, limit_sql], run),
        (None, None, None) => all(connection, NEWEST, params![before, limit_sql], run),
    }
}

pub(super) fn counts(connection: &Connection) -> Result<Vec<(RunStatus, u64)>, Error> {
    let found =
        all(connection, COUNTS, [], |row| Ok((run_status_of(column(row, 0)?)?, count_column(row, 1)?)))?;
    let count = |status: RunStatus| found.iter().find(|(of, _)| *of == status).map_or(0, |(_, count)| *count);
    Ok(RunStatus::ALL.iter().map(|&status| (status, count(status))).collect())
}

/// The newest of a skill in any status: the newest of each status, merged.
///
/// The index would serve this alone if it had no status in it; then skill and status together would need another one,
/// and every change of a status a third index write.
fn of_skill(connection: &Connection, skill: &str, before: &[u8], limit: usize) -> Result<Vec<RunRow>, Error> {
    // One snapshot for all: a run that changes its status between two of the queries is listed once.
    let snapshot = connection.unchecked_transaction().map_err(super::problem::while_doing("be read"))?;
    let mut found = Vec::new();
    for &status in RunStatus::ALL {
        let params = params![skill, run_status_code(status), before, bound(limit)];
        found.extend(all(&snapshot, OF_SKILL_AND_STATUS, params, run)?);
    }
    found.sort_by_key(|row| std::cmp::Reverse(row.run_id));
    found.truncate(limit);
    Ok(found)
}

fn run(row: &Row<'_>) -> Result<RunRow, Error> {
    let run_id = run_of(bytes_column(row, 0)?)?;
    Ok(RunRow {
        run_id,
        status: run_status_of(column(row, 1)?)?,
        skill: column(row, 2)?,
        engine: column(row, 3)?,
        attempt_number: column(row, 4)?,
        priority: column(row, 5)?,
        error_code: column(row, 6)?,
        seq: count_column(row, 7)?,
        created_at: Timestamp::from_millis(column(row, 8)?),
        updated_at: Timestamp::from_millis(column(row, 9)?),
        labels: labels_column(row, 10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{BY_ID, COUNTS, NEWEST, OF_LABEL, OF_SKILL_AND_STATUS, OF_STATUS};
    use crate::sqlite::open;

    #[test]
    fn every_list_is_a_walk_along_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let connection = open::writer(&dir.path().join("adjourn.db")).unwrap();
        let cases = [
            (BY_ID, "SEARCH r USING PRIMARY KEY (id=?)"),
            (NEWEST, "SEARCH r USING PRIMARY KEY (id<?)"),
            (OF_STATUS, "SEARCH r USING INDEX runs_by_status (status=? AND id<?)"),
            (COUNTS, "SCAN r USING COVERING INDEX runs_by_status"),
            (OF_SKILL_AND_STATUS, "SEARCH r USING INDEX runs_by_skill (skill=? AND status=? AND id<?)"),
            (
                OF_LABEL,
                "SEARCH l USING PRIMARY KEY (key=? AND value=? AND run<?); SEARCH r USING PRIMARY KEY (id=?)",
            ),
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
