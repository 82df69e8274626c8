//! The file of tokens, as it is now.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use subtle::{ConditionallySelectable, ConstantTimeEq};
use tracing::warn;

use super::line::{BadLine, Hash, Token, hash, read_all};
use super::{Role, TokensError};
use crate::auth::user_name::user_name;

/// Bytes of the file: ten thousand tokens.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The tokens that count. Cheap to clone.
///
/// The file is looked at with each request, which costs microseconds, and read again when it is another one: a line that
/// was removed counts no more with the next request. A line that is wrong then lets nobody in, and the others count.
#[derive(Debug, Clone)]
pub struct Tokens(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    read: Mutex<Read>,
}

/// What was read, and from which state of the file.
#[derive(Debug)]
struct Read {
    stamp: Option<Stamp>,
    tokens: Arc<[Token]>,
}

/// What changes whenever the file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Whose secret was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) name: String,
    pub(crate) role: Role,
    hash: Hash,
}

impl Tokens {
    /// The tokens in the file at `path`. Here, at the start, everything that is wrong with it is refused.
    pub fn open(path: &Path) -> Result<Self, TokensError> {
        let (stamp, tokens, bad) = read(path)?;
        if !bad.is_empty() {
            return Err(TokensError::BadLines { path: path.to_owned(), lines: bad });
        }
        if tokens.is_empty() {
            return Err(TokensError::Empty { path: path.to_owned() });
        }
        let read = Mutex::new(Read { stamp: Some(stamp), tokens: tokens.into() });
        Ok(Self(Arc::new(Inner { path: path.to_owned(), read })))
    }

    /// Whose secret this is. Takes as long whichever token it is, and whether or not it is one.
    pub(crate) fn holder(&self, secret: &str) -> Option<Holder> {
        self.with(&hash(secret))
    }

    /// Whether the token that somebody came in with still counts, for as much.
    pub(crate) fn still_counts(&self, holder: &Holder) -> bool {
        self.with(&holder.hash).as_ref() == Some(holder)
    }

    fn with(&self, hash: &Hash) -> Option<Holder> {
        let tokens = self.current();
        let mut found = u32::MAX;
        for (index, token) in (0..).zip(tokens.iter()) {
            found.conditional_assign(&index, token.hash.ct_eq(hash));
        }
        let token = tokens.get(usize::try_from(found).ok()?)?;
        Some(Holder { name: token.name.clone(), role: token.role, hash: token.hash })
    }

    /// The tokens as the file has them now: none where it cannot be read, or others could have written it.
    fn current(&self) -> Arc<[Token]> {
        let stamp = fs::metadata(&self.0.path).as_ref().ok().map(Stamp::of);
        let mut now = self.0.read.lock().unwrap_or_else(PoisonError::into_inner);
        if now.stamp != stamp {
            let (stamp, tokens, bad) = match read(&self.0.path) {
                Ok((stamp, tokens, bad)) => (Some(stamp), tokens, bad),
                Err(error) => {
                    warn!(file = %self.0.path.display(), %error, "the tokens cannot be used: nobody gets in");
                    (stamp, Vec::new(), Vec::new())
                }
            };
            for BadLine { line, problem } in bad {
                warn!(file = %self.0.path.display(), line, problem, "a line of the tokens lets nobody in");
            }
            *now = Read { stamp, tokens: tokens.into() };
        }
        now.tokens.clone()
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The file as it is now: its state, its tokens and the lines that are none.
///
/// What is checked is the file that was opened, whatever the path leads to a moment later. It has to be ours or root's, and
/// nobody else's to write. That others can read it gives nothing away: it holds no secret.
fn read(path: &Path) -> Result<(Stamp, Vec<Token>, Vec<BadLine>), TokensError> {
    let unusable = |source| TokensError::Unusable { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(unusable)?;
    let metadata = file.metadata().map_err(unusable)?;
    if metadata.uid() != 0 && metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(TokensError::OfAnotherUser { path: path.to_owned(), owner: user_name(metadata.uid()) });
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(TokensError::WritableByOthers { path: path.to_owned() });
    }
    if metadata.size() > FILE_BYTES_MAX {
        let problem = format!("it has {} bytes, and at most {FILE_BYTES_MAX} are read", metadata.size());
        return Err(unusable(io::Error::new(io::ErrorKind::InvalidData, problem)));
    }
    let mut text = String::new();
    (&mut file).take(FILE_BYTES_MAX).read_to_string(&mut text).map_err(unusable)?;
    let (tokens, bad) = read_all(&text);
    Ok((Stamp::of(&metadata), tokens, bad))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::Tokens;
    use crate::auth::tokens::{Role, TokensError, make};

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self) -> PathBuf {
            self.0.path().join("tokens")
        }

        fn make(&self, name: &str, role: Role) -> String {
            make(&self.file(), name, role).unwrap().secret
        }
    }

