//! A line of the file: `NAME ROLE sha256:HEX`.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::Role;

/// Bytes of a name: it is shown beside every answer that its holder gives.
const NAME_BYTES_MAX: usize = 64;

/// How the hash is marked, so that another one could stand there some day.
const HASH_MARK: &str = "sha256:";

/// The SHA-256 of a secret.
pub(super) type Hash = [u8; 32];

/// A token as the file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) hash: Hash,
}

/// A line that is not a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

pub(super) fn hash(secret: &str) -> Hash {
    Sha256::digest(secret).into()
}

impl Token {
    /// The line of this token.
    pub(super) fn line(&self) -> String {
        let hex: String = self.hash.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{} {} {HASH_MARK}{hex}\n", self.name, self.role)
    }

    fn read(line: &str) -> Result<Self, String> {
        let words: Vec<_> = line.split_ascii_whitespace().collect();
        let [name, role, hash] = words[..] else {
            // Not repeated: somebody may have put a secret there.
            return Err(format!("should be `NAME ROLE {HASH_MARK}HEX`, it has {} words", words.len()));
        };
        check_name(name).map_err(|problem| format!("`{name}` cannot be a name: {problem}"))?;
        let role = role.parse().map_err(|unknown: adjourn_core::UnknownName| unknown.to_string())?;
        let wrong = || format!("the third word should be `{HASH_MARK}` and 64 hex digits");
        let hash = hash.strip_prefix(HASH_MARK).and_then(bytes).ok_or_else(wrong)?;
        Ok(Self { name: name.to_owned(), role, hash })
    }
}

/// The tokens of a file, and what is wrong with the lines that are none. Empty lines and those with a `#` in front are
/// for people.
pub(super) fn read_all(text: &str) -> (Vec<Token>, Vec<BadLine>) {
    let (mut tokens, mut bad) = (Vec::new(), Vec::new());
    let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let read = Token::read(content).and_then(|token| {
            if !names.insert(token.name.clone()) {
                return Err(format!("there is another token `{}`: a name says who it was", token.name));
            }
            if !hashes.insert(token.hash) {
                return Err(format!("`{}` is another token over again: make one for each", token.name));
            }
            Ok(token)
        });
        match read {
            Ok(token) => tokens.push(token),
            Err(problem) => bad.push(BadLine { line, problem }),
        }
    }
    (tokens, bad)
}

pub(super) fn check_name(name: &str) -> Result<(), &'static str> {
    let is_fine = |char: char| char.is_ascii_alphanumeric() || "-_.@".contains(char);
    match name.len() {
        0 => Err("it is empty"),
        1..=NAME_BYTES_MAX if name.chars().all(is_fine) => Ok(()),
        1..=NAME_BYTES_MAX => Err("it has only letters, digits and `-_.@`"),
        _ => Err("it has at most 64 characters"),
    }
}

fn bytes(hex: &str) -> Option<Hash> {
    let mut hash = Hash::default();
    if hex.len() != 2 * hash.len() || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (index, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::{Token, hash, read_all};
    use crate::auth::tokens::Role;

    fn token(name: &str, role: Role) -> Token {
        Token { name: name.to_owned(), role, hash: hash(name) }
    }

    #[test]
    fn what_is_written_reads_back_among_remarks() {
        let tokens = [token("ci", Role::Reply), token("ada@example.org", Role::Admin)];
        let text = format!("# ours\n\n{}  # theirs\n{}", tokens[0].line(), tokens[1].line());
        assert_eq!(read_all(&text), (tokens.to_vec(), Vec::new()));
    }

    #[test]
    fn every_bad_line_is_told_with_its_number_and_none_of_its_secrets() {
        let good = token("ci", Role::Read).line();
        let hex = good.trim().rsplit(':').next().unwrap();
        let text = [
            good.trim(),
            "adj_secret",
            &format!("ci admin sha256:{}", "0".repeat(64)),
            &format!("other read sha256:{hex}"),
            &format!("ada root sha256:{hex}"),
            "ada read sha256:adj_secret",
            &format!("a/b read sha256:{hex}"),
            &format!("ada read sha256:{}", "é".repeat(32)),
        ]
        .join("\n");
        let (tokens, bad) = read_all(&text);
        assert_eq!(tokens, [token("ci", Role::Read)]);
        let told: Vec<_> = bad.iter().map(|bad| format!("{}: {}", bad.line, bad.problem)).collect();
        assert_eq!(
            told,
            [
                "2: should be `NAME ROLE sha256:HEX`, it has 1 words",
                "3: there is another token `ci`: a name says who it was",
                "4: `other` is another token over again: make one for each",
                "5: `root` is not one of read, reply, admin",
                "6: the third word should be `sha256:` and 64 hex digits",
                "7: `a/b` cannot be a name: it has only letters, digits and `-_.@`",
                "8: the third word should be `sha256:` and 64 hex digits",
            ]
        );
    }
}
