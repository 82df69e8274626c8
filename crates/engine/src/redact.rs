//! Secrets are covered before anybody sees them.
//!
//! An agent that prints its environment would otherwise put its key into the log, the journal and the browser. A secret
//! is replaced by as many stars, so that places in the output stay what they are.

/// The shortest value that is covered. Keys of model providers have 30 characters and more; a value that is shorter than
/// this may be an ordinary word, and covering it would damage what the agent says.
const SECRET_BYTES_MIN: usize = 12;

/// Covers secrets in a stream of bytes, wherever it is cut into chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<Vec<u8>>,
    /// The end of what came so far, as far as it may be the beginning of a secret.
    held: Vec<u8>,
}

impl Redactor {
    pub(crate) fn new<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut all = Vec::new();
        for secret in secrets.filter(|secret| secret.len() >= SECRET_BYTES_MIN) {
            all.push(secret.as_bytes().to_vec());
            // As it stands in the JSON that most agents print.
            let quoted = serde_json::Value::from(secret).to_string();
            all.push(quoted.trim_matches('"').as_bytes().to_vec());
        }
        // The longer one first: a secret may be the beginning of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all.dedup();
        Self { secrets: all, held: Vec::new() }
    }

    /// Takes a chunk, and gives what can be shown of all that came so far.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.held);
        bytes.extend_from_slice(chunk);
        self.cover(&mut bytes);
        let shown = bytes.len() - self.beginning_of_a_secret(&bytes);
        self.held = bytes.split_off(shown);
        bytes
    }

    /// Gives what was held back: no more is coming.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn cover(&self, bytes: &mut [u8]) {
        for secret in &self.secrets {
            let mut from = 0;
            while let Some(found) = find(&bytes[from..], secret) {
                bytes[from + found..][..secret.len()].fill(b'*');
                from += found + secret.len();
            }
        }
    }

    /// How many bytes at the end could become a secret.
    fn beginning_of_a_secret(&self, bytes: &[u8]) -> usize {
        let longest = |secret: &Vec<u8>| {
            (1..secret.len()).rev().find(|length| bytes.ends_with(&secret[..*length])).unwrap_or(0)
        };
        self.secrets.iter().map(longest).max().unwrap_or(0)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::Redactor;

    fn redact<'a>(secrets: &[&str], chunks: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut redactor = Redactor::new(secrets.iter().copied());
        let mut shown: Vec<u8> = chunks.into_iter().flat_map(|chunk| redactor.push(chunk)).collect();
        shown.extend(redactor.finish());
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn xx_15_a_secret_is_covered_and_nothing_moves() {
        let secrets = ["sk-123456789", "with-a\"quote", "short", "sk-123456789-longer"];
        for (text, expected) in [
            ("key=sk-123456789;", "key=************;"),
            ("sk-123456789-longer", "*******************"),
            ("{\"k\":\"with-a\\\"quote\"}", "{\"k\":\"*************\"}"),
            ("short sk-12345678", "short sk-12345678"),
            ("", ""),
        ] {
            assert_eq!(redact(&secrets, [text.as_bytes()]), expected);
        }
    }

    proptest! {
        #[test]
        fn any_chunking_is_covered_alike(cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6)) {
            let text = b"a secret-value secret-value2 secretsecret-valuesecret-value";
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let chunks = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            prop_assert_eq!(redact(&["secret-value"], chunks), "a ************ ************2 secret************************");
        }
    }
}
