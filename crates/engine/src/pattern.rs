//! Names of methods and files with a `*` in them.

/// A text in which `*` stands for anything.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub struct Pattern(String);

impl Pattern {
    /// The pattern that is written like this.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    /// Whether `text` is one of those that are meant.
    ///
    /// ```
    /// use adjourn_engine::Pattern;
    ///
    /// assert!(Pattern::new("send_*").matches("send_mail"));
    /// assert!(!Pattern::new("send_*").matches("resend_mail"));
    /// ```
    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else { return false };
        let Some(tail) = parts.next_back() else { return rest.is_empty() };
        // The earliest place for each part leaves the most for those that follow.
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(tail)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::Pattern;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, method, expected) in [
            ("send", "send", true),
            ("send", "sends", false),
            ("", "", true),
            ("", "x", false),
            ("*", "", true),
            ("*", "anything", true),
            ("send_*", "send_", true),
            ("*_mail", "send_mail", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "axbxbxc", true),
            ("a*b*c", "acb", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(method), expected, "{pattern} {method}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_without_a_star_means_itself(pattern in "[a-c_]{0,6}", method in "[a-c_]{0,6}") {
            prop_assert_eq!(Pattern::new(pattern.as_str()).matches(&method), pattern == method);
            let open = Pattern::new(format!("{pattern}*{method}"));
            let between = format!("{pattern}x{method}");
            prop_assert!(open.matches(&between));
        }
    }
}
