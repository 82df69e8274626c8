//! A schema as a graph of its subschemas, with what checking each of them costs.
//!
//! The graph follows references without expanding them, so its size is that of the schema. Two things are read off it:
//! how many subschemas one value is checked against ([`Graph::fan_out`]), and how many steps the check of one document
//! takes ([`Graph::steps`](super::cost)).

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use crate::FieldError;

/// Index of a node.
pub(super) type NodeId = usize;

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Subschemas that check the same value: `allOf`, `anyOf`, `$ref` and so on.
    pub(super) same_value: Vec<NodeId>,
    /// Subschemas of members by name.
    pub(super) properties: BTreeMap<String, NodeId>,
    /// Subschemas of members whose name matches a pattern. Each is taken to match every name.
    pub(super) patterns: Vec<NodeId>,
    /// Subschemas of members that have no subschema by name.
    pub(super) other_members: Vec<NodeId>,
    /// Subschemas of the names of members.
    pub(super) names: Option<NodeId>,
    /// Subschemas of the first items, by position.
    pub(super) first_items: Vec<NodeId>,
    /// Subschemas of the items after those.
    pub(super) other_items: Vec<NodeId>,
    /// Subschemas that all items are checked against: `contains`.
    pub(super) all_items: Vec<NodeId>,
    /// Steps that do not depend on the document: keywords, and values that are compared with.
    pub(super) steps: u64,
    /// Steps for each byte of a string: the length of its pattern.
    pub(super) steps_per_byte: u64,
    /// The whole value is gone through once more: `uniqueItems`, a reference to a metaschema.
    pub(super) goes_through_value: u64,
    /// `unevaluated…` asks everything that checks the same value a second time.
    pub(super) asks_twice: bool,
}

/// Where a reference leads.
enum Target<'a> {
    Node(&'a Value),
    /// A schema of JSON Schema itself, which the validator knows.
    Metaschema,
}

/// The subschemas of one schema.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// What is known while the graph is built.
struct Builder<'a> {
    root: &'a Value,
    /// Subschemas with an `$id`, by it.
    resources: HashMap<&'a str, &'a Value>,
    /// Subschemas with an `$anchor` or `$dynamicAnchor`, by it.
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    /// Nodes by the address of their subschema, and of the resource that its references are relative to.
    ids: HashMap<(*const Value, *const Value), NodeId>,
    nodes: Vec<Node>,
    todo: Vec<(&'a Value, &'a Value, NodeId)>,
}

impl Graph {
    /// The graph of `schema`, or what is wrong with one of its references.
    pub(super) fn of(schema: &Value) -> Result<Self, FieldError> {
        let mut builder = Builder {
            root: schema,
            resources: HashMap::new(),
            anchors: HashMap::new(),
            ids: HashMap::new(),
            nodes: Vec::new(),
            todo: Vec::new(),
        };
        builder.find_names();
        builder.node(schema, schema);
        while let Some((value, base, id)) = builder.todo.pop() {
            let node = builder.read(value, base)?;
            builder.nodes[id] = node;
        }
        Ok(Self { nodes: builder.nodes })
    }

    /// The most subschemas that one value is checked against by one of them, references followed.
    pub(super) fn fan_out(&self) -> FanOut {
        let mut known: Vec<Visit> = vec![Visit::New; self.nodes.len()];
        let mut most = 0;
        for id in 0..self.nodes.len() {
            match self.count(id, &mut known) {
                Some(count) => most = most.max(count),
                None => return FanOut::Endless,
            }
        }
        FanOut::Checks(most)
    }

