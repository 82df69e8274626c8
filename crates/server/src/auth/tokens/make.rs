//! Makes tokens.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::line::{Token, check_name, hash, read_all};
use super::{Role, TokensError};

/// Bytes of a secret: as many as its hash has.
const SECRET_BYTES: usize = 32;

/// How a secret begins, so that people and scanners know one when they see it where it should not be.
const SECRET_MARK: &str = "adj_";

/// A token that was made.
pub struct Made {
    /// The secret. It is nowhere else.
    pub secret: String,
}

/// Makes a token of this name and adds it to the file, which is made for its owner alone where it is missing.
pub fn make(path: &Path, name: &str, role: Role) -> Result<Made, TokensError> {
    check_name(name).map_err(|problem| TokensError::BadName { name: name.to_owned(), problem })?;
    let unusable = |source| TokensError::Unusable { path: path.to_owned(), source };
    let mut file = open(path).map_err(unusable)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unusable)?;
    let (tokens, bad) = read_all(&text);
    if !bad.is_empty() {
        return Err(TokensError::BadLines { path: path.to_owned(), lines: bad });
    }
    if tokens.iter().any(|token| token.name == name) {
        return Err(TokensError::Taken { path: path.to_owned(), name: name.to_owned() });
    }
    let secret = secret()?;
    let line = Token { name: name.to_owned(), role, hash: hash(&secret) }.line();
    let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    file.seek(SeekFrom::End(0))
        .and_then(|_| file.write_all(format!("{newline}{line}").as_bytes()))
        .and_then(|()| file.sync_all())
        .map_err(unusable)?;
    Ok(Made { secret })
}

/// The file, for one maker at a time: two that look at once must not both find a name free.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    file.lock()?;
    Ok(file)
}

fn secret() -> Result<String, TokensError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| TokensError::NotRandom(error.to_string()))?;
    Ok(format!("{SECRET_MARK}{}", URL_SAFE_NO_PAD.encode(bytes)))
}
