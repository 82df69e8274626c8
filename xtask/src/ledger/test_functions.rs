//! Finds the test functions of a Rust source.

use super::tokens::{Token, tokens};

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
pub(super) fn test_functions(source: &str) -> Vec<TestFunction> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    let mut attributes = Attributes::default();
    let mut rest = &tokens[..];
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (Token::Mark('#'), [Token::Mark('['), ..]) => {
                let (attribute, after) = group(after);
                attributes.add(attribute);
                rest = after;
            }
            (Token::Word("macro_rules"), [Token::Mark('!'), Token::Word(_), body @ ..]) => {
                rest = group(body).1;
                attributes = Attributes::default();
            }
            (Token::Word("fn"), [Token::Word(name), ..]) => {
                if attributes.test {
                    found.push(TestFunction { name: (*name).to_owned(), ignored: attributes.ignored });
                }
                attributes = Attributes::default();
            }
            // What may stand between an attribute and its `fn`.
            (Token::Word("pub"), [Token::Mark('('), ..]) => rest = group(after).1,
            (Token::Word("pub" | "async" | "const" | "unsafe" | "extern") | Token::Literal, _) => {}
            (Token::Word(_) | Token::Mark(_), _) => attributes = Attributes::default(),
        }
    }
    found
}

/// What the attributes above an item say about it.
#[derive(Default)]
struct Attributes {
    test: bool,
    ignored: bool,
}

impl Attributes {
    /// Takes in the tokens between `#[` and `]`.
    fn add(&mut self, attribute: &[Token<'_>]) {
        let path_end = attribute.iter().position(|token| !matches!(token, Token::Word(_) | Token::Mark(':')));
        match attribute[..path_end.unwrap_or(attribute.len())].last() {
            Some(Token::Word("test")) => self.test = true,
            Some(Token::Word("ignore")) => self.ignored = true,
            // Ignored under a condition is ignored somewhere, and a promise is not kept somewhere.
            Some(Token::Word("cfg_attr")) => self.ignored |= attribute.contains(&Token::Word("ignore")),
            Some(Token::Word(_) | Token::Mark(_) | Token::Literal) | None => {}
        }
    }
}

/// Splits tokens that begin with a bracket into what is inside it and what comes after it.
fn group<'t, 's>(tokens: &'t [Token<'s>]) -> (&'t [Token<'s>], &'t [Token<'s>]) {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Word(_) | Token::Mark(_) | Token::Literal => {}
        }
        if depth == 0 {
            return (tokens.get(1..at).unwrap_or_default(), &tokens[at + 1..]);
        }
    }
    (tokens.get(1..).unwrap_or_default(), &[])
}

#[cfg(test)]
mod tests {
    use super::test_functions;

    /// The names of the tests in `source`, ignored ones with a `!` in front.
    fn check(source: &str, expected: &[&str]) {
        let found: Vec<_> = test_functions(source)
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
}
