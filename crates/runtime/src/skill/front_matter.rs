//! The front matter of `SKILL.md`: YAML between two lines of dashes.
//!
//! Only its plain values are needed.

use std::collections::BTreeMap;

use adjourn_api::read::Document;

/// A `SKILL.md`, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FrontMatter {
    /// The values that are text, with their lines in the file.
    pub(crate) fields: BTreeMap<String, (String, usize)>,
    /// What follows it.
    pub(crate) body: String,
}

/// What is wrong with it, and in which line of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl FrontMatter {
    pub(crate) fn read(text: &str) -> Result<Self, Unreadable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        if first.trim_end() != "---" {
            let message =
                "should begin with front matter: a line `---`, `name` and `description`, a line `---`";
            return Err(Unreadable { line: 1, message: message.to_owned() });
        }
        let mut end = first.len();
        for line in lines {
            if line.trim_end() == "---" {
                let fields = fields(&text[first.len()..end])?;
                return Ok(Self { fields, body: text[end + line.len()..].trim().to_owned() });
            }
            end += line.len();
        }
        Err(Unreadable {
            line: 1,
            message: "the front matter does not end: there is no second line `---`".to_owned(),
        })
    }
}

fn fields(yaml: &str) -> Result<BTreeMap<String, (String, usize)>, Unreadable> {
    // The first line of the file is the dashes.
    let unreadable = |line: Option<usize>, message| Unreadable { line: line.unwrap_or(0) + 1, message };
    let document = Document::yaml(yaml).map_err(|problem| unreadable(problem.line(), problem.message))?;
    if !document.is_object() && !document.is_null() {
        return Err(unreadable(Some(1), "should be keys and values, it is only text".to_owned()));
    }
    let fields =
        document.texts().map(|(key, text, line)| (key.to_owned(), (text.trim().to_owned(), line + 1)));
    Ok(fields.collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{FrontMatter, Unreadable};

    #[test]
    fn plain_values_are_read_with_their_lines() {
        let text = "---\nname: a-b\nmetadata:\n  x: [1, 2]\n  name: other\nlist: [a]\ndescription: >\n  two\n  lines\n---\n\n# Hi\n---\n";
        let read = FrontMatter::read(text).unwrap();
        let fields: Vec<_> =
            read.fields.iter().map(|(key, (value, line))| (key.as_str(), value.as_str(), *line)).collect();
        assert_eq!(fields[..1], [("description", "two lines", 7)]);
        assert_eq!(fields[1..], [("name", "a-b", 2)]);
        assert_eq!(read.body, "# Hi\n---");
        assert_eq!(FrontMatter::read("\u{feff}---\r\nname: x\r\n---\r\nbody").unwrap().body, "body");
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        for (text, line, message) in [
            ("", 1, "should begin with front matter"),
            ("# Skill\n", 1, "should begin with front matter"),
            ("---\nname: x\n", 1, "the front matter does not end"),
            ("---\nname: x\ndescription: a: b\n---\n", 3, "not valid YAML: "),
            ("---\nname: x\nname: y\n---\n", 3, "`name` is there twice"),
            ("---\na: &x 1\nb: *x\n---\n", 3, "aliases are not allowed here"),
            ("---\njust text\n---\n", 2, "should be keys and values"),
        ] {
            let Unreadable { line: actual, message: said } = FrontMatter::read(text).unwrap_err();
            assert!(said.starts_with(message), "{text:?}: {said}");
            assert_eq!(actual, line, "{text:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "---\n([-a-z:&*!|>\\[\\]{}#'\" \n\t]|\\PC){0,40}\n---\n") {
            _ = FrontMatter::read(&text);
        }
    }
}
