//! Finds the test functions of a Rust source.
//!
//! The source is read as token trees (`proc-macro2`), not as items (`syn`): the functions inside `proptest!` are no items,
//! and a reader of items would need this one besides.

use std::iter::Peekable;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A function that the test runner would list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TestFunction {
    pub(super) name: String,
    /// Listed, but not run unless somebody asks for it.
    pub(super) ignored: bool,
}

/// The functions with a test attribute: `#[test]`, `#[tokio::test]`, or either of them inside `proptest!`.
///
/// What a `macro_rules!` might expand to is not counted, because nothing here can tell whether it ever does.
pub(super) fn test_functions(source: &str) -> Result<Vec<TestFunction>> {
    let tokens: TokenStream = source.parse().map_err(|error: proc_macro2::LexError| {
        anyhow!("not Rust, line {}: {error}", error.span().start().line)
    })?;
    let mut found = Vec::new();
    collect(tokens, &mut found);
    Ok(found)
}

/// Adds the test functions among these tokens, and inside their brackets.
fn collect(tokens: TokenStream, found: &mut Vec<TestFunction>) {
    let mut attributes = Attributes::default();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                if let Some(attribute) = bracketed(&mut tokens) {
                    attributes.add(attribute);
                }
            }
            TokenTree::Ident(word) if word == "macro_rules" => {
                // The mark, the name and the body.
                tokens.by_ref().take(3).for_each(drop);
                attributes = Attributes::default();
            }
            TokenTree::Ident(word) if word == "fn" => {
                if let (true, Some(TokenTree::Ident(name))) = (attributes.test, tokens.peek()) {
                    found.push(TestFunction { name: name.to_string(), ignored: attributes.ignored });
                }
                attributes = Attributes::default();
            }
            // What may stand between an attribute and its `fn`.
            TokenTree::Ident(word)
                if ["pub", "async", "const", "unsafe", "extern"].iter().any(|it| word == it) => {}
            TokenTree::Literal(_) => {}
            TokenTree::Group(group) => {
                // `pub(crate)` is followed by what the attributes are for, any other bracket is not.
                if group.delimiter() != Delimiter::Parenthesis {
                    attributes = Attributes::default();
                }
                collect(group.stream(), found);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => attributes = Attributes::default(),
        }
    }
}

/// The tokens between the `[` and `]` that come next.
fn bracketed(tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) -> Option<TokenStream> {
    let is_bracket = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    match tokens.next_if(is_bracket) {
        Some(TokenTree::Group(group)) => Some(group.stream()),
        Some(TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => None,
    }
}

/// What the attributes above an item say about it.
#[derive(Default)]
struct Attributes {
    test: bool,
    ignored: bool,
}

impl Attributes {
    /// Takes in the tokens between `#[` and `]`.
    fn add(&mut self, attribute: TokenStream) {
        // The last word of the path: `tokio::test` is a test.
        let mut path_end = String::new();
        for token in attribute {
            match token {
                TokenTree::Ident(word) => path_end = word.to_string(),
                TokenTree::Punct(mark) if mark.as_char() == ':' => {}
                TokenTree::Group(group) if path_end == "cfg_attr" => {
                    // Ignored under a condition is ignored somewhere, and a promise is not kept somewhere.
                    self.ignored |= group.stream().into_iter().any(|token| token.to_string() == "ignore");
                    break;
                }
                TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => break,
            }
        }
        self.test |= path_end == "test";
        self.ignored |= path_end == "ignore";
    }
}

#[cfg(test)]
mod tests {
    use super::test_functions;

    /// The names of the tests in `source`, ignored ones with a `!` in front.
    fn check(source: &str, expected: &[&str]) {
        let found: Vec<_> = test_functions(source)
            .expect("it is Rust")
            .into_iter()
            .map(|test| format!("{}{}", if test.ignored { "!" } else { "" }, test.name))
            .collect();
        assert_eq!(found, expected, "in {source}");
    }

    #[test]
    fn a_test_attribute_makes_a_test() {
        check("#[test] fn rt_01_a() {}", &["rt_01_a"]);
        check("#[tokio::test(start_paused = true)] async fn rt_01_a() {}", &["rt_01_a"]);
        check("#[test]\n#[should_panic(expected = \"]\")]\npub(crate) fn rt_01_a() {}", &["rt_01_a"]);
        check("mod tests { #[test] fn a() {} fn b() {} #[test] fn c() {} }", &["a", "c"]);
        check("proptest! { #![proptest_config(x)] #[test] fn a(n in 0..9) {} }", &["a"]);
    }

    #[test]
    fn anything_else_does_not() {
        check("fn rt_01_a() {}", &[]);
        check("#[cfg(test)] fn rt_01_a() {}", &[]);
        check("#[test] mod m { fn rt_01_a() {} }", &[]);
        check("#[test] const X: fn() = rt_01_a; fn rt_01_a() {}", &[]);
        check("#[cfg_attr(unix, test)] fn rt_01_a() {}", &[]);
    }

    #[test]
    fn comments_strings_and_macro_definitions_do_not_count() {
        check("// #[test] fn rt_01_a() {}", &[]);
        check("// #[test]\nfn rt_01_a() {}", &[]);
        check("/* #[test] /* */ fn rt_01_a() {} */", &[]);
        check("/// ```\n/// #[test] fn rt_01_a() {}\n/// ```\nfn b() {}", &[]);
        check("const S: &str = \"#[test] fn rt_01_a() {}\";", &[]);
        check("const S: &str = r#\"#[test] fn \"rt_01_a() {}\"#;", &[]);
        check("macro_rules! m { () => { #[test] fn rt_01_a() {} } } #[test] fn b() {}", &["b"]);
    }

    #[test]
    fn ignored_tests_are_marked() {
        check("#[test] #[ignore] fn a() {} #[test] fn b() {}", &["!a", "b"]);
        check("#[ignore = \"slow\"] #[test] fn a() {}", &["!a"]);
        check("#[test] #[cfg_attr(miri, ignore)] fn a() {}", &["!a"]);
        check("#[test] // #[ignore]\nfn a() {}", &["a"]);
    }

    #[test]
    fn a_source_that_is_not_rust_is_an_error_with_its_line() {
        let error = test_functions("fn a() {}\nfn b() {").unwrap_err();
        assert!(format!("{error:#}").starts_with("not Rust, line 2: "), "{error:#}");
    }
}