    /// Counts the subschemas behind one, each as often as it is reached. None where one is reached from itself.
    fn count(&self, first: NodeId, known: &mut [Visit]) -> Option<u64> {
        let mut stack = vec![(first, 0)];
        while let Some((id, next)) = stack.pop() {
            if next == 0 {
                match known[id] {
                    Visit::Done(_) => continue,
                    Visit::Open => return None,
                    Visit::New => known[id] = Visit::Open,
                }
            }
            let below = &self.nodes[id].same_value;
            if let Some(&child) = below.get(next) {
                stack.push((id, next + 1));
                match known[child] {
                    Visit::Done(_) => {}
                    Visit::Open => return None,
                    Visit::New => stack.push((child, 0)),
                }
                continue;
            }
            let sum = below.iter().fold(1_u64, |sum, child| sum.saturating_add(known[*child].count()));
            let twice = if self.nodes[id].asks_twice { sum.saturating_mul(2) } else { sum };
            known[id] = Visit::Done(twice);
        }
        Some(known[first].count())
    }
}

/// How many subschemas check one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FanOut {
    Checks(u64),
    /// A subschema refers to itself for the same value.
    Endless,
}

#[derive(Debug, Clone, Copy)]
enum Visit {
    New,
    Open,
    Done(u64),
}

impl Visit {
    const fn count(self) -> u64 {
        match self {
            Self::Done(count) => count,
            Self::New | Self::Open => 0,
        }
    }
}

