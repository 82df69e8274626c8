//! The connections that read.

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::open;
use crate::Error;

/// Connections that read at the same time.
///
/// Each costs up to its page cache of 1 MiB; a query takes well under a millisecond, so that more of them would wait
/// for the processor and not for a connection.
const READERS_MAX: usize = 4;

/// A few connections that can only read, opened when they are first needed.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    returned: Condvar,
}

#[derive(Debug)]
struct Pool {
    idle: Vec<Connection>,
    /// Idle ones, and those that are lent out.
    open: usize,
    /// Whether all of them are wanted back.
    is_closing: bool,
}

impl Readers {
    pub(super) fn new(path: PathBuf) -> Self {
        let pool = Pool { idle: Vec::with_capacity(READERS_MAX), open: 0, is_closing: false };
        Self { path, pool: Mutex::new(pool), returned: Condvar::new() }
    }

    /// Lends a connection, waiting for one when all are lent out.
    pub(super) fn lend(&self) -> Result<Lent<'_>, Error> {
        let mut pool = self.pool();
        loop {
            if !pool.is_closing {
                if let Some(connection) = pool.idle.pop() {
                    return Ok(Lent { readers: self, connection: Some(connection) });
                }
                if pool.open < READERS_MAX {
                    pool.open += 1;
                    break;
                }
            }
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        drop(pool);
        // From here on, dropping what is lent gives the place back even if there is no connection to put into it.
        let mut lent = Lent { readers: self, connection: None };
        lent.connection = Some(open::reader(&self.path)?);
        Ok(lent)
    }

    /// Closes all connections, waiting for those that are lent out, and opens none before `act` is done.
    pub(super) fn without_any<T>(&self, act: impl FnOnce() -> T) -> T {
        let mut pool = self.pool();
        pool.is_closing = true;
        while pool.open > pool.idle.len() {
            pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner);
        }
        pool.idle.clear();
        (pool.open, pool.is_closing) = (0, false);
        let done = act();
        drop(pool);
        self.returned.notify_all();
        done
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        // Nothing in here panics halfway through a change.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back when it is dropped.
pub(super) struct Lent<'r> {
    readers: &'r Readers,
    connection: Option<Connection>,
}

impl Deref for Lent<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("`lend` hands it out with a connection")
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        match self.connection.take() {
            Some(connection) => pool.idle.push(connection),
            None => pool.open -= 1,
        }
        let is_closing = pool.is_closing;
        drop(pool);
        // Whoever closes them waits in the same place as those who want one.
        if is_closing {
            self.readers.returned.notify_all();
        } else {
            self.readers.returned.notify_one();
        }
    }
}
