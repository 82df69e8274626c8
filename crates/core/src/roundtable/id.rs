//! What things at a roundtable are called: by their names where people chose them, by a kind and a number where we did.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::names::named;

/// Text that names nothing of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` names no {kind}: one looks like `{example}`")]
pub struct BadName {
    /// What was given.
    pub given: String,
    /// What it should name.
    pub kind: &'static str,
    /// One that would.
    pub example: &'static str,
}

macro_rules! name {
    ($(#[$meta:meta])* $Name:ident) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        pub struct $Name(String);

        impl $Name {
            /// The thing of this name.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name!(
    /// Who sits at the table: `architect`, `qa`, `facilitator`.
    Role
);
name!(
    /// Names a topic of the agenda.
    TopicId
);
name!(
    /// Names a criterion of a topic.
    CriterionId
);

impl Role {
    /// What the agent that leads the table is called. No participant is.
    pub const FACILITATOR: &'static str = "facilitator";

    /// What a person is called in the history of an artifact. Who it was stands beside it.
    pub const PERSON: &'static str = "user";

    /// A person, in the history of an artifact.
    pub fn person() -> Self {
        Self::new(Self::PERSON)
    }

    /// The agent that leads the table.
    pub fn facilitator() -> Self {
        Self::new(Self::FACILITATOR)
    }
}

named! {
    /// What an artifact is.
    pub enum ArtifactKind {
        /// Something that has to be possible.
        Requirement = "requirement",
        /// A rule of the trade that holds whatever is built.
        BusinessRule = "business_rule",
        /// How well something has to be done.
        Quality = "quality",
        /// Something that is left out on purpose.
        Exclusion = "exclusion",
        /// What was decided, and why.
        Decision = "decision",
        /// A part of what is to be built.
        Component = "component",
        /// Where two parts meet.
        Interface = "interface",
        /// Something that could be done.
        Idea = "idea",
        /// Something that could go wrong.
        Risk = "risk",
        /// What is done about a risk.
        Mitigation = "mitigation",
    }
}

impl ArtifactKind {
    /// What the ids of this kind begin with.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Requirement => "REQ",
            Self::BusinessRule => "BR",
            Self::Quality => "NFR",
            Self::Exclusion => "EX",
            Self::Decision => "DEC",
            Self::Component => "COMP",
            Self::Interface => "INT",
            Self::Idea => "IDEA",
            Self::Risk => "RISK",
            Self::Mitigation => "MIT",
        }
    }
}

/// Names an artifact: `REQ-001`. Counted from 1 for each kind, never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactId {
    /// What it names.
    pub kind: ArtifactKind,
    /// Its number among those of its kind.
    pub number: u32,
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&numbered(self.kind.prefix(), self.number))
    }
}

impl FromStr for ArtifactId {
    type Err = BadName;

    fn from_str(given: &str) -> Result<Self, BadName> {
        let found = ArtifactKind::ALL
            .iter()
            .find_map(|&kind| Some(Self { kind, number: number_after(kind.prefix(), given)? }));
        found.ok_or_else(|| BadName { given: given.to_owned(), kind: "artifact", example: "REQ-001" })
    }
}

macro_rules! numbered {
    ($(#[$meta:meta])* $Id:ident, $prefix:literal, $kind:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Id(pub u32);

        impl $Id {
            /// What such a name begins with.
            pub const PREFIX: &'static str = $prefix;
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&numbered($prefix, self.0))
            }
        }

        impl FromStr for $Id {
            type Err = BadName;

            fn from_str(given: &str) -> Result<Self, BadName> {
                let number = number_after($prefix, given);
                let example = concat!($prefix, "-001");
                number.map(Self).ok_or_else(|| BadName { given: given.to_owned(), kind: $kind, example })
            }
        }

        written_as_text!($Id);
    };
}

/// Ids are text on the wire and in the journal.
macro_rules! written_as_text {
    ($Id:ident) => {
        impl fmt::Debug for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $Id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $Id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let given = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                given.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

written_as_text!(ArtifactId);
numbered!(
    /// Names a conflict: `CONF-001`.
    ConflictId, "CONF", "conflict"
);
numbered!(
    /// Names a question that came up: `OQ-001`.
    OpenQuestionId, "OQ", "question"
);

fn numbered(prefix: &str, number: u32) -> String {
    format!("{prefix}-{number:03}")
}

/// Only the one way in which an id is written names it: `REQ-1` is nothing.
fn number_after(prefix: &str, given: &str) -> Option<u32> {
    let number = given.strip_prefix(prefix)?.strip_prefix('-')?.parse().ok()?;
    (number > 0 && numbered(prefix, number) == given).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{ArtifactId, ArtifactKind, ConflictId};

    #[test]
    fn an_artifact_is_named_by_its_kind_and_number() {
        for &kind in ArtifactKind::ALL {
            for number in [1, 42, 999, 1000] {
                let id = ArtifactId { kind, number };
                assert_eq!(id.to_string().parse(), Ok(id));
            }
        }
        assert_eq!(ArtifactId { kind: ArtifactKind::Requirement, number: 7 }.to_string(), "REQ-007");
        for bad in ["", "REQ", "REQ-", "REQ-1", "REQ-000", "REQ-0001", "REQ-+01", "XYZ-001", "req-001"] {
            let error = bad.parse::<ArtifactId>().unwrap_err().to_string();
            assert_eq!(error, format!("`{bad}` names no artifact: one looks like `REQ-001`"));
        }
        assert_eq!("CONF-012".parse(), Ok(ConflictId(12)));
    }
}
