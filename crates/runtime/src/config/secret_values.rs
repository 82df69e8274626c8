//! Which values of the environment must not be seen.
//!
//! A variable that somebody passes to an agent or a tool is a secret by its name (`API_TOKEN`), or because it may well be one
//! whatever its name is (`GH_PAT`, `DATABASE_URL`). The second kind has exceptions, because a masked value is masked in every
//! log, result and message: a word like `production` would leave holes in every text that has it.

use std::path::Path;

use adjourn_engine::secrets::looks_secret;

/// Bytes of a value that may be a secret. What is shorter is a flag, a port or a short name; under a name that looks secret
/// it is masked all the same.
const VALUE_BYTES_MIN: usize = 8;

/// Characters of a value that is letters only and still taken for a word.
const WORD_CHARS_MAX: usize = 15;

/// Whether the value of the variable `name` must not be seen.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    looks_secret(name) || !is_plain(value)
}

/// Whether a value is a short one, a word, a number, a place on this machine or the address of a server: something that
/// people write into settings and that opens nothing.
fn is_plain(value: &str) -> bool {
    value.len() < VALUE_BYTES_MIN
        || is_word(value)
        || value.chars().all(|char| char.is_ascii_digit() || "., :".contains(char))
        || value.split(':').all(is_place)
        || is_origin(value)
}

fn is_word(value: &str) -> bool {
    value.chars().count() <= WORD_CHARS_MAX
        && value.chars().all(|char| char.is_alphabetic() || "-_ ".contains(char))
}

/// Whether this is a file or folder that is there, as in `HOME`, or in `PATH` one of many.
fn is_place(value: &str) -> bool {
    value.starts_with('/') && Path::new(value).exists()
}

/// Whether this is the address of a server and nothing else: no user, no password, no path, no query.
fn is_origin(value: &str) -> bool {
    let Some(rest) = value.strip_prefix("http://").or_else(|| value.strip_prefix("https://")) else {
        return false;
    };
    let host = rest.strip_suffix('/').unwrap_or(rest);
    !host.is_empty() && host.chars().all(|char| char.is_ascii_alphanumeric() || ".-:[]".contains(char))
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn a_value_is_secret_whatever_its_name_unless_it_opens_nothing() {
        for (name, value) in [
            ("GH_PAT", "ghp_16C7e42F292c6912E7"),
            ("DATABASE_URL", "postgres://app:hunter2@db/app"),
            ("SENTRY_DSN", "https://0123abcd@sentry.example/4"),
            ("HOOK", "https://hooks.example/T0/B0/x1y2"),
            ("PIN", "correcthorsebatterystaple"),
            ("PASSWORD", "short"),
            ("SOCKET", "/nowhere/that/exists"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("DEBUG", "1"),
            ("VERBOSE", "true"),
            ("NODE_ENV", "production"),
            ("PORT", "8080:8080, 9090"),
            ("HOME", "/tmp"),
            ("PATH", "/usr/bin:/bin"),
            ("BASE_URL", "http://127.0.0.1:4000/"),
            ("LANG", "en_US"),
        ] {
            assert!(!is_secret(name, value), "{name}");
        }
    }
}
