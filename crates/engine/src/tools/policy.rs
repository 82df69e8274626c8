//! Which calls must never be made twice, and which a person is asked about first.
//!
//! A pure function of what was declared and of what the server says about its tool. Never asked of a model.

use serde::{Deserialize, Serialize};

use crate::Pattern;

/// What was declared about the tools of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Those that must never be called twice with the same arguments. None: what the server says of its tools.
    pub irreversible: Option<Vec<Pattern>>,
    /// Those that a person is asked about before each call.
    pub approve: Vec<Pattern>,
}

/// What a server says of a tool; nothing where it says nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hints {
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may take away or overwrite, not only add.
    pub destructive: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
}

/// How the calls of a tool are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Treatment {
    /// They must never be made twice with the same arguments.
    pub irreversible: bool,
    /// A person is asked before each.
    pub needs_approval: bool,
}

impl Policy {
    /// How calls of `method` are treated.
    ///
    /// ```
    /// use adjourn_engine::Pattern;
    /// use adjourn_engine::tools::{Hints, Policy};
    ///
    /// let sends = || vec![Pattern::new("send_*")];
    /// let policy = Policy { irreversible: Some(sends()), approve: sends() };
    /// assert!(policy.treatment("send_mail", Hints::default()).needs_approval);
    /// assert!(!policy.treatment("list_mails", Hints::default()).irreversible);
    /// ```
    pub fn treatment(&self, method: &str, hints: Hints) -> Treatment {
        let one_of = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(method));
        Treatment {
            irreversible: self.irreversible.as_deref().map_or_else(|| hints.irreversible(), one_of),
            needs_approval: one_of(&self.approve),
        }
    }
}

impl Hints {
    /// Whether a second call is worse than one, with MCP's own defaults where the server says nothing: a tool is not
    /// read-only and not idempotent.
    ///
    /// `destructive` is not asked: it says how much a call can harm, not whether two harm more than one. A mail is sent by
    /// a tool that destroys nothing, and a file can be deleted twice.
    fn irreversible(self) -> bool {
        !self.read_only.unwrap_or(false) && !self.idempotent.unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::{Hints, Policy, Treatment};
    use crate::Pattern;

    const YES: Option<bool> = Some(true);
    const NO: Option<bool> = Some(false);

    #[test]
    fn without_a_declaration_the_servers_hints_decide_with_mcps_defaults() {
        for (read_only, destructive, idempotent, expected) in [
            (None, None, None, true),
            (NO, None, None, true),
            (YES, None, None, false),
            (YES, YES, NO, false),
            (None, None, YES, false),
            (None, None, NO, true),
            (NO, YES, YES, false),
            (NO, YES, NO, true),
            // A mail: nothing is destroyed, and it must not be sent twice.
            (NO, NO, NO, true),
            (NO, NO, None, true),
            (NO, NO, YES, false),
        ] {
            let hints = Hints { read_only, destructive, idempotent };
            let treatment = Policy::default().treatment("any", hints);
            assert_eq!(treatment, Treatment { irreversible: expected, needs_approval: false }, "{hints:?}");
        }
    }

    #[test]
    fn a_declaration_wins_over_what_the_server_says() {
        let patterns = |patterns: &[&str]| patterns.iter().map(|pattern| Pattern::new(*pattern)).collect();
        let harmless = Hints { read_only: YES, ..Hints::default() };
        let policy = |irreversible: &[&str], approve: &[&str]| Policy {
            irreversible: Some(patterns(irreversible)),
            approve: patterns(approve),
        };
        for (policy, method, hints, irreversible, needs_approval) in [
            (policy(&["send_*"], &[]), "send_mail", harmless, true, false),
            (policy(&["send_*"], &[]), "read_mail", Hints::default(), false, false),
            (policy(&[], &["*"]), "send_mail", Hints::default(), false, true),
            (policy(&["a", "b"], &["b", "c"]), "b", harmless, true, true),
            (policy(&["a", "b"], &["b", "c"]), "c", Hints::default(), false, true),
        ] {
            let treatment = policy.treatment(method, hints);
            assert_eq!(treatment, Treatment { irreversible, needs_approval }, "{policy:?} {method}");
        }
    }
}
