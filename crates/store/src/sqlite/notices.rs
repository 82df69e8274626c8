//! Notices: listed until they were heard.

use adjourn_core::{Notice, NoticeId, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};

use super::codec::{bound, count, notice_key, notice_stream_of};
use super::problem::while_doing;
use super::read::{all, bytes_column, column, count_column};
use super::sql;
use crate::{Error, Pending, Settled};

const SETTLE: &str = "settle notices";

pub(super) fn pending(connection: &Connection, limit: usize) -> Result<Vec<Pending>, Error> {
    let sql = "SELECT run, seq, at, due_at, attempts, body FROM notices \
               WHERE due_at IS NOT NULL ORDER BY due_at, run, seq LIMIT ?1";
    all(connection, sql, [bound(limit)], |row| {
        let id = NoticeId { stream: notice_stream_of(bytes_column(row, 0)?)?, seq: count_column(row, 1)? };
        let at = Timestamp::from_millis(column(row, 2)?);
        Ok(Pending {
            notice: Notice { id, at, body: column(row, 5)? },
            due_at: Timestamp::from_millis(column(row, 3)?),
            attempts: column(row, 4)?,
        })
    })
}

pub(super) fn settle(connection: &mut Connection, settled: &[Settled]) -> Result<(), Error> {
    let failed = while_doing(SETTLE);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let write = || -> rusqlite::Result<()> {
        let mut remove = transaction.prepare_cached(sql::REMOVE_NOTICE)?;
        let mut promote = transaction.prepare_cached(sql::PROMOTE_NOTICE)?;
        let mut again = transaction.prepare_cached(sql::NOTICE_AGAIN)?;
        for settled in settled {
            match settled {
                Settled::Done(NoticeId { stream, seq }) => {
                    let key = notice_key(*stream);
                    remove.execute(params![key, count(*seq)])?;
                    promote.execute([key])?;
                }
                Settled::Again(NoticeId { stream, seq }, due_at) => {
                    again.execute(params![notice_key(*stream), count(*seq), due_at.millis()])?;
                }
            }
        }
        Ok(())
    };
    write().map_err(&failed)?;
    transaction.commit().map_err(&failed)
}
