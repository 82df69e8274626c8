//! Committing a batch.
//!
//! Everything that can refuse an item is looked at before the first of its rows is written. So a refused item has
//! nothing to take back, and no item needs a savepoint of its own.

use std::path::{Path, PathBuf};

use adjourn_core::{
    Change, Claim, ClaimKey, ContractRow, ContractStatus, Holder, Item, Notice, OpenInteraction,
    RoundtableRow, RunRow, StreamId, Timestamp,
};
use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, TransactionBehavior, params};

use super::codec::{
    contract_status_code, count, execution_key, notice_key, roundtable_key, roundtable_status_code, run_key,
    run_status_code, stream_key,
};
use super::problem::while_doing;
use super::{examine, log, notices, open, read, remove, sql};
use crate::{Conflict, Error, Outcome, Removal, Settled};

const COMMIT: &str = "commit";

/// The one connection that writes.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    /// The write-ahead log.
    log: PathBuf,
    /// The position of the last durable event.
    head: u64,
    /// Whether the log may hold frames of something that was refused: nothing is accepted until it does not.
    is_suspect: bool,
    /// Whether all connections have to be closed before the log is copied into the database again.
    is_stale: bool,
}

impl Writer {
    /// Opens the database at `path`, making or migrating it where that is needed.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let connection = open::writer(path)?;
        let head = read::head(&connection)?;
        let (path, log) = (path.to_owned(), log::path(path));
        Ok(Self { connection, path, log, head, is_suspect: false, is_stale: false })
    }

    /// Whether it has to be [opened again](Self::open_again).
    pub(super) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Opens the database again, after a copy of the log into it could not be synced: then SQLite copies all of the log once
    /// more. Nobody else may have it open.
    pub(super) fn open_again(&mut self) -> Result<(), Error> {
        let failed = while_doing("be opened again");
        let nothing = Connection::open_in_memory().map_err(&failed)?;
        let old = std::mem::replace(&mut self.connection, nothing);
        // Closing it must not do what just failed.
        let _ = old.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        drop(old);
        self.connection = open::writer(&self.path)?;
        let head = read::head(&self.connection)?;
        let (_, copied) = log::frames(&self.connection).map_err(&failed)?;
        let problem = if head != self.head {
            format!("the journal ends with event {head}, and {} was acknowledged", self.head)
        } else if copied > 0 {
            "another process has it open: end that first".to_owned()
        } else {
            self.is_stale = false;
            return Ok(());
        };
        Err(Error::Failed { doing: "be opened again", problem })
    }

    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// Makes a batch durable, or leaves everything as it was.
    pub(super) fn commit(&mut self, batch: &[Item]) -> Result<Vec<Outcome>, Error> {
        let (outcomes, head) =
            self.change(COMMIT, |connection, head| transaction(connection, batch, head))?;
        self.head = head;
        Ok(outcomes)
    }

    /// Removes a run or a roundtable that has ended, unless something needs it.
    pub(super) fn remove(&mut self, stream: StreamId) -> Result<Removal, Error> {
        self.change(remove::REMOVE, |connection, head| match stream {
            StreamId::Run(id) => remove::run(connection, id, head),
            StreamId::Roundtable(id) => remove::roundtable(connection, id, head),
        })
    }

    /// Forgets the keys that removed runs were created with.
    pub(super) fn forget_keys(&mut self, made_before: Timestamp) -> Result<u64, Error> {
        self.change("forget keys", |connection, _| remove::create_keys(connection, made_before))
    }

    /// Writes rows again that are not what their streams say.
    pub(super) fn repair(&mut self, findings: &[examine::Finding]) -> Result<u64, Error> {
        self.change("be repaired", |connection, _| examine::repair(connection, findings))
    }

    /// Remembers what became of notices.
    pub(super) fn settle_notices(&mut self, settled: &[Settled]) -> Result<(), Error> {
        self.change("settle notices", |connection, _| notices::settle(connection, settled))
    }

    /// Changes the database, and puts it right if that fails, so that nothing of a refused change can come back. While it
    /// cannot be put right, every change is refused.
    fn change<T>(
        &mut self,
        doing: &'static str,
        make: impl FnOnce(&mut Connection, u64) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.is_suspect {
            // Not as refused for certain: it may be the same that was left behind, asked for again.
            self.put_right().map_err(|problem| Error::Unresolved { doing, problem })?;
            self.is_suspect = false;
        }
        match make(&mut self.connection, self.head) {
            Ok(made) => {
                // The change is durable in the log, whatever comes of this.
                self.is_stale = log::copy_if_long(&self.connection).is_err();
                Ok(made)
            }
            Err(error) => Err(match self.put_right() {
                Ok(()) => error,
                Err(problem) => {
                    self.is_suspect = true;
                    Error::Unresolved { doing, problem: format!("{error}, and then {problem}") }
                }
            }),
        }
    }

    /// Removes from the log what was refused, and checks that the journal ends where it did.
    fn put_right(&self) -> Result<(), String> {
        let failed = |what: &str| format!("the log could not be put right: {what}");
        let bytes = log::committed_bytes(&self.connection).map_err(|error| failed(&error.to_string()))?;
        log::cut_off(&self.log, bytes).map_err(|error| failed(&error.to_string()))?;
        let head = read::head(&self.connection).map_err(|error| failed(&error.to_string()))?;
        if head == self.head {
            return Ok(());
        }
        Err(failed(&format!("the journal ends with event {head}, and {} was acknowledged", self.head)))
    }
}

