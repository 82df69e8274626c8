//! Tokens: they admit clients at addresses that others than the user of this machine can reach.
//!
//! A token is a secret of 256 random bits. The file holds a line for each, with its name, its role and the SHA-256 of the
//! secret. A plain hash is enough: the slow ones protect secrets that somebody could guess, and these nobody can. Whoever
//! reads the file learns no secret; whoever can write it can let themselves in, so nobody else may.

mod file;
mod line;
mod make;

use std::io;
use std::path::PathBuf;

use adjourn_core::named;

pub(crate) use file::Holder;
pub use file::Tokens;
pub use line::BadLine;
pub use make::{Made, make};

named! {
    /// What the holder of a token may do. Each may do what those before it may.
    pub enum Role {
        /// Look at everything.
        Read = "read",
        /// Look, and answer questions.
        Reply = "reply",
        /// Everything: start runs, cancel them.
        Admin = "admin",
    }
}

/// Why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// It cannot be read or written.
    #[error("the tokens in {} cannot be used: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others than its owner could add tokens to it.
    #[error(
        "others than its owner may write {path}, and so let themselves in: `chmod go-w {path}` takes that away",
        path = path.display()
    )]
    WritableByOthers {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to neither the user of this process nor root, who could add tokens to it.
    #[error(
        "{path} belongs to `{owner}`, who could let anybody in: it should belong to the user that the server runs as, or to root",
        path = path.display()
    )]
    OfAnotherUser {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        owner: String,
    },
    /// Some of its lines are not tokens: all of those.
    #[error("{}", problems(path, lines))]
    BadLines {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        lines: Vec<BadLine>,
    },
    /// It has no tokens, so nobody could come in.
    #[error("{} holds no token: `adjourn token NAME --role ROLE` makes one", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// There is a token of this name.
    #[error("{} has a token `{name}`: remove its line to revoke it, or choose another name", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// The name cannot be one.
    #[error("`{name}` cannot be the name of a token: {problem}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        problem: &'static str,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    NotRandom(String),
}

fn problems(path: &std::path::Path, lines: &[BadLine]) -> String {
    let each = lines.iter().map(|bad| format!("{}:{}: {}", path.display(), bad.line, bad.problem));
    each.collect::<Vec<_>>().join("\n")
}