impl<'a> Builder<'a> {
    /// Finds what references can name besides a path.
    fn find_names(&mut self) {
        let mut rest = vec![self.root];
        while let Some(value) = rest.pop() {
            match value {
                Value::Object(members) => {
                    for key in ["$id", "id"] {
                        if let Some(Value::String(id)) = members.get(key) {
                            self.resources.entry(id.trim_end_matches('#')).or_insert(value);
                        }
                    }
                    for key in ["$anchor", "$dynamicAnchor"] {
                        if let Some(Value::String(anchor)) = members.get(key) {
                            self.anchors.entry(anchor).or_default().push(value);
                        }
                    }
                    rest.extend(members.values());
                }
                Value::Array(items) => rest.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }

    /// The node of a subschema, whose references are relative to `base`.
    fn node(&mut self, value: &'a Value, base: &'a Value) -> NodeId {
        let base = match value {
            Value::Object(members) if members.get("$id").is_some_and(Value::is_string) => value,
            _ => base,
        };
        let key = (std::ptr::from_ref(value), std::ptr::from_ref(base));
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(Node::default());
        self.ids.insert(key, id);
        self.todo.push((value, base, id));
        id
    }

    fn read(&mut self, value: &'a Value, base: &'a Value) -> Result<Node, FieldError> {
        let mut node = Node { steps: 1, ..Node::default() };
        let Value::Object(members) = value else { return Ok(node) };
        node.steps += members.len() as u64;
        for (keyword, value) in members {
            self.keyword(&mut node, keyword, value, base)?;
        }
        Ok(node)
    }

    fn keyword(
        &mut self,
        node: &mut Node,
        keyword: &str,
        value: &'a Value,
        base: &'a Value,
    ) -> Result<(), FieldError> {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                if let Value::String(reference) = value {
                    for target in self.targets(keyword, reference, base)? {
                        match target {
                            Target::Node(target) => {
                                let base = self.base_of(reference, target, base);
                                let id = self.node(target, base);
                                node.same_value.push(id);
                            }
                            Target::Metaschema => node.goes_through_value += METASCHEMA_STEPS,
                        }
                    }
                }
            }
            "allOf" | "anyOf" | "oneOf" => node.same_value.extend(self.list(value, base)),
            "not" | "if" | "then" | "else" => node.same_value.push(self.node(value, base)),
            "dependentSchemas" | "dependencies" => {
                let schemas = value.as_object().into_iter().flat_map(Map::values);
                for schema in schemas.filter(|schema| !schema.is_array()) {
                    node.same_value.push(self.node(schema, base));
                }
            }
            "properties" => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    node.properties.insert(name.clone(), self.node(schema, base));
                }
            }
            "patternProperties" => {
                for (pattern, schema) in value.as_object().into_iter().flatten() {
                    node.steps_per_byte += pattern_steps(pattern);
                    node.patterns.push(self.node(schema, base));
                }
            }
            "additionalProperties" => node.other_members.push(self.node(value, base)),
            "unevaluatedProperties" => {
                node.asks_twice = true;
                node.other_members.push(self.node(value, base));
            }
            "propertyNames" => node.names = Some(self.node(value, base)),
            "prefixItems" => node.first_items.extend(self.list(value, base)),
            "items" => match value {
                Value::Array(_) => node.first_items.extend(self.list(value, base)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    node.other_items.push(self.node(value, base));
                }
            },
            "additionalItems" => node.other_items.push(self.node(value, base)),
            "unevaluatedItems" => {
                node.asks_twice = true;
                node.other_items.push(self.node(value, base));
            }
            "contains" => node.all_items.push(self.node(value, base)),
            "enum" | "const" => node.steps += crate::JsonSize::of(value).values as u64,
            "required" => node.steps += value.as_array().map_or(0, Vec::len) as u64,
            "dependentRequired" => node.steps += crate::JsonSize::of(value).values as u64,
            "uniqueItems" => node.goes_through_value += UNIQUE_STEPS,
            "pattern" => {
                node.steps_per_byte += value.as_str().map_or(0, pattern_steps);
            }
            "format" => node.steps_per_byte += FORMAT_STEPS,
            // Annotations, bounds of numbers and lengths, and names that only references reach.
            _ => {}
        }
        Ok(())
    }

    fn list(&mut self, value: &'a Value, base: &'a Value) -> Vec<NodeId> {
        value.as_array().into_iter().flatten().map(|schema| self.node(schema, base)).collect()
    }

    /// The resource that references in `target` are relative to.
    fn base_of(&self, reference: &str, target: &'a Value, base: &'a Value) -> &'a Value {
        let uri = reference.split('#').next().unwrap_or_default();
        match self.resources.get(uri) {
            Some(resource) => resource,
            None if uri.is_empty() => base,
            None => target,
        }
    }

    /// The subschemas that a reference may lead to: one, or for a dynamic one each that has its name.
    fn targets(
        &self,
        keyword: &str,
        reference: &'a str,
        base: &'a Value,
    ) -> Result<Vec<Target<'a>>, FieldError> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if uri.contains("json-schema.org/") && !self.resources.contains_key(uri) {
            return Ok(vec![Target::Metaschema]);
        }
        let resource = if uri.is_empty() {
            base
        } else {
            match self.resources.get(uri) {
                Some(resource) => resource,
                None => return Err(unresolved(reference)),
            }
        };
        if keyword == "$recursiveRef" && fragment.is_empty() {
            return Ok(vec![Target::Node(resource), Target::Node(self.root)]);
        }
        if fragment.is_empty() {
            return Ok(vec![Target::Node(resource)]);
        }
        if fragment.starts_with('/') {
            let pointer = percent_decoded(fragment);
            let found = resource.pointer(&pointer).ok_or_else(|| unresolved(reference))?;
            return Ok(vec![Target::Node(found)]);
        }
        let named = self.anchors.get(fragment).ok_or_else(|| unresolved(reference))?;
        Ok(named.iter().map(|value| Target::Node(value)).collect())
    }
}

/// Steps for each value of a document that is checked against a schema of JSON Schema itself.
const METASCHEMA_STEPS: u64 = 32;

/// Steps for each value below an array whose items must differ: hashing, and comparing what collides.
const UNIQUE_STEPS: u64 = 4;

/// Steps for each byte of a string with a format: the checks are linear.
const FORMAT_STEPS: u64 = 1;

/// Steps for each byte of a string that is matched against `pattern`. The engine is linear in both.
fn pattern_steps(pattern: &str) -> u64 {
    // A counted repetition makes the pattern longer than it looks.
    let repeats = if pattern.contains('{') { 32 } else { 0 };
    1 + pattern.len() as u64 / 16 + repeats
}

fn unresolved(reference: &str) -> FieldError {
    let reference = crate::excerpt::head(reference, 200);
    FieldError::new("", format!("the reference `{reference}` leads nowhere within the schema"))
}

/// A fragment with its percent-encoded bytes as they are meant.
fn percent_decoded(fragment: &str) -> String {
    let bytes = fragment.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match (bytes[at], hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (byte, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
