//! TOML, with the place of every value.

use serde_json::Number;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::node::{Kind, Member, Node, Position};
use super::problem::Problem;

/// Characters of a line that are counted. A file of one line can have hundreds of thousands of values in it.
const COLUMN_MAX: usize = 1_000;

pub(super) fn parse(text: &str) -> Result<Node, Vec<Problem>> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    // What was made of a broken text would only add problems that are none.
    if !errors.is_empty() {
        let problems = errors.iter().map(|error| {
            let Position { line, column } = lines.position(error.span().map_or(0, |span| span.start));
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            Problem::syntax(line as usize, column as usize, format!("not valid TOML: {message}"))
        });
        return Err(problems.collect());
    }
    Ok(Node { at: Position::new(1, 1), kind: members(table.get_ref(), &lines) })
}

/// Where the lines of a text begin.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { text, starts: std::iter::once(0).chain(after).collect() }
    }

    fn position(&self, at: usize) -> Position {
        let at = self.text.floor_char_boundary(at);
        let line = self.starts.partition_point(|start| *start <= at);
        let start = self.starts[line - 1];
        Position::new(line, self.text[start..at].chars().take(COLUMN_MAX).count() + 1)
    }
}

fn members(table: &DeTable<'_>, lines: &Lines<'_>) -> Kind {
    let member = |(key, value): (&Spanned<toml::de::DeString<'_>>, _)| Member {
        key: key.get_ref().to_string(),
        key_at: lines.position(key.span().start),
        node: node(value, lines),
    };
    let mut members: Vec<_> = table.iter().map(member).collect();
    members.sort_by_key(|member| (member.key_at.line, member.key_at.column));
    Kind::Members(members)
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Boolean(value) => Kind::Bool(*value),
        DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
            Ok(number) => Kind::Number(number.into()),
            Err(_) => decimal(digits.as_str()),
        },
        DeValue::Float(digits) => decimal(digits.as_str()),
        DeValue::Datetime(time) => Kind::Text(time.to_string()),
        DeValue::Array(items) => Kind::List(items.iter().map(|item| node(item, lines)).collect()),
        DeValue::Table(table) => members(table, lines),
    };
    Node { at: lines.position(value.span().start), kind }
}

/// A number with a fraction, or too long for anything else. `inf` and `nan` are no numbers to anybody here.
fn decimal(digits: &str) -> Kind {
    match digits.parse().ok().and_then(Number::from_f64) {
        Some(number) => Kind::Number(number),
        None => Kind::Text(digits.to_owned()),
    }
}
