//! JSON, with the place of every value: serde_json's parser remembers none.

use std::collections::HashSet;

use adjourn_core::JSON_DEPTH_MAX;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::node::{Kind, Member, Node, Position};
use super::problem::Problem;

pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    // So that the scan below can rely on the syntax.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let (line, column) = (error.line().max(1), error.column().max(1));
        return Err(Problem::syntax(line, column, format!("not valid JSON: {error}")));
    }
    Scan { text, at: 0, line: 1, column: 0, counted: 0, depth: 0 }.value()
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Characters of the line up to `counted`, so that a document of one line is counted once.
    column: usize,
    counted: usize,
    depth: usize,
}

impl Scan<'_> {
    /// The byte that comes next, after white space.
    fn next(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).filter(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
            if *byte == b'\n' {
                (self.line, self.column, self.counted) = (self.line + 1, 0, self.at);
            }
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    fn position(&mut self) -> Position {
        self.column += self.text[self.counted..self.at].chars().count();
        self.counted = self.at;
        Position::new(self.line, self.column + 1)
    }

    fn problem(&mut self, message: impl Into<String>) -> Problem {
        let Position { line, column } = self.position();
        Problem::syntax(line as usize, column as usize, message)
    }

    fn value(&mut self) -> Result<Node, Problem> {
        let first = self.next();
        let at = self.position();
        let kind = match first {
            b'{' => Kind::Members(self.members()?),
            b'[' => Kind::List(self.items()?),
            b'"' => Kind::Text(self.string()?),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|char: char| ",]} \t\r\n".contains(char)).unwrap_or(rest.len());
                self.at += end;
                match serde_json::from_str(&rest[..end]) {
                    Ok(Value::Bool(value)) => Kind::Bool(value),
                    Ok(Value::Number(number)) => Kind::Number(number),
                    Ok(Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_)) => Kind::Null,
                    Err(error) => return Err(self.problem(format!("not valid JSON: {error}"))),
                }
            }
        };
        Ok(Node { at, kind })
    }

    fn nest(&mut self) -> Result<(), Problem> {
        self.at += 1;
        self.depth += 1;
        if self.depth > JSON_DEPTH_MAX {
            return Err(self
                .problem(format!("it is nested deeper than the {JSON_DEPTH_MAX} levels that are allowed")));
        }
        Ok(())
    }

    fn items(&mut self) -> Result<Vec<Node>, Problem> {
        self.nest()?;
        let mut items = Vec::new();
        while self.goes_on(b']') {
            items.push(self.value()?);
        }
        Ok(items)
    }

    fn members(&mut self) -> Result<Vec<Member>, Problem> {
        self.nest()?;
        let mut members = Vec::new();
        let mut keys = HashSet::new();
        while self.goes_on(b'}') {
            let key_at = self.position();
            let key = self.string()?;
            if !keys.insert(key.clone()) {
                let Position { line, column } = key_at;
                return Err(Problem::syntax(
                    line as usize,
                    column as usize,
                    format!("`{key}` is there twice"),
                ));
            }
            self.next();
            // The colon.
            self.at += 1;
            let node = self.value()?;
            members.push(Member { key, key_at, node });
        }
        Ok(members)
    }

    /// Whether another item follows, in front of which the scan then is.
    fn goes_on(&mut self, close: u8) -> bool {
        match self.next() {
            b',' => {
                self.at += 1;
                self.next();
                true
            }
            byte if byte == close => {
                self.at += 1;
                self.depth -= 1;
                false
            }
            _ => true,
        }
    }

    fn string(&mut self) -> Result<String, Problem> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                break;
            }
        }
        let quoted = &bytes[start..self.at.min(bytes.len())];
        match serde_json::from_slice(quoted) {
            Ok(text) => Ok(text),
            Err(error) => Err(self.problem(format!("not valid JSON: {error}"))),
        }
    }
}