/// Writes a batch in one transaction. Returns where the journal ends then.
fn transaction(connection: &mut Connection, batch: &[Item], head: u64) -> Result<(Vec<Outcome>, u64), Error> {
    let failed = while_doing(COMMIT);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let mut writing = Writing::new(&transaction, head).map_err(&failed)?;
    let outcomes = batch.iter().map(|item| writing.item(item)).collect::<Result<_, Error>>()?;
    let head = writing.head;
    drop(writing);
    transaction.commit().map_err(&failed)?;
    Ok((outcomes, head))
}

/// A transaction that is being written.
pub(super) struct Writing<'c> {
    connection: &'c Connection,
    /// The position of the last event so far.
    head: u64,
    stream_head: CachedStatement<'c>,
    put_entry: CachedStatement<'c>,
    touch_run: CachedStatement<'c>,
    move_run: CachedStatement<'c>,
    put_run: CachedStatement<'c>,
    put_label: CachedStatement<'c>,
    move_roundtable: CachedStatement<'c>,
    put_roundtable: CachedStatement<'c>,
    open_interaction: CachedStatement<'c>,
    close_interaction: CachedStatement<'c>,
    put_contract: CachedStatement<'c>,
    holder: CachedStatement<'c>,
    put_claim: CachedStatement<'c>,
    release: CachedStatement<'c>,
    put_notice: CachedStatement<'c>,
}

/// Where a stream ends.
#[derive(Default)]
struct StreamHead {
    seq: u64,
    frame: u64,
}

impl<'c> Writing<'c> {
    pub(super) fn new(connection: &'c Connection, head: u64) -> rusqlite::Result<Self> {
        Ok(Self {
            connection,
            head,
            stream_head: connection.prepare_cached(sql::STREAM_HEAD)?,
            put_entry: connection.prepare_cached(sql::PUT_ENTRY)?,
            touch_run: connection.prepare_cached(sql::TOUCH_RUN)?,
            move_run: connection.prepare_cached(sql::MOVE_RUN)?,
            put_run: connection.prepare_cached(sql::PUT_RUN)?,
            put_label: connection.prepare_cached(sql::PUT_LABEL)?,
            move_roundtable: connection.prepare_cached(sql::MOVE_ROUNDTABLE)?,
            put_roundtable: connection.prepare_cached(sql::PUT_ROUNDTABLE)?,
            open_interaction: connection.prepare_cached(sql::OPEN_INTERACTION)?,
            close_interaction: connection.prepare_cached(sql::CLOSE_INTERACTION)?,
            put_contract: connection.prepare_cached(sql::PUT_CONTRACT)?,
            holder: connection.prepare_cached(sql::HOLDER)?,
            put_claim: connection.prepare_cached(sql::PUT_CLAIM)?,
            release: connection.prepare_cached(sql::RELEASE)?,
            put_notice: connection.prepare_cached(sql::PUT_NOTICE)?,
        })
    }

    fn item(&mut self, item: &Item) -> Result<Outcome, Error> {
        assert!(item.events >= 1, "an item of {} has no events", item.stream);
        let before = self.stream_head(item.stream)?;
        if before.seq != item.expected_seq {
            return Ok(Outcome::Refused(Conflict::Seq { actual: before.seq }));
        }
        if let Some(conflict) = self.claim_conflict(&item.changes)? {
            return Ok(Outcome::Refused(conflict));
        }
        if item.last_frame < before.frame {
            // Either what is stored is wrong or what is to be stored. Written, it would be found by nobody's cursor.
            let problem = format!(
                "{} ends with frame {}, and is to go back to {}",
                item.stream, before.frame, item.last_frame
            );
            return Err(Error::Damaged { problem });
        }
        self.write(item).map_err(while_doing(COMMIT))?;
        Ok(Outcome::Accepted { position: self.head })
    }

