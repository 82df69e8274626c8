//! What can go wrong with the journal.

use std::path::PathBuf;

/// An error of the journal, by what the caller does about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The data directory cannot be used; the message says why and what to do.
    #[error("cannot use {} as data directory: {problem}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Another process owns the data directory.
    #[error("{} is in use by {owner}: one process at a time owns a data directory", path.display())]
    Owned {
        /// The directory.
        path: PathBuf,
        /// Who has it.
        owner: String,
    },
    /// The database was written by a newer version.
    #[error("{} has format {found}, this adjourn knows formats up to {known}: use a newer adjourn", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// What is stored is not what was written.
    #[error("the journal is damaged: {problem}")]
    Damaged {
        /// What was found, and where.
        problem: String,
    },
    /// The database refused an operation; nothing of it was done. It may work again later.
    #[error("the journal cannot {doing}: {problem}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        /// What the database said.
        problem: String,
    },
    /// The disk failed in the middle of an operation, and what it holds cannot be put right yet: it is not known whether the
    /// operation would be there after a crash. Everything is refused until the disk can be written again; then it is not.
    #[error(
        "the journal cannot {doing}: {problem}; whether the disk kept it is not known until the disk can be written again. \
         Ask again later, with the same idempotency key"
    )]
    Unresolved {
        /// What was tried.
        doing: &'static str,
        /// What failed, and what failed when it was put right.
        problem: String,
    },
}
