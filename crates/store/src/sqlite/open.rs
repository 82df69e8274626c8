//! Opening the database: whose it is, which format it has, and how it is set.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::problem::{self, while_doing};
use crate::{Error, directory, modes};

/// `Adjn`: tells our files from any other SQLite database.
const APPLICATION_ID: i32 = 0x41_64_6a_6e;

/// Before this version two connections could corrupt a database in WAL mode.
const SQLITE_VERSION_MIN: i32 = 3_051_003;

/// How long to wait for another process's lock. Ours never wait for each other; a backup tool may hold one for a
/// moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Pages of 4 KiB in the write-ahead log before they are copied into the database.
///
/// Not by SQLite itself, which would not say that it failed. The number is its own default: what 4,000 and 16,000 did to `xtask bench journal` was within the noise of the disk, and
/// whoever reads has to look into the log as well.
pub(super) const WAL_PAGES: u64 = 1000;

/// What is kept of the write-ahead log's file after a burst: four times what it usually holds.
const WAL_BYTES_KEPT: u32 = 16 << 20;

/// The page cache of the connection that writes, in KiB. The inner pages of every index over a million runs take about
/// 2 MiB of it; the rest is for the runs that are going on.
const WRITER_CACHE_KIB: u32 = 8 << 10;

/// The page cache of each connection that reads, in KiB. The server as a whole has a budget of 60 MB.
const READER_CACHE_KIB: u32 = 1 << 10;

/// More than there are different statements, so that none is ever compiled twice.
const STATEMENTS_MAX: usize = 32;

const OPEN: &str = "be opened";
const MIGRATE: &str = "be brought to the current format";

mod embedded {
    refinery::embed_migrations!("migrations/sqlite");
}

/// Opens the one connection that writes, making or migrating the database where that is needed.
pub(super) fn writer(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    // SQLite gives its other files the mode of this one. If it cannot be made, SQLite says why.
    let _ = modes::create_file(path);
    let mut connection = connect(path, flags)?;
    match identify(&connection, path)? {
        Content::Nothing => {
            let named = connection.pragma_update(None, "application_id", APPLICATION_ID);
            named.map_err(while_doing(OPEN))?;
            migrate(&mut connection)?;
        }
        Content::Format(found) if found < known_format() => migrate(&mut connection)?,
        Content::Format(_) => {}
    }
    let settings = format!(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = {WAL_BYTES_KEPT};
         PRAGMA cache_size = -{WRITER_CACHE_KIB};
         PRAGMA cell_size_check = ON;"
    );
    connection.execute_batch(&settings).map_err(while_doing(OPEN))?;
    Ok(connection)
}

/// Opens a connection that can only read, on a database that is there and has our format.
pub(super) fn reader(path: &Path) -> Result<Connection, Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    match identify(&connection, path)? {
        Content::Format(found) if found == known_format() => {}
        Content::Format(_) | Content::Nothing => {
            let problem = "its journal has an older format: start the server on it once".to_owned();
            return Err(Error::Directory { path: path.parent().unwrap_or(path).to_owned(), problem });
        }
    }
    let settings = format!("PRAGMA cache_size = -{READER_CACHE_KIB}; PRAGMA cell_size_check = ON;");
    connection.execute_batch(&settings).map_err(while_doing(OPEN))?;
    Ok(connection)
}

/// Opens the file without looking into it.
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    // A build that links another SQLite than the one we ship would lose data, sooner or later.
    assert!(
        rusqlite::version_number() >= SQLITE_VERSION_MIN,
        "SQLite {} is older than 3.51.3",
        rusqlite::version()
    );
    // Each connection is behind a lock of ours.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| cannot_open(path, &error))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(while_doing(OPEN))?;
    // Else a range with another bound is planned anew each time, for statistics that are never gathered here: that was a
    // fifteenth of what the server did under load.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(while_doing(OPEN))?;
    Ok(connection)
}

fn cannot_open(path: &Path, error: &rusqlite::Error) -> Error {
    let dir = path.parent().unwrap_or(path);
    match std::fs::metadata(path) {
        Err(io) => directory::unusable(dir, &io),
        Ok(_) => Error::Directory {
            path: dir.to_owned(),
            problem: format!("{} cannot be opened: {error}", path.display()),
        },
    }
}

/// What a database file holds.
enum Content {
    /// Nothing yet.
    Nothing,
    /// A journal of ours.
    Format(i64),
}

fn identify(connection: &Connection, path: &Path) -> Result<Content, Error> {
    let failed = while_doing(OPEN);
    let id: i32 = connection
        .pragma_query_value(None, "application_id", |row| row.get(0))
        .map_err(|error| not_ours(path, &error).unwrap_or_else(|| failed(error)))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
    if tables == 0 && (id == 0 || id == APPLICATION_ID) {
        return Ok(Content::Nothing);
    }
    if id != APPLICATION_ID {
        return Err(foreign(path, "it is a SQLite database of another program"));
    }
    let found = format_of(connection).map_err(&failed)?;
    let known = known_format();
    if found > known {
        return Err(Error::Newer { path: path.to_owned(), found, known });
    }
    Ok(Content::Format(found))
}

fn not_ours(path: &Path, error: &rusqlite::Error) -> Option<Error> {
    let code = error.sqlite_error_code()?;
    (code == rusqlite::ErrorCode::NotADatabase)
        .then(|| foreign(path, "it is no SQLite database, or its beginning was overwritten"))
}

fn foreign(path: &Path, what: &str) -> Error {
    Error::Directory {
        path: path.parent().unwrap_or(path).to_owned(),
        problem: format!(
            "{} is not a journal of adjourn: {what}; give another directory, or restore a backup",
            path.display()
        ),
    }
}

/// The newest migration that was applied to the database; 0 when none was.
fn format_of(connection: &Connection) -> rusqlite::Result<i64> {
    let history = "SELECT 1 FROM sqlite_schema WHERE name = 'refinery_schema_history'";
    if connection.query_row(history, [], |_| Ok(())).optional()?.is_none() {
        return Ok(0);
    }
    let newest = "SELECT coalesce(max(version), 0) FROM refinery_schema_history";
    connection.query_row(newest, [], |row| row.get(0))
}

fn known_format() -> i64 {
    let runner = embedded::migrations::runner();
    runner.get_migrations().iter().map(|migration| i64::from(migration.version())).max().unwrap_or(0)
}

/// Only called when a migration is missing: refinery panics on a history that it cannot read.
fn migrate(connection: &mut Connection) -> Result<(), Error> {
    // Grouped means one transaction. Otherwise refinery writes a migration and the note that it was applied in two, and
    // a kill between them leaves a database that can never be opened again: the kill test found it.
    let runner = embedded::migrations::runner().set_grouped(true);
    let Err(error) = runner.run(connection) else { return Ok(()) };
    let said = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<rusqlite::Error>());
    Err(match said {
        Some(said) => problem::of(MIGRATE, said),
        None => Error::Failed { doing: MIGRATE, problem: error.to_string() },
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::writer;

    #[test]
    fn a_range_with_another_bound_is_not_planned_anew() {
        let dir = tempfile::tempdir().unwrap();
        let connection = writer(&dir.path().join("adjourn.db")).unwrap();
        let sql = "SELECT seq FROM entries WHERE position > ?1 ORDER BY position LIMIT ?2";
        let mut statement = connection.prepare(sql).unwrap();
        for bound in 0..5 {
            assert!(!statement.exists([bound, bound]).unwrap());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
