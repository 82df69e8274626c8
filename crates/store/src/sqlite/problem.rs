//! What SQLite says, told apart by what the caller does about it.

use rusqlite::ErrorCode;

use crate::Error;

/// The same for a `map_err`.
pub(super) fn while_doing(doing: &'static str) -> impl Fn(rusqlite::Error) -> Error {
    move |error| of(doing, &error)
}

/// What went wrong while `doing` something, as an error of ours.
pub(super) fn of(doing: &'static str, error: &rusqlite::Error) -> Error {
    use rusqlite::Error as E;
    match error {
        E::SqliteFailure(failure, message) => {
            let said = message.clone().unwrap_or_else(|| failure.to_string());
            match failure.code {
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Error::Damaged { problem: said },
                // The extended code is what tells a full disk from a failed sync when the words do not.
                _ => Error::Failed {
                    doing,
                    problem: format!("{said} (SQLite code {})", failure.extended_code),
                },
            }
        }
        // A column that does not hold what was written into it.
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::Utf8Error(..)
        | E::InvalidColumnType(..) => Error::Damaged { problem: error.to_string() },
        // Without the statement, which is no help to anybody who can read this.
        E::SqlInputError { msg, .. } => Error::Failed { doing, problem: msg.clone() },
        other => Error::Failed { doing, problem: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::while_doing;

    fn say(code: i32, words: &str) -> String {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(words.to_owned()));
        while_doing("commit")(error).to_string()
    }

    #[test]
    fn the_message_says_what_sqlite_said() {
        assert_eq!(
            say(ffi::SQLITE_FULL, "database or disk is full"),
            "the journal cannot commit: database or disk is full (SQLite code 13)"
        );
        assert_eq!(
            say(ffi::SQLITE_IOERR_FSYNC, "disk I/O error"),
            "the journal cannot commit: disk I/O error (SQLite code 1034)"
        );
        assert_eq!(
            say(ffi::SQLITE_CORRUPT, "database disk image is malformed"),
            "the journal is damaged: database disk image is malformed"
        );
    }
}
