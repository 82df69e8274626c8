//! The steps that checking one document takes, counted before the check.
//!
//! The validator has no limit of its own. A schema that refers to itself twice for each member is small and harmless
//! until it meets a deep document. So the same walk is made here first, only counting: every subschema at every value
//! that it is applied to, however often it comes by. A walk that runs out of steps is refused, and the validator, which
//! makes the same walk, is not asked. Where a schema branches, all branches are counted.

use serde_json::Value;

use super::graph::{Graph, NodeId};
use crate::JsonSize;

/// Levels of subschemas within subschemas during one check. The validator calls itself for each, and a thread has 2 MiB of
/// stack.
const NESTED_CHECKS_MAX: usize = 512;

/// A check that would take too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooCostly;

struct Walk<'g> {
    graph: &'g Graph,
    left: u64,
}

impl Graph {
    /// The steps that checking `document` takes, if they are at most `steps_max`.
    pub(super) fn steps(&self, document: &Value, steps_max: u64) -> Result<u64, TooCostly> {
        let mut walk = Walk { graph: self, left: steps_max };
        walk.check(0, document, 0)?;
        Ok(steps_max - walk.left)
    }
}

impl Walk<'_> {
    fn take(&mut self, steps: u64) -> Result<(), TooCostly> {
        self.left = self.left.checked_sub(steps).ok_or(TooCostly)?;
        Ok(())
    }

    fn check(&mut self, id: NodeId, value: &Value, depth: usize) -> Result<(), TooCostly> {
        if depth > NESTED_CHECKS_MAX {
            return Err(TooCostly);
        }
        let node = &self.graph.nodes[id];
        self.take(node.steps)?;
        if node.goes_through_value > 0 {
            self.take(node.goes_through_value.saturating_mul(JsonSize::of(value).values as u64))?;
        }
        let times = if node.asks_twice { 2 } else { 1 };
        for _ in 0..times {
            for &same in &node.same_value {
                self.check(same, value, depth + 1)?;
            }
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.take(1 + node.steps_per_byte.saturating_mul(name.len() as u64))?;
                    if let Some(names) = node.names {
                        self.check(names, &Value::String(name.clone()), depth + 1)?;
                    }
                    let own = node.properties.get(name);
                    let other = if own.is_some() { [].as_slice() } else { node.other_members.as_slice() };
                    for &id in own.into_iter().chain(&node.patterns).chain(other) {
                        self.check(id, member, depth + 1)?;
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.take(1)?;
                    let first = node.first_items.get(index);
                    let other = if first.is_some() { [].as_slice() } else { node.other_items.as_slice() };
                    for &id in first.into_iter().chain(&node.all_items).chain(other) {
                        self.check(id, item, depth + 1)?;
                    }
                }
            }
            Value::String(text) => self.take(node.steps_per_byte.saturating_mul(text.len() as u64))?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }
}