    #[test]
    fn a_secret_is_found_whichever_line_it_is_on_and_no_other_is() {
        let folder = Folder::new();
        let secrets = [("a", Role::Read), ("b", Role::Reply), ("c", Role::Admin)]
            .map(|(name, role)| (name, role, folder.make(name, role)));
        let tokens = Tokens::open(&folder.file()).unwrap();
        for (name, role, secret) in &secrets {
            let holder = tokens.holder(secret).unwrap();
            assert_eq!((holder.name.as_str(), holder.role), (*name, *role));
            for wrong in [&secret[..secret.len() - 1], &format!("{secret}x"), &secret[4..], ""] {
                assert_eq!(tokens.holder(wrong), None, "{wrong}");
            }
        }
    }

    #[test]
    fn a_line_that_is_removed_or_spoilt_counts_no_more_and_a_new_one_counts() {
        let folder = Folder::new();
        let (first, second) = (folder.make("first", Role::Admin), folder.make("second", Role::Read));
        let tokens = Tokens::open(&folder.file()).unwrap();
        let holder = tokens.holder(&second).unwrap();
        assert!(tokens.still_counts(&holder));

        let text = fs::read_to_string(folder.file()).unwrap();
        fs::write(folder.file(), text.lines().next().unwrap()).unwrap();
        assert!(!tokens.still_counts(&holder) && tokens.holder(&first).is_some());
        let third = folder.make("third", Role::Reply);
        assert!(tokens.holder(&third).is_some() && tokens.holder(&first).is_some());

        let text = fs::read_to_string(folder.file()).unwrap();
        fs::write(folder.file(), text.replace("third reply", "third rpely")).unwrap();
        assert!(tokens.holder(&third).is_none() && tokens.holder(&first).is_some());
        fs::remove_file(folder.file()).unwrap();
        assert_eq!(tokens.holder(&first), None);
    }

    #[test]
    fn the_file_is_its_owners_and_a_name_is_given_once() {
        let folder = Folder::new();
        folder.make("ci", Role::Read);
        let mode = || fs::metadata(folder.file()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        assert!(matches!(make(&folder.file(), "ci", Role::Admin), Err(TokensError::Taken { .. })));
        assert!(matches!(make(&folder.file(), "c i", Role::Admin), Err(TokensError::BadName { .. })));

        fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o640)).unwrap();
        folder.make("other", Role::Read);
        assert_eq!(mode(), 0o640);
        Tokens::open(&folder.file()).unwrap();
        fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o660)).unwrap();
        assert!(matches!(Tokens::open(&folder.file()), Err(TokensError::WritableByOthers { .. })));
    }

    #[test]
    fn a_file_that_others_could_have_written_lets_nobody_in_while_the_server_runs() {
        let folder = Folder::new();
        let secret = folder.make("ci", Role::Read);
        let tokens = Tokens::open(&folder.file()).unwrap();
        let set = |mode| fs::set_permissions(folder.file(), fs::Permissions::from_mode(mode)).unwrap();
        assert!(tokens.holder(&secret).is_some());
        set(0o620);
        assert_eq!(tokens.holder(&secret), None);
        set(0o600);
        assert!(tokens.holder(&secret).is_some());
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped in part: only root can give a file away");
            return;
        }
        std::os::unix::fs::chown(folder.file(), Some(65534), None).unwrap();
        assert_eq!(tokens.holder(&secret), None);
        let refused = Tokens::open(&folder.file()).map(drop);
        assert!(matches!(refused, Err(TokensError::OfAnotherUser { .. })), "{refused:?}");
        // A link to it is no better.
        let link = folder.0.path().join("link");
        std::os::unix::fs::symlink(folder.file(), &link).unwrap();
        assert!(matches!(Tokens::open(&link).map(drop), Err(TokensError::OfAnotherUser { .. })));
    }

    #[test]
    fn a_file_that_lets_nobody_in_or_is_wrong_is_refused_with_its_place() {
        let folder = Folder::new();
        let open = || Tokens::open(&folder.file()).map(drop).unwrap_err().to_string();
        let file = folder.file().display().to_string();
        assert!(open().starts_with(&format!("the tokens in {file} cannot be used: No such file")));
        fs::write(folder.file(), "# none yet\n").unwrap();
        assert_eq!(open(), format!("{file} holds no token: `adjourn token NAME --role ROLE` makes one"));
        fs::write(folder.file(), "# none yet\nci\nx y z w\n").unwrap();
        assert_eq!(
            open(),
            format!(
                "{file}:2: should be `NAME ROLE sha256:HEX`, it has 1 words\n\
                 {file}:3: should be `NAME ROLE sha256:HEX`, it has 4 words"
            )
        );
    }
}
