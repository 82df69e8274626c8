//! The tree of values that every format is parsed into.

use std::str::FromStr;

use serde_json::{Number, Value};

use super::problem::{Place, unescaped};

/// A line and a column, from 1; 0 for a value that stands in no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Position {
    pub(super) fn new(line: usize, column: usize) -> Self {
        let short = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: short(line), column: short(column) }
    }

    pub(super) fn place(self) -> Option<Place> {
        let Self { line, column } = self;
        (line > 0).then_some(Place::Text { line: line as usize, column: column as usize })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) at: Position,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    /// A variable of the environment in the place of a value.
    Variable {
        name: String,
        text: String,
    },
    List(Vec<Node>),
    Members(Vec<Member>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    pub(super) key_at: Position,
    pub(super) node: Node,
}

impl Member {
    /// An empty table that is not in the text.
    pub(super) fn new(key: &str) -> Self {
        let at = Position::new(1, 1);
        Self { key: key.to_owned(), key_at: at, node: Node { at, kind: Kind::Members(Vec::new()) } }
    }
}

impl Member {
    /// The place of the key.
    pub(super) fn place(&self) -> Option<Place> {
        self.key_at.place().or_else(|| self.node.place())
    }
}

impl Node {
    pub(super) fn place(&self) -> Option<Place> {
        match &self.kind {
            Kind::Variable { name, .. } => Some(Place::Variable(name.clone())),
            Kind::Null
            | Kind::Bool(_)
            | Kind::Number(_)
            | Kind::Text(_)
            | Kind::List(_)
            | Kind::Members(_) => self.at.place(),
        }
    }

    /// Has a variable override the single value that `rest` of its name leads to: `TOTAL` leads to `total`. False for a list
    /// or a table, which it cannot override.
    pub(super) fn set(&mut self, rest: &str, name: &str, text: &str) -> bool {
        let Kind::Members(members) = &mut self.kind else { return false };
        let below = |member: &Member| {
            let rest = rest.strip_prefix(&upper(&member.key))?.strip_prefix('_')?;
            matches!(member.node.kind, Kind::Members(_)).then(|| rest.to_owned())
        };
        let table =
            members.iter_mut().filter_map(|it| Some((below(it)?, it))).min_by_key(|(rest, _)| rest.len());
        if let Some((rest, member)) = table {
            return member.node.set(&rest, name, text);
        }
        let at = Position::default();
        let node = Self { at, kind: Kind::Variable { name: name.to_owned(), text: text.to_owned() } };
        match members.iter_mut().find(|member| upper(&member.key) == rest) {
            Some(Member { node: Self { kind: Kind::List(_) | Kind::Members(_), .. }, .. }) => return false,
            Some(member) => member.node = node,
            None => members.push(Member { key: rest.to_lowercase(), key_at: at, node }),
        }
        true
    }

    /// The value at a JSON pointer, or the nearest around it; and whether it is the one.
    pub(super) fn nearest(&self, pointer: &str) -> (&Self, bool) {
        let mut node = self;
        for step in steps(pointer) {
            let below = match &node.kind {
                Kind::Members(members) => members.iter().find(|member| member.key == step).map(|it| &it.node),
                Kind::List(items) => usize::from_str(&step).ok().and_then(|index| items.get(index)),
                Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Text(_) | Kind::Variable { .. } => None,
            };
            let Some(below) = below else { return (node, false) };
            node = below;
        }
        (node, true)
    }

    /// The place of the key that a JSON pointer ends with.
    pub(super) fn key(&self, pointer: &str) -> Option<Place> {
        let (parent, key) = pointer.rsplit_once('/')?;
        let key = unescaped(key);
        match self.nearest(parent) {
            (Self { kind: Kind::Members(members), .. }, true) => {
                members.iter().find(|member| member.key == key)?.place()
            }
            (_, _) => None,
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => Kind::List(items.into_iter().map(Into::into).collect()),
            Value::Object(members) => {
                let key_at = Position::default();
                let member = |(key, value): (String, Value)| Member { key, key_at, node: value.into() };
                Kind::Members(members.into_iter().map(member).collect())
            }
        };
        Self { at: Position::default(), kind }
    }
}

/// A key as a part of the name of a variable.
fn upper(key: &str) -> String {
    key.chars()
        .map(|char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' })
        .collect()
}

fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(unescaped)
}
