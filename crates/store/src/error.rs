//! What can go wrong with the journal.

use std::path::PathBuf;

/// An error of the journal, by what the caller does about it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
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
}