    fn stream_head(&mut self, stream: StreamId) -> Result<StreamHead, Error> {
        let failed = while_doing(COMMIT);
        let mut rows = self.stream_head.query([stream_key(stream)]).map_err(&failed)?;
        match rows.next().map_err(&failed)? {
            Some(row) => {
                Ok(StreamHead { seq: read::count_column(row, 0)?, frame: read::count_column(row, 1)? })
            }
            None => Ok(StreamHead::default()),
        }
    }

    /// The first key that is claimed and held by somebody else, as far as the changes before it leave it held.
    fn claim_conflict(&mut self, changes: &[Change]) -> Result<Option<Conflict>, Error> {
        // What this item itself makes of the keys: few, so a list.
        let mut changed: Vec<(&ClaimKey, Option<&Holder>)> = Vec::new();
        for change in changes {
            match change {
                Change::Claimed(Claim { key, holder }) => {
                    let own = changed.iter().rev().find(|(other, _)| *other == key);
                    let held = match own {
                        Some((_, held)) => held.cloned(),
                        None => read::holder_with(&mut self.holder, key)?,
                    };
                    if let Some(held) = held.filter(|held| held != holder) {
                        return Ok(Some(Conflict::Claimed { key: key.clone(), holder: held }));
                    }
                    changed.push((key, Some(holder)));
                }
                Change::Released(key) => changed.push((key, None)),
                Change::Run(_)
                | Change::Roundtable(_)
                | Change::InteractionOpened(_)
                | Change::InteractionClosed(..)
                | Change::Contract(_)
                | Change::Notice(_)
                | Change::SetAside(_) => {}
            }
        }
        Ok(None)
    }

    fn write(&mut self, item: &Item) -> rusqlite::Result<()> {
        let events = u64::from(item.events);
        self.head += events;
        self.put_entry.execute(params![
            count(self.head),
            stream_key(item.stream),
            count(item.expected_seq + events),
            count(item.last_frame),
            item.events,
            item.at.millis(),
            item.payload,
        ])?;
        self.rows(item)
    }

