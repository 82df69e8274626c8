//! Serde's side of the reader: hands the values of a document to a type, and knows where each of them stands.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ptr::from_ref;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer as _, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{Cause, Error, Location, OBJECT};
use super::node::{Kind, Member, Node};
use super::problem::{Path, Problem, ProblemKind, Step};
use super::{Format, PROBLEMS_MAX, Reading, VISITS_MAX};
use crate::nearest::hint;

/// What was found out about a document so far.
pub(super) struct Session {
    format: Format,
    /// Values that are wrong, and passed over from now on.
    left_out: RefCell<HashSet<*const Node>>,
    /// Fields that are missing, with the values that they are missing in. Stand-ins take their places until everything that
    /// is wrong is known.
    stand_ins: RefCell<Vec<(*const Node, &'static str)>>,
    /// Everything that is wrong has been noted.
    is_over: Cell<bool>,
    problems: RefCell<Vec<Problem>>,
    visits: Cell<usize>,
}

impl Session {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            left_out: RefCell::default(),
            stand_ins: RefCell::default(),
            is_over: Cell::new(false),
            problems: RefCell::default(),
            visits: Cell::new(0),
        }
    }

    pub(super) fn root(&self, node: &Node) -> Location {
        Input::Node(node).location(Way::Root)
    }

    /// Passes over a value from now on. Fails if that was so before.
    pub(super) fn leave_out(&self, location: &Location) -> bool {
        self.left_out.borrow_mut().insert(location.node)
    }

    /// Has a stand-in take the place of a missing field, so that the search goes on behind it. Fails if there is one.
    pub(super) fn stand_in(&self, location: &Location, field: &'static str) -> bool {
        let mut stand_ins = self.stand_ins.borrow_mut();
        let missing = (location.node, field);
        let is_new = !self.is_over.get() && !location.is_stand_in && !stand_ins.contains(&missing);
        stand_ins.extend(is_new.then_some(missing));
        is_new
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
        if self.is_over.get() || location.is_stand_in {
            return;
        }
        let word =
            |word: &str| if word == OBJECT { self.format.object().to_owned() } else { word.to_owned() };
        let mut path = location.path.clone();
        let (kind, message) = match cause {
            Cause::Wrong { wanted, is } => {
                let kind = if [OBJECT, "a list"].contains(&wanted.as_str()) {
                    ProblemKind::WrongKind
                } else {
                    ProblemKind::Wrong
                };
                (kind, format!("should be {}, it is {}", word(wanted), word(is)))
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
                // A value that is there and wrong has been told, and a misspelt key is one mistake, not two.
                let misspelt = format!("did you mean `{field}`?");
                let is_told = |problem: &Problem| {
                    let beside =
                        problem.path.0.split_last().is_some_and(|(_, parent)| parent == location.path.0);
                    problem.path == path || (beside && problem.message.ends_with(&misspelt))
                };
                if self.problems.borrow().iter().any(is_told) {
                    return;
                }
                (ProblemKind::Wrong, "is missing".to_owned())
            }
            Cause::Other(message) => (ProblemKind::Wrong, message.clone()),
        };
        self.problems.borrow_mut().push(Problem { kind, path, place: location.place.clone(), message });
    }

    pub(super) fn finish<T>(self, value: Option<T>) -> Reading<T> {
        let mut problems = self.problems.into_inner();
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        Reading { value, problems }
    }

    pub(super) fn is_left_out(&self, node: &Node) -> bool {
        self.left_out.borrow().contains(&from_ref(node))
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
    /// Something harmless for a field that is missing in this value.
    StandIn(&'t Node),
}

impl Input<'_> {
    fn location(self, way: Way<'_>) -> Location {
        let (Self::Node(node) | Self::StandIn(node)) = self;
        let is_stand_in = matches!(self, Self::StandIn(_));
        Location { path: way.path(), place: node.place(), node: from_ref(node), is_stand_in }
    }
}

/// A value that is about to be read.
#[derive(Clone, Copy)]
pub(super) struct Deserializer<'t, 'p> {
    input: Input<'t>,
    way: Way<'p>,
    session: &'p Session,
}

impl<'t, 'p> Deserializer<'t, 'p> {
    pub(super) fn root(node: &'t Node, session: &'p Session) -> Self {
        Self { input: Input::Node(node), way: Way::Root, session }
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
            Kind::Text(text) | Kind::Variable { text, .. } => visitor.visit_borrowed_str(text),
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
            Input::Node(Node { kind: Kind::Variable { text, .. }, .. }) => text,
            Input::Node(_) => return self.deserialize_any(visitor),
            Input::StandIn(_) => return visitor.visit_u64(1),
        };
        match (text.parse::<i64>(), text.parse::<f64>(), text.as_str()) {
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
            Input::Node(_) | Input::StandIn(_) => visitor.visit_some(self),
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
        let Self { input, way, session } = self;
        match input {
            Input::Node(_) => self.deserialize_any(visitor),
            Input::StandIn(_) => visitor.visit_seq(Items { items: [].iter(), index: 0, way: &way, session }),
        }
    }

    /// All keys that the type does not have are told at once; null is the same as nothing.
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Self { input, way, session } = self;
        let Input::Node(node) = input else { return self.deserialize_any(visitor) };
        let Kind::Members(members) = &node.kind else {
            return Err(Error::invalid_type(unexpected(&node.kind), &OBJECT));
        };
        let mut entries = Vec::new();
        for member in members {
            let Member { key, node, .. } = member;
            if fields.contains(&key.as_str()) {
                entries.extend((node.kind != Kind::Null).then_some((key.as_str(), Input::Node(node))));
                continue;
            }
            let location =
                Location { place: member.place(), ..Input::Node(node).location(Way::Key(&way, key)) };
            if !session.has_enough() && session.leave_out(&location) {
                session.note(&location, &Cause::UnknownKey { key: key.clone(), known: fields });
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
            Input::Node(Node { kind: Kind::Text(text) | Kind::Variable { text, .. }, .. }) => text,
            Input::Node(node) => return Err(Error::invalid_type(unexpected(&node.kind), &"a string")),
        };
        let name: StrDeserializer<'_, Error> = text.into_deserializer();
        visitor.visit_enum(name)
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        char str string bytes byte_buf unit unit_struct tuple tuple_struct map identifier ignored_any
    }
}

fn unexpected(kind: &Kind) -> Unexpected<'_> {
    match kind {
        Kind::Null => Unexpected::Unit,
        Kind::Bool(value) => Unexpected::Bool(*value),
        Kind::Number(number) => number.as_i64().map_or(Unexpected::Float(0.5), Unexpected::Signed),
        Kind::Text(text) | Kind::Variable { text, .. } => Unexpected::Str(text),
        Kind::List(_) => Unexpected::Seq,
        Kind::Members(_) => Unexpected::Map,
    }
}

/// The items of a list.
struct Items<'t, 'p> {
    items: std::slice::Iter<'t, Node>,
    index: usize,
    way: &'p Way<'p>,
    session: &'p Session,
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
    session: &'p Session,
}

impl<'t> MapAccess<'t> for Entries<'t, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        while let Some((key, input)) = self.entries.get(self.next) {
            let is_left_out = matches!(input, Input::Node(node) if self.session.is_left_out(node));
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
