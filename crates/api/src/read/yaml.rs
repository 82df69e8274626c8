//! YAML, with the place of every value. Taken from the parser's events, so that nothing grows: aliases are refused.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::node::{Kind, Member, Node, Position};
use super::problem::Problem;

/// The longest document: a workflow is a page or two, the front matter of a skill less.
const BYTES_MAX: usize = 256 * 1024;

/// How deep it may nest: a workflow needs six levels.
const DEPTH_MAX: usize = 32;

pub(super) fn parse(text: &str) -> Result<Node, Problem> {
    if text.len() > BYTES_MAX {
        return Err(Problem::syntax(1, 1, format!("it has more than {BYTES_MAX} bytes")));
    }
    let mut building = Building { open: Vec::new(), whole: None };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| {
            let marker = error.marker();
            let hint = "a value with `: ` or `#` in it needs quotes";
            let message = format!("not valid YAML: {}; {hint}", error.info());
            Problem::syntax(marker.line(), marker.col() + 1, message)
        })?;
        let (line, column) = (span.start.line().max(1), span.start.col() + 1);
        building
            .take(event, Position::new(line, column))
            .map_err(|message| Problem::syntax(line, column, message))?;
    }
    Ok(building.whole.unwrap_or(Node { at: Position::new(1, 1), kind: Kind::Null }))
}

/// A list or a mapping that is not complete yet.
enum Open {
    List(Position, Vec<Node>),
    Mapping { at: Position, members: Vec<Member>, keys: HashSet<String>, key: Option<(String, Position)> },
}

struct Building {
    open: Vec<Open>,
    whole: Option<Node>,
}

impl Building {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), String> {
        match event {
            Event::Alias(_) => return Err("aliases are not allowed here".to_owned()),
            Event::Scalar(text, style, ..) => match self.open.last_mut() {
                Some(Open::Mapping { keys, key: key @ None, .. }) => {
                    if !keys.insert(text.to_string()) {
                        return Err(format!("`{text}` is there twice"));
                    }
                    *key = Some((text.into_owned(), at));
                }
                Some(Open::Mapping { .. } | Open::List(..)) | None => {
                    self.end(Node { at, kind: scalar(&text, style) });
                }
            },
            Event::SequenceStart(..) => self.nest(Open::List(at, Vec::new()))?,
            Event::MappingStart(..) => {
                self.nest(Open::Mapping { at, members: Vec::new(), keys: HashSet::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(at, items)) => self.end(Node { at, kind: Kind::List(items) }),
                Some(Open::Mapping { at, members, .. }) => {
                    self.end(Node { at, kind: Kind::Members(members) });
                }
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

    fn nest(&mut self, open: Open) -> Result<(), String> {
        if matches!(self.open.last(), Some(Open::Mapping { key: None, .. })) {
            return Err("a key has to be text".to_owned());
        }
        if self.open.len() >= DEPTH_MAX {
            return Err(format!("it nests deeper than {DEPTH_MAX} levels"));
        }
        self.open.push(open);
        Ok(())
    }

    /// A value is complete.
    fn end(&mut self, node: Node) {
        match self.open.last_mut() {
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Mapping { members, key, .. }) => {
                let (key, key_at) = key.take().unwrap_or_default();
                members.push(Member { key, key_at, node });
            }
            None => self.whole = Some(node),
        }
    }
}

/// What a scalar means: only one without quotes can be anything but text.
fn scalar(text: &str, style: ScalarStyle) -> Kind {
    if style != ScalarStyle::Plain {
        return Kind::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" => Kind::Null,
        "true" => Kind::Bool(true),
        "false" => Kind::Bool(false),
        // Numbers are those of JSON: `007` and `1.` are more likely meant as text.
        _ => text.parse().map_or_else(|_| Kind::Text(text.to_owned()), Kind::Number),
    }
}