    /// Writes the rows that change with an item.
    pub(super) fn rows(&mut self, item: &Item) -> rusqlite::Result<()> {
        for change in &item.changes {
            match change {
                Change::Run(row) => self.run(item, row)?,
                Change::Roundtable(row) => self.roundtable(item, row)?,
                Change::InteractionOpened(open) => self.interaction(open)?,
                Change::InteractionClosed(stream, id) => {
                    self.close_interaction.execute(params![stream_key(*stream), id.0])?;
                }
                Change::Contract(row) => self.contract(row)?,
                Change::Claimed(claim) => self.claim(claim)?,
                Change::Released(ClaimKey { scope, key }) => {
                    self.release.execute([scope, key])?;
                }
                Change::Notice(notice) => self.notice(notice)?,
                Change::SetAside(stream) => {
                    self.connection.execute(sql::CLOSE_INTERACTIONS, [stream_key(*stream)])?;
                    if let Some(run) = stream.run() {
                        let cancelled = contract_status_code(ContractStatus::Cancelled);
                        self.connection.execute(sql::CANCEL_CONTRACTS, params![run_key(run), cancelled])?;
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, item: &Item, row: &RunRow) -> rusqlite::Result<()> {
        assert!(
            item.stream == StreamId::Run(row.run_id),
            "an item of {} changes the row of {}",
            item.stream,
            row.run_id
        );
        let id = run_key(row.run_id);
        let status = run_status_code(row.status);
        let changing =
            params![id, status, row.attempt_number, row.error_code, count(row.seq), row.updated_at.millis(),];
        let is_there = item.expected_seq > 0
            && (self.touch_run.execute(changing)? == 1 || self.move_run.execute(changing)? == 1);
        if is_there {
            return Ok(());
        }
        let labels = if row.labels.is_empty() { None } else { Some(json(&row.labels)?) };
        self.put_run.execute(params![
            id,
            status,
            row.attempt_number,
            row.error_code,
            count(row.seq),
            row.updated_at.millis(),
            row.skill,
            row.engine,
            row.priority,
            row.created_at.millis(),
            labels,
        ])?;
        for (key, value) in &row.labels {
            self.put_label.execute(params![key, value, id])?;
        }
        Ok(())
    }

    fn roundtable(&mut self, item: &Item, row: &RoundtableRow) -> rusqlite::Result<()> {
        assert!(
            item.stream == StreamId::Roundtable(row.roundtable_id),
            "an item of {} changes the row of {}",
            item.stream,
            row.roundtable_id
        );
        let id = roundtable_key(row.roundtable_id);
        let status = roundtable_status_code(row.status);
        let changing =
            params![id, status, row.rounds, row.close_reason, count(row.seq), row.updated_at.millis()];
        if item.expected_seq > 0 && self.move_roundtable.execute(changing)? == 1 {
            return Ok(());
        }
        let labels = if row.labels.is_empty() { None } else { Some(json(&row.labels)?) };
        self.put_roundtable.execute(params![
            id,
            status,
            row.rounds,
            row.close_reason,
            count(row.seq),
            row.updated_at.millis(),
            row.subject,
            row.workflow,
            row.strategy,
            row.created_at.millis(),
            labels,
        ])?;
        Ok(())
    }

    fn interaction(&mut self, open: &OpenInteraction) -> rusqlite::Result<()> {
        self.open_interaction.execute(params![
            stream_key(open.stream),
            open.interaction_id.0,
            open.created_at.millis(),
            open.deadline_at.map(Timestamp::millis),
            json(&open.question)?,
        ])?;
        Ok(())
    }

    fn contract(&mut self, row: &ContractRow) -> rusqlite::Result<()> {
        self.put_contract.execute(params![
            execution_key(row.execution_id),
            run_key(row.run_id),
            contract_status_code(row.status),
            row.unknown,
        ])?;
        Ok(())
    }

    fn notice(&mut self, Notice { id, at, body }: &Notice) -> rusqlite::Result<()> {
        self.put_notice.execute(params![notice_key(id.stream), count(id.seq), at.millis(), body])?;
        Ok(())
    }

    fn claim(&mut self, Claim { key, holder }: &Claim) -> rusqlite::Result<()> {
        self.put_claim.execute(params![
            key.scope,
            key.key,
            stream_key(holder.stream),
            holder.execution_id.map(execution_key),
            holder.digest,
        ])?;
        Ok(())
    }
}

fn json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use adjourn_core::Change;

    use super::super::read;
    use super::Writer;
    use crate::conformance::items::{Script, paused_run, run_id, with};
    use crate::{After, Error};

    #[test]
    fn a_full_disk_refuses_whole_batches_until_there_is_room_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&dir.path().join("adjourn.db")).unwrap();
        // What SQLite does when the disk is full, at a size that we choose.
        let room = |writer: &Writer, pages: u32| {
            let sql = format!("PRAGMA max_page_count = {pages}");
            writer.connection.query_row(&sql, [], |_| Ok(())).unwrap();
        };
        room(&writer, 40);
        let mut runs = 0;
        let error = loop {
            match writer.commit(&paused_run(runs)) {
                Ok(_) => runs += 1,
                Err(error) => break error,
            }
        };
        let expected = "the journal cannot commit: database or disk is full (SQLite code 13)";
        assert_eq!(error.to_string(), expected);
        assert!(runs > 0);
        for _ in 0..3 {
            assert!(writer.commit(&paused_run(runs)).is_err());
            assert_eq!(writer.head(), runs * 10);
            assert_eq!(read::head(&writer.connection).unwrap(), runs * 10);
            let half = read::stream(&writer.connection, run_id(runs).into(), After::START, 9).unwrap();
            assert_eq!(half, []);
        }
        room(&writer, 1000);
        writer.commit(&paused_run(runs)).unwrap();
        assert_eq!(writer.head(), (runs + 1) * 10);
    }

    #[test]
    fn a_frame_that_goes_back_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&dir.path().join("adjourn.db")).unwrap();
        let mut run = Script::run(1);
        writer.commit(&[run.next(1, 5, "five")]).unwrap();
        let mut back = run.next(1, 0, "four");
        back.last_frame = 4;
        let error = writer.commit(&[back]).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert_eq!(writer.head(), 1);
    }

    #[test]
    fn a_batch_that_breaks_an_invariant_panics_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&dir.path().join("adjourn.db")).unwrap();
        let other = Script::run(2).row.unwrap();
        let empty = Script::run(3).next(0, 0, "no events");
        for broken in [with(Script::run(1).next(1, 1, "not its row"), Change::Run(other)), empty] {
            let batch = [Script::run(4).next(1, 1, "fine"), broken];
            let commit = std::panic::AssertUnwindSafe(|| writer.commit(&batch));
            assert!(std::panic::catch_unwind(commit).is_err());
            assert_eq!(read::head(&writer.connection).unwrap(), 0);
        }
        writer.commit(&[Script::run(4).next(1, 1, "fine")]).unwrap();
    }
}
