//! Serde's side of the reader: hands the values of a document to a type, and knows where each of them stands.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::ptr::from_ref;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer as _, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{Cause, Error, Location, OBJECT, Source};
use super::node::{Kind, Member, Node};
use super::problem::{Path, Place, Problem, ProblemKind, Step};
use super::{Format, PROBLEMS_MAX, Reading, VISITS_MAX, Variables, variable_of};
use crate::nearest::hint;

/// What was found out about a document so far.
pub(super) struct Session<'t> {
    format: Format,
    variables: &'t Variables,
    known_variables: RefCell<BTreeSet<String>>,
    /// Values that are wrong, and passed over from now on.
    left_out: RefCell<HashSet<*const Node>>,
    left_out_variables: RefCell<BTreeSet<String>>,
    /// Fields that are missing, with the values that they are missing in. Stand-ins take their places until everything that
    /// is wrong is known.
    stand_ins: RefCell<Vec<(*const Node, &'static str)>>,
    /// Everything that is wrong has been noted.
    is_over: Cell<bool>,
    problems: RefCell<Vec<Problem>>,
    visits: Cell<usize>,
}

impl<'t> Session<'t> {
    pub(super) fn new(format: Format, variables: &'t Variables) -> Self {
        Self {
            format,
            variables,
            known_variables: RefCell::default(),
            left_out: RefCell::default(),
            left_out_variables: RefCell::default(),
            stand_ins: RefCell::default(),
            is_over: Cell::new(false),
            problems: RefCell::default(),
            visits: Cell::new(0),
        }
    }

    pub(super) fn root(&self, node: &Node) -> Location {
        Location { path: Path::default(), place: node.place(), source: Source::Node(from_ref(node)) }
    }

    /// Passes over a value from now on. Fails if that was so before.
    pub(super) fn leave_out(&self, location: &Location) -> bool {
        match &location.source {
            Source::Node(node) | Source::StandIn(node) => self.left_out.borrow_mut().insert(*node),
            Source::Variable(variable) => self.left_out_variables.borrow_mut().insert(variable.clone()),
        }
    }

    /// Has a stand-in take the place of a missing field, so that the search goes on behind it. Fails if there is one.
    pub(super) fn stand_in(&self, location: &Location, field: &'static str) -> bool {
        let mut stand_ins = self.stand_ins.borrow_mut();
        match location.source {
            Source::Node(node) if !self.is_over.get() && !stand_ins.contains(&(node, field)) => {
                stand_ins.push((node, field));
                true
            }
            Source::Node(_) | Source::StandIn(_) | Source::Variable(_) => false,
        }
    }

    /// Leaves out every value with a stand-in. True if there was none.
    pub(super) fn is_complete(&self) -> bool {
        self.is_over.set(true);
        let stand_ins = self.stand_ins.take();
        self.left_out.borrow_mut().extend(stand_ins.iter().map(|(node, _)| *node));
        stand_ins.is_empty()
    }

    pub(super) fn has_enough(&self) -> bool {
        self.problems.borrow().len() >= PROBLEMS_MAX || self.visits.get() > VISITS_MAX
    }

    pub(super) fn note(&self, location: &Location, cause: &Cause) {
        if self.is_over.get() || matches!(location.source, Source::StandIn(_)) {
            return;
        }
        let word =
            |word: &str| if word == OBJECT { self.format.object().to_owned() } else { word.to_owned() };
        let mut path = location.path.clone();
        let (kind, message) = match cause {
            Cause::Wrong { wanted, is } => {
                (ProblemKind::Wrong, format!("should be {}, it is {}", word(wanted), word(is)))
            }
            Cause::UnknownKey { key, known } => {
                (ProblemKind::UnknownKey, format!("unknown key{}", hint(key, known.iter().copied())))
            }
            Cause::UnknownValue { given, known } => {
                let hint = hint(given, known.iter().copied());
                (ProblemKind::Wrong, format!("unknown value `{given}`{hint}"))
            }
            Cause::Missing(field) => {
                path.0.push(Step::Key((*field).to_owned()));
                // A value that is there and wrong has been told.
                if self.problems.borrow().iter().any(|problem| problem.path == path) {
                    return;
                }
                (ProblemKind::Wrong, "is missing".to_owned())
            }
            Cause::Other(message) => (ProblemKind::Wrong, message.clone()),
            Cause::NotSingle => return,
        };
        self.problems.borrow_mut().push(Problem { kind, path, place: location.place.clone(), message });
    }

    pub(super) fn finish<T>(self, value: Option<T>) -> Reading<T> {
        let mut known_variables = self.known_variables.into_inner();
        for variable in self.left_out_variables.into_inner() {
            known_variables.remove(&variable);
        }
        let mut problems = self.problems.into_inner();
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        for problem in &problems {
            if let Some(Place::Variable(variable)) = &problem.place {
                known_variables.insert(variable.clone());
            }
        }
        Reading { value, problems, known_variables }
    }

