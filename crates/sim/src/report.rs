//! What the simulator says: what is broken, what happened how often, and how to see it again.

use std::collections::BTreeMap;
use std::fmt;

use crate::memory::Unsynced;

/// Something that must never be so, and was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What should hold.
    pub rule: &'static str,
    /// What was found instead.
    pub found: String,
}

impl Violation {
    pub(crate) fn new(rule: &'static str, found: impl Into<String>) -> Self {
        Self { rule, found: found.into() }
    }
}

/// Fails with a violation of `rule` unless `holds`.
pub(crate) fn ensure(
    holds: bool,
    rule: &'static str,
    found: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if holds { Ok(()) } else { Err(Violation::new(rule, found())) }
}

/// Why a step did not come to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Everything stops here, and this becomes of what was written and not synced.
    Crash(Unsynced),
    /// Something is broken.
    Broken(Violation),
}

impl From<Violation> for Stop {
    fn from(violation: Violation) -> Self {
        Self::Broken(violation)
    }
}

/// A step of the simulator.
pub(crate) type Step = Result<(), Stop>;

/// How often what happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    pub(crate) fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    /// How often `what` happened.
    pub fn get(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }

    /// Adds what happened elsewhere.
    pub fn merge(&mut self, other: &Self) {
        for (what, count) in &other.0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, count) in &self.0 {
            writeln!(f, "{count:>12}  {what}")?;
        }
        Ok(())
    }
}

/// A seed that found something.
#[derive(Debug, Clone)]
pub struct Failure {
    /// How to see it again.
    pub replay: String,
    /// The step in which it was found.
    pub step: u64,
    /// What is broken.
    pub violation: Violation,
    /// The last steps.
    pub log: Vec<String>,
}

/// Steps that a failure shows: enough to see what led to it, and one screen.
const LOG_SHOWN: usize = 30;

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.log[self.log.len().saturating_sub(LOG_SHOWN)..] {
            writeln!(f, "{line}")?;
        }
        writeln!(f, "step {}: should hold: {}", self.step, self.violation.rule)?;
        writeln!(f, "  found: {}", self.violation.found)?;
        write!(f, "  again: {}", self.replay)
    }
}
