//! The directory that holds everything.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::{Error, files, modes};

/// Makes sure that `dir` is a directory, and that it is still there after a power cut if it was made now.
pub(crate) fn prepare(dir: &Path) -> Result<(), Error> {
    if dir.is_dir() {
        return modes::protect(dir).map(drop).map_err(|error| unusable(dir, &error));
    }
    // Every folder above it that is made now is durable only with the one that it is in.
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let made: Vec<_> = dir.ancestors().take_while(is_missing).collect();
    let make = || {
        modes::create(dir)?;
        for folder in made {
            if let Some(parent) = folder.canonicalize()?.parent() {
                files::sync_folder(parent)?;
            }
        }
        Ok(())
    };
    make().map_err(|error| unusable(dir, &error))
}

/// What is wrong with a directory, and what would be right.
pub(crate) fn unusable(dir: &Path, error: &io::Error) -> Error {
    let problem = match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
            "it, or something above it, is a file: give the path of a directory".to_owned()
        }
        ErrorKind::PermissionDenied => {
            "permission denied: give a directory that this user can write to".to_owned()
        }
        ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only: give a directory that can be written to".to_owned()
        }
        ErrorKind::NotFound => "there is no such directory".to_owned(),
        _ => error.to_string(),
    };
    Error::Directory { path: dir.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::Path;

    use super::unusable;

    fn check(kind: ErrorKind, expected: &str) {
        let message = unusable(Path::new("/data"), &Error::from(kind)).to_string();
        assert_eq!(message, format!("cannot use /data as data directory: {expected}"));
    }

    #[test]
    fn each_problem_says_what_would_be_right() {
        check(ErrorKind::PermissionDenied, "permission denied: give a directory that this user can write to");
        check(
            ErrorKind::ReadOnlyFilesystem,
            "the file system is read-only: give a directory that can be written to",
        );
        check(ErrorKind::NotADirectory, "it, or something above it, is a file: give the path of a directory");
        check(ErrorKind::StorageFull, "no storage space");
    }
}