    pub(super) fn is_left_out(&self, node: &Node) -> bool {
        self.left_out.borrow().contains(&from_ref(node))
    }

    /// The variable that overrides the value at `path`, with its name.
    fn variable(&self, path: Way<'_>) -> Option<(&'t str, &'t str)> {
        if self.variables.is_empty() {
            return None;
        }
        let name = variable_of(&path.path().pointer());
        self.known_variables.borrow_mut().insert(name.clone());
        let (name, text) = self.variables.get_key_value(&name)?;
        (!self.left_out_variables.borrow().contains(name)).then_some((name, text))
    }
}

/// The way to a value: a path that costs nothing as long as nobody asks for it.
#[derive(Clone, Copy)]
enum Way<'p> {
    Root,
    Key(&'p Way<'p>, &'p str),
    Index(&'p Way<'p>, usize),
}

impl Way<'_> {
    fn path(self) -> Path {
        let mut steps = Vec::new();
        let mut way = self;
        loop {
            let (before, step) = match way {
                Way::Root => break,
                Way::Key(before, key) => (before, Step::Key(key.to_owned())),
                Way::Index(before, index) => (before, Step::Index(index)),
            };
            steps.push(step);
            way = *before;
        }
        steps.reverse();
        Path(steps)
    }
}

/// What a value is read from.
#[derive(Clone, Copy)]
enum Input<'t> {
    Node(&'t Node),
    /// A variable, and what it overrides.
    Variable {
        name: &'t str,
        text: &'t str,
        behind: Option<&'t Node>,
    },
    /// Something harmless for a field that is missing in this value.
    StandIn(&'t Node),
}

impl Input<'_> {
    fn location(self, way: Way<'_>) -> Location {
        let (place, source) = match self {
            Self::Node(node) => (node.place(), Source::Node(from_ref(node))),
            Self::StandIn(owner) => (owner.place(), Source::StandIn(from_ref(owner))),
            Self::Variable { name, .. } => {
                (Some(Place::Variable(name.to_owned())), Source::Variable(name.to_owned()))
            }
        };
        Location { path: way.path(), place, source }
    }
}

/// A value that is about to be read.
#[derive(Clone, Copy)]
pub(super) struct Deserializer<'t, 'p> {
    input: Input<'t>,
    way: Way<'p>,
    session: &'p Session<'t>,
}

impl<'t, 'p> Deserializer<'t, 'p> {
    pub(super) fn root(node: &'t Node, session: &'p Session<'t>) -> Self {
        Self { input: Input::Node(node), way: Way::Root, session }
    }

    /// The list or table that is read, which no variable can override.
    fn node(self) -> Result<&'t Node, Error> {
        match self.input {
            Input::Node(node) => Ok(node),
            Input::Variable { .. } | Input::StandIn(_) => Err(Error::new(Cause::NotSingle)),
        }
    }

    fn node_any<V: Visitor<'t>>(self, node: &'t Node, visitor: V) -> Result<V::Value, Error> {
        let Self { way, session, .. } = self;
        match &node.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), _, _) => visitor.visit_u64(number),
                (None, Some(number), _) => visitor.visit_i64(number),
                (None, None, number) => visitor.visit_f64(number.unwrap_or(f64::NAN)),
            },
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            Kind::List(items) => {
                visitor.visit_seq(Items { items: items.iter(), index: 0, way: &way, session })
            }
            Kind::Members(members) => {
                let entries = members.iter().map(|it| (it.key.as_str(), Input::Node(&it.node)));
                visitor.visit_map(Entries { entries: entries.collect(), next: 0, way: &way, session })
            }
        }
    }

    /// A number or a truth value, which a variable holds as text.
    fn single<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        let text = match self.input {
            Input::Variable { text, .. } => text,
            Input::StandIn(_) => return visitor.visit_u64(1),
            Input::Node(_) => return self.deserialize_any(visitor),
        };
        match (text.parse::<i64>(), text.parse::<f64>(), text) {
            (_, _, "true") => visitor.visit_bool(true),
            (_, _, "false") => visitor.visit_bool(false),
            (Ok(number), _, _) => visitor.visit_i64(number),
            (Err(_), Ok(number), _) if number.is_finite() => visitor.visit_f64(number),
            (Err(_), _, _) => Err(Error::invalid_type(Unexpected::Str(text), &visitor)),
        }
    }
}

macro_rules! single {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
            self.single(visitor)
        })+
    };
}

