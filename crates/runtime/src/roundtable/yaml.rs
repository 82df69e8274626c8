//! YAML as JSON, with the line of everything in it.
//!
//! Taken from the parser's events, so that nothing grows: aliases are refused.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::request::pointer;

/// The longest document: a workflow is a page or two.
const BYTES_MAX: usize = 256 * 1024;

/// How deep it may nest: a workflow needs six levels.
const DEPTH_MAX: usize = 32;

/// A document, and where in its text each value stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Yaml {
    pub(super) value: Value,
    /// Lines by JSON pointer, counted from 1.
    lines: BTreeMap<String, usize>,
}

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: usize,
    pub(super) message: String,
}

/// A list or a mapping that is not complete yet.
enum Open {
    List(Vec<Value>),
    Mapping { members: Map<String, Value>, key: Option<String> },
}

impl Yaml {
    pub(super) fn parse(text: &str) -> Result<Self, Unreadable> {
        if text.len() > BYTES_MAX {
            return Err(Unreadable { line: 1, message: format!("it has more than {BYTES_MAX} bytes") });
        }
        let mut building =
            Building { path: Vec::new(), open: Vec::new(), lines: BTreeMap::new(), whole: None };
        let mut parser = Parser::new_from_str(text);
        while let Some(event) = parser.next_event() {
            let (event, span) = event.map_err(|error| Unreadable {
                line: error.marker().line(),
                message: format!("not valid YAML: {}", error.info()),
            })?;
            let line = span.start.line();
            building.take(event, line).map_err(|message| Unreadable { line, message })?;
        }
        Ok(Self { value: building.whole.unwrap_or_default(), lines: building.lines })
    }

    /// The line of what a JSON pointer leads to, or of what is nearest around it.
    pub(super) fn line(&self, pointer: &str) -> usize {
        let mut pointer = pointer;
        loop {
            if let Some(line) = self.lines.get(pointer) {
                return *line;
            }
            match pointer.rfind('/') {
                Some(end) => pointer = &pointer[..end],
                None => return 1,
            }
        }
    }
}

struct Building {
    /// The keys and indices that lead to the innermost open value.
    path: Vec<String>,
    open: Vec<Open>,
    lines: BTreeMap<String, usize>,
    whole: Option<Value>,
}

impl Building {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), String> {
        match event {
            Event::Alias(_) => return Err("aliases are not allowed here".to_owned()),
            Event::Scalar(text, style, ..) => match self.open.last_mut() {
                Some(Open::Mapping { members, key: key @ None }) => {
                    if members.contains_key(text.as_ref()) {
                        return Err(format!("`{text}` is there twice"));
                    }
                    *key = Some(text.into_owned());
                }
                _ => {
                    self.begin(line);
                    self.end(scalar(&text, style));
                }
            },
            Event::SequenceStart(..) => self.nest(Open::List(Vec::new()), line)?,
            Event::MappingStart(..) => {
                self.nest(Open::Mapping { members: Map::new(), key: None }, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.end(Value::Array(items)),
                Some(Open::Mapping { members, .. }) => self.end(Value::Object(members)),
                None => {}
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn nest(&mut self, open: Open, line: usize) -> Result<(), String> {
        if matches!(self.open.last(), Some(Open::Mapping { key: None, .. })) {
            return Err("a key has to be text".to_owned());
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("it nests deeper than {DEPTH_MAX} levels"));
        }
        self.begin(line);
        self.open.push(open);
        Ok(())
    }

    /// A value begins in this line.
    fn begin(&mut self, line: usize) {
        match self.open.last() {
            Some(Open::List(items)) => self.path.push(items.len().to_string()),
            Some(Open::Mapping { key, .. }) => self.path.push(key.clone().unwrap_or_default()),
            None => {}
        }
        let keys: Vec<_> = self.path.iter().map(String::as_str).collect();
        self.lines.insert(pointer(&keys), line);
    }

    /// The value that began last is complete.
    fn end(&mut self, value: Value) {
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Mapping { members, key }) => {
                members.insert(key.take().unwrap_or_default(), value);
            }
            None => self.whole = Some(value),
        }
        self.path.pop();
    }
}

/// What a scalar means: only one without quotes can be anything but text.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::from(text);
    }
    let number = || text.parse().ok().map(Value::Number);
    let decimal = || text.parse().ok().and_then(Number::from_f64).map(Value::Number);
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => number().or_else(decimal).unwrap_or_else(|| Value::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;
    use serde_json::json;

    use super::{Unreadable, Yaml};

    #[test]
    fn values_are_read_with_their_lines() {
        let text =
            "name: a\nlist: [1, 0.5, \"2\", yes]\nmap:\n  - x: true\n    y: ~\n  - >\n    two\n    lines\n";
        let yaml = Yaml::parse(text).unwrap();
        let expected = json!({
            "name": "a", "list": [1, 0.5, "2", "yes"], "map": [{"x": true, "y": null}, "two lines\n"],
        });
        assert_eq!(yaml.value, expected);
        for (pointer, line) in [("", 1), ("/name", 1), ("/list/2", 2), ("/map/0/y", 5), ("/map/0/z", 4)] {
            assert_eq!(yaml.line(pointer), line, "{pointer}");
        }
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        for (text, line, message) in [
            ("a: 1\na: 2", 2, "`a` is there twice"),
            ("a: &x 1\nb: *x", 2, "aliases are not allowed here"),
            ("a: b: c", 1, "not valid YAML: "),
            ("[1]: 2", 1, "a key has to be text"),
            (&"[".repeat(40), 1, "it nests deeper than 32 levels"),
        ] {
            let Unreadable { line: actual, message: said } = Yaml::parse(text).unwrap_err();
            assert!(said.starts_with(message), "{text:?}: {said}");
            assert_eq!(actual, line, "{text:?}: {said}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "([-a-z:&*!|>\\[\\]{}#'\"? \n\t]|\\PC){0,60}") {
            _ = Yaml::parse(&text);
        }
    }
}
