//! Just enough of Rust's lexer to know what is code: comments vanish, and literals are opaque.

/// A piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or keyword, raw ones without their `r#`.
    Word(&'a str),
    /// One character of punctuation.
    Mark(char),
    /// A string, character, number or lifetime. What it says does not matter here.
    Literal,
}

/// The tokens of a Rust source.
///
/// Never fails: the compiler is the one to complain about a source that is not Rust.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (token, length) = next(rest, first);
        tokens.extend(token);
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// The token that `rest` begins with, if that is one, and its length in bytes.
fn next(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    if first.is_whitespace() {
        return (None, first.len_utf8());
    }
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, block_comment(rest));
    }
    if let Some(length) = raw_string(rest) {
        return (Some(Token::Literal), length);
    }
    match first {
        '"' => (Some(Token::Literal), quoted(rest, '"')),
        '\'' => (Some(Token::Literal), char_or_lifetime(rest)),
        _ if is_word(first) => word(rest, first),
        _ => (Some(Token::Mark(first)), first.len_utf8()),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the word that `text` begins with.
fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

fn word(rest: &str, first: char) -> (Option<Token<'_>>, usize) {
    if let Some(raw) = rest.strip_prefix("r#") {
        let length = word_length(raw);
        return (Some(Token::Word(&raw[..length])), 2 + length);
    }
    let length = word_length(rest);
    let token = if first.is_ascii_digit() { Token::Literal } else { Token::Word(&rest[..length]) };
    // The prefix of `b"…"` or `b'…'` is taken for a word, which does no harm: the literal follows by itself.
    (Some(token), length)
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

/// The length of `r"…"`, `br#"…"#` and their like, if `rest` begins with one.
fn raw_string(rest: &str) -> Option<usize> {
    let after_prefix = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let body = after_prefix.trim_start_matches('#');
    let hashes = &after_prefix[..after_prefix.len() - body.len()];
    let body = body.strip_prefix('"')?;
    let closing = format!("\"{hashes}");
    let body_length = body.find(&closing).map_or(body.len(), |end| end + closing.len());
    Some(rest.len() - body.len() + body_length)
}

/// The length of a literal that begins and ends with `quote`, in which a backslash escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if !escaped && c == quote {
            return at + c.len_utf8();
        }
        escaped = !escaped && c == '\\';
    }
    rest.len()
}

/// `'a'` and `'\n'` end with a quote, `'static` does not.
fn char_or_lifetime(rest: &str) -> usize {
    let mut following = rest.chars().skip(1);
    let (second, third) = (following.next(), following.next());
    if second == Some('\\') || third == Some('\'') { quoted(rest, '\'') } else { 1 + word_length(&rest[1..]) }
}

#[cfg(test)]
mod tests {
    use super::{Token, tokens};

    fn words(source: &str) -> Vec<&str> {
        let only_words = |token| if let Token::Word(word) = token { Some(word) } else { None };
        tokens(source).into_iter().filter_map(only_words).collect()
    }

    #[test]
    fn comments_vanish() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g /// h\n/** i */ j"), ["a", "c", "g", "j"]);
        assert_eq!(words("a /* never closed"), ["a"]);
    }

    #[test]
    fn strings_are_opaque() {
        assert_eq!(words(r#"a "b \" c" d"#), ["a", "d"]);
        assert_eq!(words("a r#\"b \" c\"# d br\"\\\" e"), ["a", "d", "e"]);
        assert_eq!(words("a \"never closed"), ["a"]);
    }

    #[test]
    fn a_quote_is_a_character_or_a_lifetime() {
        assert_eq!(words(r#"a '"' b '\'' c 'ä' d"#), ["a", "b", "c", "d"]);
        assert_eq!(words("fn f<'a>(x: &'a str) {} \"'\" g"), ["fn", "f", "x", "str", "g"]);
    }

    #[test]
    fn words_numbers_and_marks() {
        use Token::{Literal, Mark, Word};
        assert_eq!(tokens("r#fn x1!"), [Word("fn"), Word("x1"), Mark('!')]);
        assert_eq!(tokens("1_000u64;"), [Literal, Mark(';')]);
    }
}