impl<'t> serde::Deserializer<'t> for Deserializer<'t, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.input {
            Input::Node(node) => self.node_any(node, visitor),
            Input::Variable { text, .. } => visitor.visit_borrowed_str(text),
            Input::StandIn(_) => visitor.visit_borrowed_str(""),
        }
    }

    single! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.input {
            Input::Node(Node { kind: Kind::Null, .. }) => visitor.visit_none(),
            Input::Node(_) | Input::Variable { .. } | Input::StandIn(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        if let Input::StandIn(_) = self.input {
            return visitor.visit_seq(Items {
                items: [].iter(),
                index: 0,
                way: &self.way,
                session: self.session,
            });
        }
        self.node_any(self.node()?, visitor)
    }

    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Error> {
        self.node_any(self.node()?, visitor)
    }

    /// All keys that the type does not have are told at once; null is the same as nothing.
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Self { way, session, .. } = self;
        let node = self.node()?;
        let Kind::Members(members) = &node.kind else {
            return Err(Error::invalid_type(unexpected(&node.kind), &OBJECT));
        };
        let mut entries = Vec::new();
        for Member { key, key_at, node } in members {
            let way = Way::Key(&way, key);
            if !fields.contains(&key.as_str()) {
                let source = Source::Node(from_ref(node));
                let location = Location { path: way.path(), place: key_at.place(), source };
                if !session.has_enough() && session.leave_out(&location) {
                    session.note(&location, &Cause::UnknownKey { key: key.clone(), known: fields });
                }
                continue;
            }
            let variable = session.variable(way);
            let input = match variable {
                Some((name, text)) => Input::Variable { name, text, behind: Some(node) },
                None => Input::Node(node),
            };
            if node.kind != Kind::Null {
                entries.push((key.as_str(), input));
            }
        }
        for field in fields.iter().filter(|field| members.iter().all(|member| member.key != **field)) {
            if let Some((name, text)) = session.variable(Way::Key(&way, field)) {
                entries.push((field, Input::Variable { name, text, behind: None }));
            }
        }
        let stand_ins = session.stand_ins.borrow().clone();
        let missing = stand_ins.iter().filter(|(owner, _)| *owner == from_ref(node));
        entries.extend(missing.map(|(_, field)| (*field, Input::StandIn(node))));
        visitor.visit_map(Entries { entries, next: 0, way: &way, session })
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text = match self.input {
            Input::StandIn(_) => names.first().copied().unwrap_or_default(),
            Input::Variable { text, .. } => text,
            Input::Node(Node { kind: Kind::Text(text), .. }) => text,
            Input::Node(node) => return Err(Error::invalid_type(unexpected(&node.kind), &"a string")),
        };
        let name: StrDeserializer<'_, Error> = text.into_deserializer();
        visitor.visit_enum(name)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        char str string bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

fn unexpected(kind: &Kind) -> Unexpected<'_> {
    match kind {
        Kind::Null => Unexpected::Unit,
        Kind::Bool(value) => Unexpected::Bool(*value),
        Kind::Number(number) => number.as_i64().map_or(Unexpected::Float(0.5), Unexpected::Signed),
        Kind::Text(text) => Unexpected::Str(text),
        Kind::List(_) => Unexpected::Seq,
        Kind::Members(_) => Unexpected::Map,
    }
}

/// The items of a list.
struct Items<'t, 'p> {
    items: std::slice::Iter<'t, Node>,
    index: usize,
    way: &'p Way<'p>,
    session: &'p Session<'t>,
}

impl<'t> SeqAccess<'t> for Items<'t, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'t>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let session = self.session;
        for node in self.items.by_ref() {
            let way = Way::Index(self.way, self.index);
            self.index += 1;
            session.visits.set(session.visits.get() + 1);
            if !session.is_left_out(node) {
                let input = Input::Node(node);
                let read = seed.deserialize(Deserializer { input, way, session });
                return read.map(Some).map_err(|error| error.at(|| input.location(way)));
            }
        }
        Ok(None)
    }
}

/// The members of an object.
struct Entries<'t, 'p> {
    entries: Vec<(&'t str, Input<'t>)>,
    next: usize,
    way: &'p Way<'p>,
    session: &'p Session<'t>,
}

impl<'t> MapAccess<'t> for Entries<'t, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        while let Some((key, input)) = self.entries.get(self.next) {
            let is_left_out = match input {
                Input::Node(node) | Input::Variable { behind: Some(node), .. } => {
                    self.session.is_left_out(node)
                }
                Input::Variable { behind: None, .. } | Input::StandIn(_) => false,
            };
            if !is_left_out {
                let read = seed.deserialize(StrDeserializer::<Error>::new(key));
                return read.map(Some).map_err(|error| error.at(|| input.location(Way::Key(self.way, key))));
            }
            self.next += 1;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let session = self.session;
        let (key, input) = self.entries[self.next];
        self.next += 1;
        session.visits.set(session.visits.get() + 1);
        let way = Way::Key(self.way, key);
        let read = seed.deserialize(Deserializer { input, way, session });
        read.map_err(|error| error.at(|| input.location(way)))
    }
}
